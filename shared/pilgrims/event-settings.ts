/**
 * The description of the event, as each process follows it. Each change adds a row with a higher version, so that a
 * process reads only rows newer than its own, even after an outage. A part that was never set has the value of the
 * environment, or its default.
 */
import { asc, gt } from 'drizzle-orm'
import { BuiltInLanguage, type Language } from '#shared/contracts/bot.ts'
import {
  EVENT_PARTS,
  type EventNames,
  type EventPart,
  type EventParts,
  type Followed,
  type LevelNames,
  type NoticePart,
  type MessagesPart,
  type SurveyPart,
} from '#shared/contracts/event-settings.ts'
import { withEvent } from '#shared/core/rules/event-template.ts'
import { languageFor, nameIn } from '#shared/core/rules/languages.ts'
import { levelNames } from '#shared/core/rules/levels.ts'
import type { Route, Station } from '#shared/core/map/walking-route.ts'
import { serviceWords, type ServiceWords } from '#shared/locales/by-language.ts'
import type { BotWords } from '#shared/locales/words.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import type { InArea } from '#shared/runtime/config/setting-values.ts'
import type { Log } from '#shared/runtime/log.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { followed } from '#shared/stores/repeated-work.ts'
import { eventSettings } from '#shared/stores/schema/tables.ts'
import { areaAround, type PlaceAlong, placesOn, routeOfPart, stationsOfPart } from './event-route.ts'

export type StoredPart = typeof eventSettings.$inferSelect

/** The event as the service shows it. */
export interface Event {
  /** Version of the settings; 0: nothing was set. */
  readonly version: number
  /** A rehearsal: every name shown to people says so. */
  readonly isRehearsal: boolean
  /** Points from before this time belong to a cleared rehearsal, epoch milliseconds; null: none was cleared. */
  readonly clearedMs: number | null
  /** As set by the owner. */
  readonly ownNames: EventNames
  readonly names: EventNames
  readonly name: string
  readonly nameFor: (language: Language) => string
  readonly language: Language
  readonly languages: readonly Language[]
  /** Texts of each offered language that is not built in. */
  readonly translations: EventParts['languages']['translations']
  /** The default words of the services in an offered language. */
  readonly wordsFor: (language: Language) => ServiceWords
  /** The language for a reader with these BCP 47 tags (`languageFor`). */
  readonly languageOf: (tags: readonly (string | null)[]) => Language
  /** Epoch milliseconds; null: not known. */
  readonly startsMs: number | null
  readonly endsMs: number | null
  readonly emergencyNumber: string | null
  readonly organiserPhone: string | null
  readonly followed: Followed
  /** As set by the owner; null: not set. */
  readonly ownLevelNames: LevelNames | null
  /** Names of the levels, level 1 first. */
  readonly levelNames: (language: Language) => readonly string[]
  /** The bot's words, with the event's own in place of the defaults. */
  readonly botWords: (language: Language) => BotWords
  readonly notice: NoticePart
  readonly survey: SurveyPart
  /** The settings version that last changed each part; absent: never. */
  readonly versions: PartVersions
  readonly route: Route | null
  /** In walking order. */
  readonly stations: readonly Station[]
  readonly places: readonly PlaceAlong[]
  readonly area: InArea
  /** The owner has set the area: `rebuild` applies it to stored points. */
  readonly hasOwnArea: boolean
}

type FromEnvironment = Pick<Config, 'event'>

type PartVersions = Readonly<Partial<Record<string, number>>>

export function eventOf(
  config: FromEnvironment,
  parts: EventParts,
  version: number,
  versions: PartVersions,
): Event {
  const { name, contact, languages: of, words, notice, survey, messages, rehearsal } = parts
  const { names: ownNames, starts_at, ends_at } = name
  const { language, languages, translations } = of
  const wordsFor = serviceWords(translations)
  const names = rehearsal.on ? rehearsalNames(ownNames, of, wordsFor) : ownNames
  const namesOfLevels = (reader: Language) =>
    levelNames(words.level_names, wordsFor(reader).levels, reader, language)
  return {
    version,
    isRehearsal: rehearsal.on,
    clearedMs: rehearsal.cleared_at === null ? null : Date.parse(rehearsal.cleared_at),
    ownNames,
    names,
    name: nameIn(names, language, language),
    nameFor: (reader) => nameIn(names, reader, language),
    language,
    languages,
    translations,
    wordsFor,
    languageOf: (tags) => languageFor(tags, language, languages),
    startsMs: starts_at === null ? null : Date.parse(starts_at),
    endsMs: ends_at === null ? null : Date.parse(ends_at),
    emergencyNumber: contact.emergency_number,
    organiserPhone: contact.organiser_phone,
    followed: words.followed,
    ownLevelNames: words.level_names.some((names) => Object.keys(names).length > 0)
      ? words.level_names
      : null,
    levelNames: namesOfLevels,
    botWords: (reader) => ({
      ...wordsFor(reader).bot,
      ...ownMessages(messages, reader),
      levels: namesOfLevels(reader),
      followed: wordsFor(reader).page.followed[words.followed],
    }),
    notice,
    survey,
    versions,
    ...wayOf(config, parts.route, language),
  }
}

/** Every reader gets the word in their own language, even if the event has no name in it. */
const rehearsalNames = (
  names: EventNames,
  { language, languages }: EventParts['languages'],
  wordsFor: Event['wordsFor'],
): EventNames =>
  Object.fromEntries(
    [...BuiltInLanguage.options, ...languages].map((reader) => [
      reader,
      wordsFor(reader).bot.rehearsal(nameIn(names, reader, language)),
    ]),
  )

/** The owner's messages for a reader. A language without one, and without one in the other Chinese, has its default. */
const ownMessages = (messages: MessagesPart, reader: Language) =>
  Object.fromEntries(
    Object.entries(messages).flatMap(([name, texts]) => {
      const text =
        texts[reader] ?? (reader.startsWith('zh') ? (texts['zh-Hant'] ?? texts['zh-Hans']) : undefined)
      return text === undefined ? [] : [[name, (event: string) => withEvent(text, event)] as const]
    }),
  )

/** A part that was never set comes from the files of the environment, which are more precise. */
function wayOf(
  { event }: FromEnvironment,
  part: EventParts['route'],
  language: Language,
): Pick<Event, 'route' | 'stations' | 'places' | 'area' | 'hasOwnArea'> {
  const { area } = event
  if (part === event.parts.route) {
    const { route, stations, places } = event
    return { route, stations, places, area, hasOwnArea: false }
  }
  const route = routeOfPart(part)
  const hasOwnArea = route !== null && part.margin_km !== null
  return {
    route,
    stations: stationsOfPart(part, language),
    places: placesOn(route, part, language),
    area: hasOwnArea ? areaAround(route, part.margin_km!) : area,
    hasOwnArea,
  }
}

/** The event of the environment, before the owner has set anything. */
export const firstEvent = (config: FromEnvironment): Event => eventOf(config, config.event.parts, 0, {})

/** Every version of every part, oldest first. @param after returns only later versions */
export const readVersions = (tx: Tx, after = 0): Promise<StoredPart[]> =>
  tx.orm
    .select()
    .from(eventSettings)
    .where(gt(eventSettings.version, after))
    .orderBy(asc(eventSettings.version))

/**
 * When a rehearsal was cleared last, epoch milliseconds; null: never. A time in the future of Postgres comes from a wrong
 * clock and is ignored.
 */
export async function readClearedMs(tx: Tx): Promise<number | null> {
  const [row] = await tx.sql<{ ms: number }[]>`
    SELECT epoch_ms(at) AS ms FROM (
      SELECT (value->>'cleared_at')::timestamptz AS at FROM event_settings
      WHERE part = 'rehearsal' ORDER BY version DESC LIMIT 1
    ) AS last WHERE at <= clock_timestamp()`
  return row?.ms ?? null
}

/** Serializes changes; readers do not wait. */
export const lockSettings = (tx: Tx): Promise<unknown> => tx.sql`LOCK TABLE event_settings IN EXCLUSIVE MODE`

/** The parts after applying rows, oldest first. A part known only to another release is skipped. */
export function partsAfter(parts: EventParts, rows: readonly StoredPart[]): EventParts {
  const values = rows.flatMap(({ part, value }) => {
    const parsed = part in EVENT_PARTS ? EVENT_PARTS[part as EventPart].safeParse(value).data : undefined
    return parsed === undefined ? [] : [[part, parsed] as const]
  })
  return { ...parts, ...(Object.fromEntries(values) as Partial<EventParts>) }
}

/** The version of each part after applying rows, oldest first. */
const versionsAfter = (versions: PartVersions, rows: readonly StoredPart[]): PartVersions => ({
  ...versions,
  ...Object.fromEntries(rows.map(({ part, version }) => [part, version])),
})

/** The event as stored now, for commands, which may meet the database of an older release. */
export async function readEvent(db: Database, config: Config): Promise<Event> {
  const [table] = await db.sql`SELECT to_regclass('event_settings') IS NOT NULL AS known`
  const rows = table!.known === true ? await db.read(() => readVersions(db)) : []
  return eventOf(
    config,
    partsAfter(config.event.parts, rows),
    rows.at(-1)?.version ?? 0,
    versionsAfter({}, rows),
  )
}

export interface FollowedEvent {
  readonly current: Event
  /** Reads changes. Rejects without the database. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** Follows the settings. Until the database has been read, they come from the environment. */
export async function followEvent(db: Database, config: Config, log: Log): Promise<FollowedEvent> {
  let parts = config.event.parts
  let current = firstEvent(config)
  const refresh = async (): Promise<void> => {
    const known = current.version
    const rows = await db.read(() => readVersions(db, known))
    // Another read may have applied these rows meanwhile.
    const version = rows.at(-1)?.version ?? 0
    if (version <= current.version) return
    parts = partsAfter(parts, rows)
    current = eventOf(config, parts, version, versionsAfter(current.versions, rows))
  }
  const { stop } = await followed(log, 'the settings of the event could not be read', refresh)
  return {
    get current() {
      return current
    },
    refresh,
    stop,
  }
}

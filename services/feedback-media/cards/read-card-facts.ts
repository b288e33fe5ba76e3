/** Reads the facts of a pilgrim's card. */
import type { Event } from '#shared/pilgrims/event-settings.ts'
import { routeVersion } from '#shared/pilgrims/event-route.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Pilgrim, readPilgrims } from '#shared/points/totals/pilgrim-statistics.ts'
import { type Exposure, publicFigures, readExposure } from '#shared/pilgrims/profile.ts'
import { isBuiltIn } from '#shared/locales/by-language.ts'
import { type CardFacts, pilgrimWord } from './card-facts.ts'
import { countPastPoints } from './passed-stretch.ts'

/** Version of the design; a new one makes every stored card outdated. */
const DESIGN = 7

export interface Portrait {
  readonly facts: CardFacts
  readonly storedPoints: number
  readonly pending: number | null
  readonly fingerprint: string
  /** The pilgrim has no counted point. Newcomers of one language share a picture, which shows no name. */
  readonly isNewcomer: boolean
}

/**
 * @param named whether the picture shows the pilgrim's name
 * @returns null for an unknown pilgrim
 */
export async function readPortrait(
  context: ServiceContext,
  userId: string,
  named: boolean,
): Promise<Portrait | null> {
  const known = (await readPilgrims(context, [userId])).get(userId)
  if (known === undefined) return null
  const { statistics, storedPoints, pending } = known
  const isNewcomer = (statistics?.points ?? 0) === 0
  const { current } = context.event
  const exposure = (await readExposure(context))(userId)
  const whole = factsOf(context, isNewcomer ? NOBODY : known, known.row?.language ?? null, exposure)
  const facts = named ? whole : { ...whole, displayName: null }
  const pastPoints = isNewcomer || current.route === null ? 0 : await countPastPoints(context, userId)
  const all = JSON.stringify([DESIGN, facts, pastPoints, routeVersion(current)])
  const fingerprint = new Bun.CryptoHasher('sha256').update(all).digest('hex')
  return { facts, storedPoints, pending, fingerprint, isNewcomer }
}

const NOBODY = { row: null, statistics: null }

/** `2026.4.12–4.20` in the zone of the event; null without a start. */
function daysOf({ startsMs, endsMs }: Event, timeZone: string): string | null {
  if (startsMs === null) return null
  const [year, ...first] = dayOf(startsMs, timeZone)
  const last = endsMs === null ? null : dayOf(endsMs - 1, timeZone).slice(1)
  const from = [year, ...first].join('.')
  return last === null || last.join() === first.join() ? from : `${from}–${last.join('.')}`
}

const dayOf = (ms: number, timeZone: string): string[] =>
  new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
    .format(ms)
    .split('-')
    .map((part) => String(Number(part)))

function factsOf(
  { config, event: { current: event } }: ServiceContext,
  { row, statistics }: Pick<Pilgrim, 'row' | 'statistics'>,
  languageTag: string | null,
  exposure: Exposure,
): CardFacts {
  const { savedKg: carbonSavedKg, unlocked, ...figures } = publicFigures({ row, statistics }, exposure)
  const language = event.languageOf([languageTag])
  const { card } = event.wordsFor(language).share
  return {
    eventName: event.nameFor(language),
    eventDays: daysOf(event, config.timeZone),
    displayName: row?.displayName ?? null,
    language,
    pilgrimWord: pilgrimWord(languageTag ?? event.language),
    ...figures,
    levelName: event.levelNames(language)[figures.level.level - 1]!,
    carbonSavedKg,
    unlocked,
    ...(isBuiltIn(language) ? {} : { words: { ...card, level: card.level(figures.level.level) } }),
  }
}

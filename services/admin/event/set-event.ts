/** The owner's settings of the event: read, changed part by part, and initially taken from the environment. */
import { isDeepStrictEqual } from 'node:util'
import {
  EVENT_PARTS,
  type EventPart,
  type EventParts,
  type EventSettings,
  type RoutePart,
} from '#shared/contracts/event-settings.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import { lockSettings, partsAfter, readVersions, type StoredPart } from '#shared/pilgrims/event-settings.ts'
import { routeOfPart } from '#shared/pilgrims/event-route.ts'
import { isBuiltIn } from '#shared/locales/by-language.ts'
import { conflict, invalid } from '#shared/runtime/refusal.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { eventSettings } from '#shared/stores/schema/tables.ts'

const PARTS = Object.keys(EVENT_PARTS) as EventPart[]

export async function readSettings({ config, db }: ServiceContext): Promise<EventSettings> {
  const rows = await db.read(() => readVersions(db))
  const values = partsAfter(config.event.parts, rows)
  const parts = PARTS.map((part) => {
    const row = rows.findLast((stored) => stored.part === part)
    return [
      part,
      {
        value: values[part],
        version: row?.version ?? 0,
        changed_at: timeOrNull(row?.changedAt),
        changed_by: row?.changedBy ?? null,
      },
    ] as const
  })
  return { version: rows.at(-1)?.version ?? 0, ...Object.fromEntries(parts) } as EventSettings
}

/**
 * Sets a part. An unchanged value changes nothing, so a call may be repeated.
 * @param version settings version on which the change is based
 * @throws Refusal 409 when another operator has changed the part since that version, naming the fields
 */
export const setPart = <P extends EventPart>(
  context: ServiceContext,
  operator: Acting,
  part: P,
  { version, ...given }: Given<P> & { readonly version: number },
): Promise<EventSettings> =>
  changePart(context, operator, part, { version, changed: (before) => ({ ...before, ...given }) })

interface PartChange<P extends EventPart> {
  readonly version: number
  readonly changed: (before: EventParts[P]) => EventParts[P]
}

export async function changePart<P extends EventPart>(
  context: ServiceContext,
  operator: Acting,
  part: P,
  { version, changed }: PartChange<P>,
): Promise<EventSettings> {
  const { config, db, event, now } = context
  await db.transaction(async (tx) => {
    await lockSettings(tx)
    const rows = await readVersions(tx)
    const valueAt = (last: number) =>
      partsAfter(
        config.event.parts,
        rows.filter((row) => row.version <= last),
      )[part]
    const before = valueAt(Infinity)
    const value = changed(before)
    checkPart(value)
    const isSet = rows.some((row) => row.part === part)
    if (isSet && isDeepStrictEqual(before, value)) return
    const later = rows.findLast((row) => row.part === part && row.version > version)
    if (later !== undefined) throw stale(later, fieldsOf(valueAt(version), before))
    await addVersion(tx, rows, { part, value, changedAt: new Date(now()), changedBy: operator.name })
    const changes = fieldsOf(before, value).map((field) => [
      field,
      { from: brief(before[field]), to: brief(value[field]) },
    ])
    await audit(tx, operator, 'set-event', { part, changes: Object.fromEntries(changes) }, now())
  })
  await event.refresh()
  return readSettings(context)
}

/** A part from a client: an earlier release omits newer fields, which then stay unchanged. */
type Given<P extends EventPart> = P extends 'route'
  ? Omit<RoutePart, 'places'> & { readonly places?: RoutePart['places'] | undefined }
  : P extends 'languages'
    ? Omit<EventParts['languages'], 'translations'>
    : EventParts[P]

/** @throws Refusal 400 for faults that no single field reveals */
function checkPart(value: EventParts[EventPart]): void {
  if ('starts_at' in value && value.starts_at !== null && value.ends_at !== null)
    if (Date.parse(value.ends_at) <= Date.parse(value.starts_at))
      throw invalid('ends_at: must be after starts_at')
  if ('languages' in value) checkLanguages(value)
  if ('lines' in value) checkRoute(value)
}

/** @throws Refusal 400 without the event's own language, or for a language without words */
function checkLanguages({ language, languages, translations }: EventParts['languages']): void {
  if (!languages.includes(language)) throw invalid('languages: must have the event’s own language')
  const unknown = languages.find((one) => !isBuiltIn(one) && !Object.hasOwn(translations, one))
  if (unknown !== undefined)
    throw invalid(`languages: there are no words in ${unknown}. Upload a translation first`)
}

/** Starts or ends a rehearsal. @throws as `setPart` */
export async function setRehearsal(
  context: ServiceContext,
  operator: Acting,
  change: { readonly on: boolean; readonly version: number },
): Promise<EventSettings> {
  const { cleared_at } = (await readSettings(context)).rehearsal.value
  return setPart(context, operator, 'rehearsal', { ...change, cleared_at })
}

/** Records that the data of a rehearsal were cleared, so that phones do not send its points again. */
export async function noteCleared(
  tx: Tx,
  { config }: Pick<ServiceContext, 'config'>,
  nowMs: number,
): Promise<void> {
  await lockSettings(tx)
  // Not a future time: it would be ignored until it is reached, and then drop points acknowledged before.
  const [postgres] = await tx.sql<[{ ms: number }]>`SELECT epoch_ms(clock_timestamp()) AS ms`
  const clearedMs = Math.min(nowMs, Math.floor(postgres.ms))
  const rows = await readVersions(tx)
  const { rehearsal } = partsAfter(config.event.parts, rows)
  const value = { ...rehearsal, cleared_at: time(clearedMs) }
  await addVersion(tx, rows, { part: 'rehearsal', value, changedAt: new Date(nowMs), changedBy: null })
}

/** @throws Refusal 400 for stations without a line, and for lines without length */
function checkRoute(value: RoutePart): void {
  if (value.lines.length === 0 && value.stations.length + value.places.length > 0)
    throw invalid('lines: stations and places need a route to be on')
  try {
    routeOfPart(value)
  } catch (error) {
    throw error instanceof RangeError ? invalid(`lines: ${error.message}`) : error
  }
}

const LONGEST_AUDITED = 4_000

/** A value for the audit log. Long values are stored only in the settings. */
function brief(value: unknown): unknown {
  const { length } = JSON.stringify(value)
  if (length <= LONGEST_AUDITED) return value
  return Array.isArray(value) ? `${value.length} entries` : `${length} characters`
}

/** The fields that differ. */
const fieldsOf = <T extends object>(before: T, after: T): (keyof T)[] =>
  (Object.keys(after) as (keyof T)[]).filter((field) => !isDeepStrictEqual(before[field], after[field]))

const stale = ({ changedAt, changedBy }: StoredPart, fields: readonly PropertyKey[]) =>
  conflict(
    `Changed meanwhile by ${changedBy ?? 'the environment'} at ${changedAt.toISOString()}: ${fields.join(', ')}. Nothing of yours is stored.`,
  )

async function addVersion(
  tx: Tx,
  rows: readonly StoredPart[],
  row: Omit<StoredPart, 'version'>,
): Promise<void> {
  await tx.orm.insert(eventSettings).values({ version: (rows.at(-1)?.version ?? 0) + 1, ...row })
}

const RETRY_MS = 15_000

/**
 * Stores the event's name from the environment as the first version, once. Later changes of the variable have no
 * effect, and each start warns about that.
 */
export function createFirstSettings(context: ServiceContext): Repeated {
  const { config, db, event, log, now } = context
  const { isNamed, hasName, parts } = config.event
  let isDone = !isNamed
  return repeated(log, 'the event of the environment could not be stored', RETRY_MS, async () => {
    if (isDone) return
    await db.transaction(async (tx) => {
      await lockSettings(tx)
      const rows = await readVersions(tx)
      if (rows.some(({ part }) => part === 'name')) return
      const changedAt = new Date(now())
      await addVersion(tx, rows, { part: 'name', value: parts.name, changedAt, changedBy: null })
    })
    isDone = true
    await event.refresh()
    if (!hasName) return
    log.warn(
      'EVENT_NAME was read once and now has no effect: the owner changes it in the console, in the view Event. Remove it from the environment',
    )
  })
}

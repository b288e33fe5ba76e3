/**
 * Inferences of an attacker who knows all user ids, from public responses: joins on any field, on order, and
 * on the times of changes. Claims are scored against the operators' view.
 */
import type { LivePosition } from '#shared/contracts/tracking.ts'

export type Scalar = string | number | boolean | null
/** All fields of an item in a response, by path. */
export type Told = Readonly<Record<string, Scalar>>

/** One round of requests. */
export interface Poll {
  readonly people: ReadonlyMap<string, Told>
  readonly points: readonly LivePosition[]
}

/** A claim that two ids are the same person: an id of the map and a user, or an id and one of the next hour. */
export type Claim = readonly [one: string, other: string]

/** All fields of a response, at any depth. */
export function told(value: unknown, path = ''): Record<string, Scalar> {
  if (typeof value !== 'object' || value === null) return { [path]: value as Scalar }
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, one]) => told(one, `${path}.${key}`)),
  ) as Record<string, Scalar>
}

/** The public endpoints that the attacker of `found-on-map.long.test.ts` reads in every round. */
export const ASKED = [
  '/api/event/user/:userId',
  '/api/event/photos/count',
  '/api/event/data',
  '/api/event/map',
  '/api/event/feedback',
  '/api/event/feedback/status',
  '/health',
]
/**
 * Public endpoints that the attacker skips because they reveal nothing more: the documentation, cards, which
 * show a profile's figures, and screenshots, whose names cannot be guessed.
 */
export const LEFT_OUT = [
  '/api/event/og/:file',
  // Links have ids that cannot be guessed, and only their pilgrims list them.
  '/s/:file',
  '/api/event/shares',
  '/api/event/feedback-image/:file',
  '/api/event/openapi.json',
  '/api',
  '/api/event',
  '/api/event/docs',
  '/api/event/docs/rapidoc.js',
  // When a tracker app was set up, and no position.
  '/api/event/trackers',
  // When a device was registered, and no position.
  '/api/event/push-subscriptions',
  // Only with a key known to the pilgrim alone.
  '/api/event/ingest/:key/owntracks',
  '/api/event/ingest/:key/overland',
  '/api/event/ingest/:key/traccar',
  '/api/event/ingest/:key/osmand',
  '/api/event/ingest/:key/gpslogger',
  '/api/event/ingest/:key/gpslogger.properties',
  // The organisers' file.
  '/api/event/route',
  '/api/event/config',
  '/api/event/notice',
  '/api/event/survey-form',
  '/api/event/words/:language',
]

const MINUTE_MS = 60_000
/** The value, with times reduced to the minute. */
const readings = (value: Scalar): Scalar[] =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
    ? [value, `minute ${Math.floor(Date.parse(value) / MINUTE_MS)}`]
    : [value]

/** The items that have a value, by field and value. */
function holders(all: Iterable<readonly [string, Told]>): Map<string, Map<Scalar, string[]>> {
  const fields = new Map<string, Map<Scalar, string[]>>()
  for (const [name, fieldsOf] of all)
    for (const [field, value] of Object.entries(fieldsOf))
      for (const reading of readings(value)) {
        const values = fields.get(field) ?? new Map<Scalar, string[]>()
        fields.set(field, values.set(reading, [...(values.get(reading) ?? []), name]))
      }
  return fields
}

const pointsAsTold = ({ points }: Poll): [string, Told][] =>
  points.map(({ id, ...fields }) => [id, { ...told(fields), place: JSON.stringify(fields) }])

/** Joins on a value that exactly one item on each side has. */
function joined(ones: Iterable<readonly [string, Told]>, others: Iterable<readonly [string, Told]>): Claim[] {
  const claims = new Map<string, Claim>()
  const right = [...holders(others).values()]
  for (const values of holders(ones).values())
    for (const [value, [one, ...more]] of values) {
      if (one === undefined || more.length > 0 || value === null) continue
      for (const theirs of right) {
        const [other, ...others] = theirs.get(value) ?? []
        if (other !== undefined && others.length === 0) claims.set(`${one} ${other}`, [one, other])
      }
    }
  return [...claims.values()]
}

/** Users and ids of the map that share a unique value. */
export const byValue = (poll: Poll): Claim[] => joined(pointsAsTold(poll), poll.people)

/** Ids before and after a change that share a unique value or combination. */
export const acrossByValue = (before: Poll, after: Poll): Claim[] =>
  joined(pointsAsTold(before), pointsAsTold(after))

/** Ids before and after a change that have the same index in the list. */
export const acrossByOrder = (before: Poll, after: Poll): Claim[] =>
  before.points.flatMap(({ id }, i): Claim[] => (after.points[i] ? [[id, after.points[i].id]] : []))

/** The rounds in which an item changed, as bits. */
function rhythms<T>(polls: readonly T[], read: (poll: T) => Map<string, string>): Map<string, number> {
  const bits = new Map<string, number>()
  polls.map(read).forEach((round, i, rounds) => {
    for (const [name, value] of round)
      bits.set(name, (bits.get(name) ?? 0) | (i > 0 && rounds[i - 1]!.get(name) !== value ? 1 << i : 0))
  })
  return bits
}

const ones = (bits: number): number => {
  let n = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) n++
  return n
}

/** For each user, the id whose changes match best, if there is one best match. @param polls of one hour, up to 31 */
export function byRhythm(polls: readonly Poll[]): Claim[] {
  const people = rhythms(
    polls,
    (poll) => new Map([...poll.people].map(([id, all]) => [id, JSON.stringify(all)])),
  )
  const points = rhythms(
    polls,
    ({ points }) => new Map(points.map(({ id, ...all }) => [id, JSON.stringify(all)])),
  )
  const shown = polls.at(-1)!.points.map(({ id }) => [id, points.get(id)!] as const)
  return [...people].flatMap(([userId, theirs]): Claim[] => {
    let best: { id: string; fit: number } | null = null
    let isTied = false
    for (const [id, its] of shown) {
      const fit = -ones(theirs ^ its)
      if (best !== null && fit < best.fit) continue
      isTied = best !== null && fit === best.fit
      best = { id, fit }
    }
    return best === null || isTied ? [] : [[best.id, userId]]
  })
}

/** Reads what a pilgrim's card shows, and their track. */
import { unpack } from '#shared/buffer/point.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type Pilgrim, readPilgrims } from '#shared/fold/pilgrim-statistics.ts'
import { achievementCard } from '#shared/rules/achievement.ts'
import { savedMg } from '#shared/rules/carbon.ts'
import { type Level, LEVELS, levelOf, nextLevel } from '#shared/rules/levels.ts'
import { transportSums } from '#shared/rules/reported-carbon.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import { zeroTotals } from '#shared/fold/point-totals.ts'
import type { CardFacts, Fix } from '../card-design/card-facts.ts'

/** Version of the design; a new one makes every stored card outdated. */
const DESIGN = 3

export interface Portrait {
  readonly facts: CardFacts
  /** Points in the database. */
  readonly storedPoints: number
  /** Digest of everything that the picture shows. */
  readonly fingerprint: string
  /** Has no counted point. All newcomers share one picture, which shows no name. */
  readonly isNewcomer: boolean
}

/** Progress between two levels: the lower share of distance and check-ins. */
function progressOf(level: Level, next: Level | null, distanceMm: number, checkins: number): number {
  if (next === null) return 1
  const share = (value: number, from: number, to: number): number =>
    Math.max(0, Math.min(1, (value - from) / (to - from)))
  // Level 1 starts without a check-in.
  const from = level.level === 1 ? 0 : level.minCheckins
  return Math.min(share(distanceMm / 1e6, level.minKm, next.minKm), share(checkins, from, next.minCheckins))
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
  const { statistics, storedPoints } = known
  const isNewcomer = (statistics?.points ?? 0) === 0
  const whole = factsOf(context.config.eventName, isNewcomer ? NOBODY : known)
  const facts = named ? whole : { ...whole, displayName: null }
  const all = JSON.stringify([DESIGN, facts, ...(isNewcomer ? [] : [statistics?.points, statistics?.lastMs])])
  const fingerprint = new Bun.CryptoHasher('sha256').update(all).digest('hex')
  return { facts, storedPoints, fingerprint, isNewcomer }
}

const NOBODY = { row: null, statistics: null }

function factsOf(eventName: string, { row, statistics }: Pick<Pilgrim, 'row' | 'statistics'>): CardFacts {
  const { distanceMm, checkins, carbonMg: mg } = statistics ?? zeroTotals()
  const reported = transportSums(row?.transport ?? {})
  const level = levelOf(distanceMm, checkins)
  const next = LEVELS[level.level] ?? null
  const needed = nextLevel(distanceMm, checkins)
  const surveyCompleted = row?.surveyCompleted ?? false
  const phone = row?.phone ?? null
  return {
    eventName,
    displayName: row?.displayName ?? null,
    language: row?.language ?? null,
    level,
    next,
    km: roundKm(distanceMm),
    checkins,
    carbonSavedKg: roundKg(savedMg(distanceMm + reported.distanceMm, mg + reported.carbonMg)),
    progress: progressOf(level, next, distanceMm, checkins),
    kmNeeded: needed?.km_needed ?? 0,
    checkinsNeeded: needed?.checkins_needed ?? 0,
    unlocked: achievementCard({ checkins, surveyCompleted, phone }) === 'unlocked',
  }
}

/** The map is a few hundred pixels wide; more positions are not visible. */
const TRACK_SLOTS = 1_200
/** Nine days of ten hours with a point a second are 324,000. Of more points only the first are drawn. */
const MAX_POINTS = 500_000

type Placed = Fix & { readonly t: number }

/** The first stored point of each of `TRACK_SLOTS` time slots, unordered. */
const readStored = ({ db }: ServiceContext, userId: string): Promise<readonly Placed[]> =>
  db.read(
    () => db.sql<Placed[]>`
      SELECT fix[1] AS t, fix[2] AS lat, fix[3] AS lng
      FROM (
        SELECT min(ARRAY[p.t, p.lat, p.lng]) AS fix
        FROM (
          SELECT (extract(epoch FROM g.recorded_at) * 1000)::float8 AS t, g.lat, g.lng
          FROM gps_points g
          WHERE g.user_id = ${userId} AND g.kind IN ('c', 't') AND g.in_range LIMIT ${MAX_POINTS}::int
        ) p
        CROSS JOIN (
          SELECT (extract(epoch FROM first_seen) * 1000)::float8 AS first_ms,
                 (extract(epoch FROM last_seen) * 1000)::float8 AS last_ms
          FROM pilgrim_totals WHERE user_id = ${userId}
        ) w
        GROUP BY floor((p.t - w.first_ms) / greatest((w.last_ms - w.first_ms) / ${TRACK_SLOTS}::int, 1))
      ) slots`,
  )

/** Pending points; a sample of at most about `TRACK_SLOTS`. */
async function readPending({ kv }: ServiceContext, userId: string): Promise<Placed[]> {
  const points = (await kv.peek(userId)).map(unpack).filter(({ inRange }) => inRange)
  const every = Math.ceil(points.length / TRACK_SLOTS)
  return points
    .sort((a, b) => a.recordedMs - b.recordedMs)
    .filter((_, i) => i % every === 0 || i === points.length - 1)
    .map(({ lat, lng, recordedMs: t }) => ({ lat, lng, t }))
}

/** The pilgrim's track, ordered by time, pending points included. */
export async function readTrack(context: ServiceContext, userId: string): Promise<Fix[]> {
  const [stored, pending] = await Promise.all([readStored(context, userId), readPending(context, userId)])
  return [...stored, ...pending].sort((a, b) => a.t - b.t)
}

/** One day of a pilgrim's points, with the fold's treatment of each: the explanation of the day's sum. */
import { z } from 'zod'
import { readPendingOf } from '#shared/points/pending-points.ts'
import { time } from '#shared/contracts/fields.ts'
import {
  MAX_WAY,
  type UserPoint,
  type UserPoints,
  type UserPointsQuery,
  type DaySummary,
  LEFT_OUT,
  type LeftOut,
  MAX_POINTS_A_DAY,
} from '#shared/contracts/user-history.ts'
import { decodeCursor, encodeCursor } from '#shared/service/http/pagination.ts'
import { roundKmOfRow } from '#shared/core/rules/rounding.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { expectKnown } from '#shared/pilgrims/profile.ts'
import { auditLook } from './audit-look.ts'
import { MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import { fieldOf, foldPointOf, type Point } from '#shared/points/point.ts'
import {
  byInstant,
  type ExplainedPoint,
  explainPoints,
  START,
} from '#shared/core/distance/points-to-distance.ts'
import { inSpan, readDays } from '#shared/points/totals/stored-days.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import type { Mode } from '#shared/core/rules/carbon.ts'
import type { Database } from '#shared/stores/db/db.ts'

const NOTHING: ExplainedDay = { points: [], truncated: false }

/**
 * A page of a day. Without the buffer its points are missing, and the answer says so.
 * @throws Refusal 404 for an unknown pilgrim, 503 when that cannot be determined
 */
export async function listPoints(
  context: ServiceContext,
  operator: Acting,
  userId: string,
  { day: asked, only, limit, cursor }: UserPointsQuery,
): Promise<UserPoints> {
  const { kv, db } = context
  const buffered = await readPendingOf(kv, userId)
  const waiting = waitingOf(buffered ?? [])
  const stored = await readPointDays(db, userId)
  expectKnown(userId, stored.isStored, buffered && buffered.length)
  const day = asked ?? latestDay(context, stored, waiting)
  const list = `points:${userId}:${day ?? 'none'}:${only ?? 'all'}`
  const from = decodeCursor(list, [z.int().min(0).max(1e7)], cursor)?.[0] ?? 0
  if (from === 0) await auditLook(context, operator, userId, { action: 'show-points' }, stored.isStored)
  const { points, truncated } = day === null ? NOTHING : await explainDay(context, userId, day, waiting)
  const listed = only === undefined ? points : points.filter(isLeftOut)
  return {
    day,
    days: daysOf(context, stored, waiting),
    items: listed.slice(from, from + limit).map(shown),
    next_cursor: listed.length > from + limit ? encodeCursor(list, [from + limit]) : null,
    way: wayOf(points),
    total: listed.length,
    left_out: countLeftOut(points),
    truncated,
    pending: buffered && buffered.length,
  }
}

/** Stored days, and days whose points are all pending: today is one of them until its first flush. */
function daysOf(
  { calendar }: Pick<ServiceContext, 'calendar'>,
  { days }: PointDays,
  waiting: readonly DayPoint[],
): UserPoints['days'] {
  const known = new Set(days.map(({ day }) => day))
  const inside = waiting.filter(({ inRange }) => inRange)
  const added = [...Map.groupBy(inside, ({ recordedMs }) => calendar.day(recordedMs))]
    .filter(([day]) => !known.has(day))
    .map(([day, { length }]) => ({ day, points: length, km: 0 }))
  return [
    ...days.map(({ day, points, distanceMm }) => ({ day, points, km: roundKmOfRow(distanceMm) })),
    ...added,
  ].sort((a, b) => (a.day < b.day ? 1 : -1))
}

function wayOf(points: readonly Explained[]): [number, number][] {
  const way = points.filter(({ outcome }) => outcome === 'counted' || outcome === 'first')
  const step = Math.max(1, (way.length - 1) / (MAX_WAY - 1))
  const count = Math.min(way.length, MAX_WAY)
  return Array.from({ length: count }, (_, i) => way[Math.round(i * step)]!).map(({ lng, lat }) => [lng, lat])
}

const shown = (point: Explained): UserPoint => ({
  kind: point.kind === 'c' ? 'checkin' : 'track',
  recorded_at: time(point.recordedMs),
  received_at: time(point.receivedMs),
  lat: point.lat,
  lng: point.lng,
  accuracy: point.accuracy,
  mode: point.mode,
  source: point.source,
  clock_corrected: point.recordedMs !== point.sentMs,
  pending: point.pending,
  outcome: point.outcome,
  km: point.distanceMm / 1e6,
})

type Stores = Pick<ServiceContext, 'db' | 'calendar'>

type DayPoint = Point & { readonly pending: boolean }

type Explained = DayPoint & Pick<UserPoint, 'outcome'> & Pick<ExplainedPoint, 'distanceMm' | 'travelled'>

interface ExplainedDay {
  /** Points in the order of the fold. */
  readonly points: readonly Explained[]
  /** Whether the day has more points than were read. */
  readonly truncated: boolean
}

const waitingOf = (buffered: readonly Point[]): DayPoint[] =>
  buffered.map((point) => ({ ...point, pending: true }))

/** The latest day with a point, stored or pending; null: there are none. */
function latestDay(
  { calendar }: Stores,
  { days, latestMs }: PointDays,
  waiting: readonly DayPoint[],
): string | null {
  const instants = waiting.map(({ recordedMs }) => recordedMs).concat(latestMs ?? [])
  return [...days.map(({ day }) => day), ...instants.map(calendar.day)].sort().at(-1) ?? null
}

async function explainDay(
  stores: Stores,
  userId: string,
  day: string,
  waiting: readonly DayPoint[],
): Promise<ExplainedDay> {
  const points = await pointsOf(stores, userId, day, waiting)
  return {
    points: await explain(stores, userId, day, points),
    truncated: points.length >= MAX_POINTS_A_DAY,
  }
}

/** The points of the latest day that are not in the sum. It reads only that day's points. */
export async function summarizeLatestDay(
  stores: Stores,
  userId: string,
  buffered: readonly Point[],
): Promise<DaySummary | null> {
  const waiting = waitingOf(buffered)
  const day = latestDay(stores, await readPointDays(stores.db, userId), waiting)
  if (day === null) return null
  const { points, truncated } = await explainDay(stores, userId, day, waiting)
  return {
    day,
    points: points.length,
    left_out: countLeftOut(points),
    last: truncated ? null : lastOf(points),
    recorded_km: kmByMode(points),
    truncated,
  }
}

function kmByMode(points: readonly Explained[]): DaySummary['recorded_km'] {
  const sums = new Map<Mode, number>()
  for (const { travelled, distanceMm } of points)
    if (travelled !== null) sums.set(travelled, (sums.get(travelled) ?? 0) + distanceMm)
  return Object.fromEntries([...sums].map(([mode, mm]) => [mode, roundKmOfRow(mm)]))
}

function lastOf(points: readonly Explained[]): DaySummary['last'] {
  const last = points.findLast((point) => point.inRange && isPlace(point))
  return last === undefined ? null : { lat: last.lat, lng: last.lng, recorded_at: time(last.recordedMs) }
}

const isLeftOut = ({ outcome }: Explained): boolean => outcome !== 'counted' && outcome !== 'first'

function countLeftOut(points: readonly Explained[]): LeftOut {
  const counts = Object.fromEntries(LEFT_OUT.map((reason) => [reason, 0])) as LeftOut
  for (const { outcome } of points) if (outcome !== 'counted' && outcome !== 'first') counts[outcome]++
  return counts
}

/** The points of a day from the table and the buffer. One that a flush has stored meanwhile is in both. */
async function pointsOf(
  { db, calendar }: Stores,
  userId: string,
  day: string,
  waiting: readonly DayPoint[],
): Promise<DayPoint[]> {
  const stored = await readDayPoints(db, userId, calendar.span(day), MAX_POINTS_A_DAY)
  const pending = waiting.filter(({ recordedMs }) => calendar.day(recordedMs) === day)
  const known = new Set(pending.length === 0 ? [] : stored.map(fieldOf))
  return [
    ...stored.map((point) => ({ ...point, pending: false })),
    ...pending.filter((point) => !known.has(fieldOf(point))),
  ]
}

/** Folds the day, starting with the stored end of the previous day. */
async function explain(
  { db }: Stores,
  userId: string,
  day: string,
  points: readonly DayPoint[],
): Promise<Explained[]> {
  const stored = (await db.read(() => readDays(db, [{ userId, from: day }]))).get(userId) ?? []
  const start = stored.find((before) => before.day < day)?.end ?? START
  // Computed once for each point: sorting compares each with many.
  const ordered = points
    .map((point) => ({ point, folded: foldPointOf(point) }))
    .sort((a, b) => byInstant(a.folded, b.folded))
  const inRange = ordered.filter(({ point }) => point.inRange).map(({ folded }) => folded)
  const outcomes = explainPoints(start, inRange).values()
  return ordered.map(({ point }) => ({
    ...point,
    ...(point.inRange
      ? (outcomes.next().value as ExplainedPoint)
      : { outcome: 'outside' as const, distanceMm: 0, travelled: null }),
  }))
}

interface PointDay {
  readonly day: string
  readonly points: number
  readonly distanceMm: number
}

interface PointDays {
  /** Days with points inside the area, latest first. */
  readonly days: readonly PointDay[]
  /**
   * Time at which the latest stored point counts, also one outside the area, epoch milliseconds; null: there is none.
   */
  readonly latestMs: number | null
  readonly isStored: boolean
}

async function readPointDays(db: Database, userId: string): Promise<PointDays> {
  const [row] = await db.read(
    () => db.sql<{ stored: boolean; days: string; latest: number | null }[]>`
      SELECT EXISTS (SELECT FROM pilgrims WHERE user_id = ${userId}) AS stored,
        (SELECT coalesce(json_agg(json_build_object(
            'day', day, 'points', points, 'distanceMm', distance_mm) ORDER BY day DESC), '[]')
         FROM pilgrim_days WHERE user_id = ${userId})::text AS days,
        (SELECT max(epoch_ms(g.recorded_at)) FROM (VALUES ('c'), ('t')) AS k (kind)
         CROSS JOIN LATERAL (
           SELECT recorded_at FROM gps_points p
           WHERE p.user_id = ${userId} AND p.kind = k.kind ORDER BY p.sent_at DESC LIMIT 1) g)::float8 AS latest`,
  )
  return { days: JSON.parse(row!.days) as PointDay[], latestMs: row!.latest, isStored: row!.stored }
}

/** The points in a time span, in no order, at most `max`. */
async function readDayPoints(
  db: Database,
  userId: string,
  span: readonly [number, number],
  max: number,
): Promise<Point[]> {
  return db.read(
    () => db.sql<Point[]>`
      SELECT kind, epoch_ms(sent_at) AS "sentMs", epoch_ms(recorded_at) AS "recordedMs",
             epoch_ms(received_at) AS "receivedMs", lat, lng, ${db.sql(MEASUREMENTS)},
             in_range AS "inRange"
      FROM gps_points WHERE ${inSpan(db, userId, span)} AND kind IN ('c', 't')
      ORDER BY sent_at LIMIT ${max}`,
  )
}

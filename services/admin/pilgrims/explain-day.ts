/** One day of a pilgrim: its points, with what the fold makes of each. */
import { fieldOf, foldPointOf, MEASUREMENTS, type Point, readablePoints } from '#shared/points/point.ts'
import {
  type DaySummary,
  LEFT_OUT,
  type LeftOut,
  MAX_POINTS_A_DAY,
  type UserPoint,
} from '#shared/contracts/user-history.ts'
import { time } from '#shared/contracts/fields.ts'
import {
  byInstant,
  type ExplainedPoint,
  explainPoints,
  START,
} from '#shared/core/distance/points-to-distance.ts'
import { inSpan, readDays } from '#shared/points/totals/stored-days.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'
import type { Mode } from '#shared/core/rules/carbon.ts'
import { roundKmOfRow } from '#shared/core/rules/rounding.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Database } from '#shared/stores/db/db.ts'

type Stores = Pick<ServiceContext, 'db' | 'calendar'>

export type DayPoint = Point & { readonly pending: boolean }

export type Explained = DayPoint &
  Pick<UserPoint, 'outcome'> &
  Pick<ExplainedPoint, 'distanceMm' | 'travelled'>

export interface ExplainedDay {
  /** In the order of the fold. */
  readonly points: readonly Explained[]
  /** Whether the day has more points than were read. */
  readonly truncated: boolean
}

export const waitingOf = (entries: readonly Entry[]): DayPoint[] =>
  readablePoints(entries).map((point) => ({ ...point, pending: true }))

/** The latest day on which there is a point, stored or waiting; null: there are none. */
export function latestDay(
  { calendar }: Stores,
  { days, latestMs }: PointDays,
  waiting: readonly DayPoint[],
): string | null {
  const instants = waiting.map(({ recordedMs }) => recordedMs).concat(latestMs ?? [])
  return [...days.map(({ day }) => day), ...instants.map(calendar.day)].sort().at(-1) ?? null
}

export async function explainDay(
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

/** What of the latest day is not in the sum. It reads that day's points and no others. */
export async function summarizeLatestDay(
  stores: Stores,
  userId: string,
  entries: readonly Entry[],
): Promise<DaySummary | null> {
  const waiting = waitingOf(entries)
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
  const last = points.findLast(({ inRange }) => inRange)
  return last === undefined ? null : { lat: last.lat, lng: last.lng, recorded_at: time(last.recordedMs) }
}

export const isLeftOut = ({ outcome }: Explained): boolean => outcome !== 'counted' && outcome !== 'first'

export function countLeftOut(points: readonly Explained[]): LeftOut {
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
  const mine = waiting.filter(({ recordedMs }) => calendar.day(recordedMs) === day)
  const known = new Set(mine.length === 0 ? [] : stored.map(fieldOf))
  return [
    ...stored.map((point) => ({ ...point, pending: false })),
    ...mine.filter((point) => !known.has(fieldOf(point))),
  ]
}

/** Folds the day from the stored end of the day before it. */
async function explain(
  { db }: Stores,
  userId: string,
  day: string,
  points: readonly DayPoint[],
): Promise<Explained[]> {
  const stored = (await db.read(() => readDays(db.sql, [{ userId, from: day }]))).get(userId) ?? []
  const start = stored.find((before) => before.day < day)?.end ?? START
  // Made once for each point: sorting compares each with many.
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

export interface PointDays {
  /** Days with points inside the area, latest first. */
  readonly days: readonly PointDay[]
  /** When the latest stored point counts, also one outside the area, epoch milliseconds; null: there is none. */
  readonly latestMs: number | null
  readonly isStored: boolean
}

export async function readPointDays(db: Database, userId: string): Promise<PointDays> {
  const [row] = await db.read(
    () => db.sql<{ stored: boolean; days: string; latest: number | null }[]>`
      SELECT EXISTS (SELECT FROM pilgrims WHERE user_id = ${userId}) AS stored,
        (SELECT coalesce(json_agg(json_build_object(
            'day', day, 'points', points, 'distanceMm', distance_mm) ORDER BY day DESC), '[]')
         FROM pilgrim_days WHERE user_id = ${userId})::text AS days,
        (SELECT max(extract(epoch FROM g.recorded_at) * 1000) FROM (VALUES ('c'), ('t')) AS k (kind)
         CROSS JOIN LATERAL (
           SELECT recorded_at FROM gps_points p
           WHERE p.user_id = ${userId} AND p.kind = k.kind ORDER BY p.sent_at DESC LIMIT 1) g)::float8 AS latest`,
  )
  return { days: JSON.parse(row!.days) as PointDay[], latestMs: row!.latest, isStored: row!.stored }
}

/** The points whose time is in a span, in no order, at most `max`. */
async function readDayPoints(
  db: Database,
  userId: string,
  span: readonly [number, number],
  max: number,
): Promise<Point[]> {
  return db.read(
    () => db.sql<Point[]>`
      SELECT kind, (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs", (extract(epoch FROM recorded_at) * 1000)::float8 AS "recordedMs",
             (extract(epoch FROM received_at) * 1000)::float8 AS "receivedMs", lat, lng, ${db.sql(MEASUREMENTS)},
             in_range AS "inRange"
      FROM gps_points WHERE ${inSpan(db.sql, userId, span)} AND kind IN ('c', 't')
      ORDER BY sent_at LIMIT ${max}`,
  )
}

/** Reads the stored points of one pilgrim's day with all that is known about them, and the days that have points. */
import type { Point } from '#shared/buffer/point.ts'
import type { Database } from '#shared/db/db.ts'

/** The time that a phone sent may be this far ahead of the time at which its check-in counts. */
const CLOCK_AHEAD_MS = 86_400_000

export interface PointDay {
  readonly day: string
  readonly points: number
  readonly distanceMm: number
}

/** Of one pilgrim. */
export interface PointDays {
  /** Days with points inside the area, latest first. */
  readonly days: readonly PointDay[]
  /** When the latest stored point counts, also one outside the area, epoch milliseconds; null: there is none. */
  readonly latestMs: number | null
  /** Whether there is a row of the pilgrim. */
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

interface Row extends Omit<Point, 'kind'> {
  readonly kind: 'c' | 't'
}

/** The points whose time is in a span, in no order, at most `max`. */
export async function readDayPoints(
  db: Database,
  userId: string,
  [fromMs, toMs]: readonly [number, number],
  max: number,
): Promise<Point[]> {
  return db.read(
    () => db.sql<Row[]>`
      SELECT kind, (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs", (extract(epoch FROM recorded_at) * 1000)::float8 AS "recordedMs",
             (extract(epoch FROM received_at) * 1000)::float8 AS "receivedMs", lat, lng, accuracy, altitude, speed, mode, source,
             in_range AS "inRange"
      FROM gps_points
      WHERE user_id = ${userId} AND kind IN ('c', 't')
        AND sent_at >= to_timestamp(${fromMs}::float8 / 1000)
        AND sent_at < to_timestamp(${toMs + CLOCK_AHEAD_MS}::float8 / 1000)
        AND recorded_at >= to_timestamp(${fromMs}::float8 / 1000)
        AND recorded_at < to_timestamp(${toMs}::float8 / 1000)
      ORDER BY sent_at LIMIT ${max}`,
  )
}

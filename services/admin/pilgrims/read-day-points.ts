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

/** Days with points inside the area, latest first, and whether the pilgrim is stored. */
export async function readPointDays(
  db: Database,
  userId: string,
): Promise<{ readonly days: PointDay[]; readonly isStored: boolean }> {
  const [row] = await db.read(
    () => db.sql<{ stored: boolean; days: string }[]>`
      SELECT EXISTS (SELECT FROM pilgrims WHERE user_id = ${userId}) AS stored,
        (SELECT coalesce(json_agg(json_build_object(
            'day', day, 'points', points, 'distanceMm', distance_mm) ORDER BY day DESC), '[]')
         FROM pilgrim_days WHERE user_id = ${userId})::text AS days`,
  )
  return { days: JSON.parse(row!.days) as PointDay[], isStored: row!.stored }
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

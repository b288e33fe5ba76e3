/** Reads stored days with the fold's state at their end, and the points of single days. */
import type { Tx } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { ROUGH_M } from '#shared/core/rules/geo.ts'
import type { Fix, FoldPoint, Page, StoredDay } from '#shared/core/distance/points-to-distance.ts'

/** Maximum difference between the time a phone sent and the time at which its check-in counts. */
const CLOCK_AHEAD_MS = 86_400_000

interface DayRow {
  user_id: string
  day: string
  hours: number
  points: number
  anchor_lat: number | null
  anchor_lng: number | null
  anchor_ms: number | null
  before_lat: number | null
  before_lng: number | null
  before_ms: number | null
}

/** A fix from three columns that are null together. */
export const fixOf = (lat: number | null, lng: number | null, t: number | null): Fix | null =>
  t === null ? null : { lat: lat!, lng: lng!, t }

/** A stored day with the hours in which it has points (bit n: n-th hour of the day). */
interface StoredDayHours extends StoredDay {
  readonly hours: number
  /** Stored points of the day in the area. */
  readonly points: number
}

/**
 * Reads each pilgrim's days starting with `from`, ascending, and the last day before it.
 * @param asked each pilgrim once; `from` is a local day
 */
export async function readDays(
  tx: Tx,
  asked: readonly { readonly userId: string; readonly from: string }[],
): Promise<Map<string, StoredDayHours[]>> {
  const days = new Map<string, StoredDayHours[]>()
  if (asked.length === 0) return days
  const rows = await tx.sql<DayRow[]>`
    SELECT d.user_id, d.day::text AS day, d.hours, d.points::float8 AS points, d.anchor_lat, d.anchor_lng,
           epoch_ms(d.anchor_at) AS anchor_ms, d.before_lat, d.before_lng,
           epoch_ms(d.before_at) AS before_ms
    FROM unnest(${asked.map(({ userId }) => userId)}::text[], ${asked.map(({ from }) => from)}::text[]) AS a (user_id, day)
    CROSS JOIN LATERAL (
      SELECT * FROM pilgrim_days p
      WHERE p.user_id = a.user_id AND p.day >= coalesce(
        (SELECT max(q.day) FROM pilgrim_days q WHERE q.user_id = a.user_id AND q.day < a.day::date), a.day::date)
    ) d
    ORDER BY d.user_id, d.day`
  for (const row of rows) {
    const day: StoredDayHours = {
      day: row.day,
      hours: row.hours,
      points: row.points,
      end: {
        anchor: fixOf(row.anchor_lat, row.anchor_lng, row.anchor_ms),
        before: fixOf(row.before_lat, row.before_lng, row.before_ms),
      },
    }
    days.getOrInsertComputed(row.user_id, () => []).push(day)
  }
  return days
}

/** `isPlace` and `isRough` (`core/rules/geo.ts`) as conditions on `gps_points`. */
export const IS_PLACE = '(lat <> 0 OR lng <> 0)'
export const IS_ROUGH = `(coalesce(accuracy >= ${ROUGH_M}, false) OR NOT ${IS_PLACE})`

/** A row of `gps_points` as the fold reads it. */
export const FOLD_COLUMNS = `kind, epoch_ms(sent_at) AS "sentMs",
  epoch_ms(recorded_at) AS t, lat, lng, mode, ${IS_ROUGH} AS rough`

/** A condition on `gps_points`: one pilgrim's points that count in a period (epoch milliseconds). */
export const inSpan = (tx: Tx, userId: string, [fromMs, toMs]: readonly [number, number]) => tx.sql`
  user_id = ${userId}
    -- The key contains the time sent, which is between the time at which the point counts and a day after it.
    AND sent_at >= from_epoch_ms(${fromMs})
    AND sent_at < from_epoch_ms(${toMs + CLOCK_AHEAD_MS})
    AND recorded_at >= from_epoch_ms(${fromMs})
    AND recorded_at < from_epoch_ms(${toMs})`

/** Stored points of one day read at once: the number that a pilgrim may send per day is not bounded. */
export const POINTS_A_READ = 10_000

/** Reads the stored points, inside the area, of one local day of a pilgrim: pages for `refold`, the last one empty. */
export async function* readDayInPages(
  tx: Tx,
  userId: string,
  day: string,
  calendar: Calendar,
): AsyncGenerator<Page> {
  const pages = tx.sql<FoldPoint[]>`
    SELECT ${tx.sql.unsafe(FOLD_COLUMNS)} FROM gps_points g WHERE ${inSpan(tx, userId, calendar.span(day))} AND in_range
    ORDER BY recorded_at, kind, sent_at`.cursor(POINTS_A_READ)
  for await (const points of pages) yield { points, isLast: false }
  yield { points: [], isLast: true }
}

/** Reads the stored points, inside the area, of one local day of each pilgrim. */
export async function readPointsOfDays(
  tx: Tx,
  asked: readonly { readonly userId: string; readonly day: string }[],
  calendar: Calendar,
): Promise<Map<string, FoldPoint[]>> {
  const points = new Map<string, FoldPoint[]>()
  if (asked.length === 0) return points
  const spans = asked.map(({ day }) => calendar.span(day))
  const [first, last] = [Math.min(...spans.map(([from]) => from)), Math.max(...spans.map(([, to]) => to))]
  const rows = await tx.sql<(FoldPoint & { user_id: string })[]>`
    SELECT p.user_id, ${tx.sql.unsafe(FOLD_COLUMNS)}
    FROM unnest(${asked.map(({ userId }) => userId)}::text[], ${spans.map(([from]) => from)}::float8[],
                ${spans.map(([, to]) => to)}::float8[]) AS a (user_id, from_ms, to_ms)
    CROSS JOIN LATERAL (
      -- The key contains the time sent, which is between the time at which the point counts and a day after it.
      SELECT * FROM gps_points g
      WHERE g.user_id = a.user_id AND g.kind IN ('c', 't')
        AND g.sent_at >= from_epoch_ms(a.from_ms)
        AND g.sent_at < from_epoch_ms(a.to_ms + ${CLOCK_AHEAD_MS}::float8)
        -- Bounds over all requested days, so that the plan contains only their partitions.
        AND g.sent_at >= from_epoch_ms(${first})
        AND g.sent_at < from_epoch_ms(${last + CLOCK_AHEAD_MS})
        AND g.recorded_at >= from_epoch_ms(a.from_ms)
        AND g.recorded_at < from_epoch_ms(a.to_ms)
        AND g.in_range
      OFFSET 0 -- Forces a look-up by key per pilgrim, because statistics of a new day mislead the planner.
    ) p`
  for (const { user_id, ...point } of rows) points.getOrInsertComputed(user_id, () => []).push(point)
  return points
}

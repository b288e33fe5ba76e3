/**
 * Reads one day of a pilgrim for their own way. A phone may record each second, and a day may hold any number of points,
 * so the database leaves out what the answer does not need: what remains depends on the length of a day.
 */
import type { Fix, FoldPoint } from '#shared/fold/fold.ts'
import { MIN_ELAPSED_MS } from '#shared/fold/fold.ts'
import type { Query } from '#shared/db/db.ts'
import type { Point } from '#shared/buffer/point.ts'
import { MAX_CHECKINS } from '#shared/contracts/own-data.ts'

/** The time that a phone sent may be this far ahead of the time at which its check-in counts. */
const CLOCK_AHEAD_MS = 86_400_000

/** One local day of one pilgrim. */
export interface DayAsked {
  readonly userId: string
  /** Epoch milliseconds: the day's beginning, and the next one's. */
  readonly span: readonly [number, number]
}

/** A check-in; `inRange`: inside the event's area. */
export interface DayCheckIn extends Fix {
  readonly inRange: boolean
}

const inDay = (tx: Query, { userId, span: [fromMs, toMs] }: DayAsked) => tx`
  user_id = ${userId}
    -- The key contains the time sent, which is between the time at which the point counts and a day after it.
    AND sent_at >= to_timestamp(${fromMs}::float8 / 1000)
    AND sent_at < to_timestamp(${toMs + CLOCK_AHEAD_MS}::float8 / 1000)
    AND recorded_at >= to_timestamp(${fromMs}::float8 / 1000)
    AND recorded_at < to_timestamp(${toMs}::float8 / 1000)`

/**
 * The points that the fold looks at, in its order: of all points inside the area that are not rough the first one, and
 * then always the first that is `MIN_ELAPSED_MS` after the last one looked at. The fold of these gives the same segments
 * as the fold of all, because it leaves out the others. At most 2,882 of a day of 24 hours, however many points it has.
 * @param added pending points of the day
 * @param anchorMs time of the anchor with which the day begins; null: there is none
 */
export async function readCountablePoints(
  tx: Query,
  day: DayAsked,
  added: readonly FoldPoint[],
  anchorMs: number | null,
): Promise<FoldPoint[]> {
  return tx<FoldPoint[]>`
    WITH RECURSIVE points AS MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY t, kind, "sentMs") AS n FROM (
        SELECT kind, (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs",
          (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, mode, false AS rough
        FROM gps_points WHERE ${inDay(tx, day)} AND kind IN ('c', 't') AND in_range
          AND accuracy > 100 IS NOT TRUE
        UNION ALL
        SELECT kind, "sentMs", t, lat, lng, mode, false AS rough
        FROM json_to_recordset(${JSON.stringify(added.filter(({ rough }) => !rough))}::text::json)
          AS added (kind text, "sentMs" float8, t float8, lat float8, lng float8, mode text)
      ) either
    ), times AS MATERIALIZED (
      SELECT array_agg(t ORDER BY n) AS t, count(*) AS n FROM points
    ), looked_at (n) AS (
      -- The number of points up to a time, found in the sorted times; the next one is looked at.
      SELECT 1 + width_bucket(${(anchorMs ?? -MIN_ELAPSED_MS) + MIN_ELAPSED_MS - 1}::float8, (SELECT t FROM times))
      UNION ALL
      SELECT 1 + width_bucket((SELECT t FROM times)[n] + ${MIN_ELAPSED_MS - 1}::float8, (SELECT t FROM times))
      FROM looked_at WHERE n <= (SELECT n FROM times)
    )
    SELECT kind, "sentMs", t, lat, lng, mode, rough FROM points
    WHERE n = 1 OR n IN (SELECT n FROM looked_at) ORDER BY points.n`
}

/**
 * The first check-ins of the day, at most `MAX_CHECKINS`, by time.
 * @param pending points of the day that are not stored
 */
export async function readCheckIns(
  tx: Query,
  day: DayAsked,
  pending: readonly Point[],
): Promise<DayCheckIn[]> {
  const stored = await tx<DayCheckIn[]>`
    SELECT (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, in_range AS "inRange" FROM gps_points
    WHERE ${inDay(tx, day)} AND kind = 'c' ORDER BY recorded_at, sent_at LIMIT ${MAX_CHECKINS}::int`
  const waiting = pending
    .filter(({ kind }) => kind === 'c')
    .map(({ recordedMs: t, lat, lng, inRange }) => ({ t, lat, lng, inRange }))
  return [...stored, ...waiting].sort((a, b) => a.t - b.t).slice(0, MAX_CHECKINS)
}

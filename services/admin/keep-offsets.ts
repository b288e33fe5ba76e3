/** What a pilgrim had added to the event's sums, kept without the person, so that a rebuild agrees with them. */
import { sql } from 'drizzle-orm'
import type { Writer } from '#shared/outbox.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import type { FoldPoint } from '#shared/rules/fold.ts'
import { refold } from '#shared/rules/refold.ts'

/**
 * Reads all the pilgrim's points in the area, folds them once more, and books what they gave as nobody's.
 * @returns whether there were any
 */
export async function keepOffsets(tx: Writer, userId: string, calendar: Calendar): Promise<boolean> {
  const points = await tx.execute<
    { kind: 'c' | 't'; sent_ms: number; t: number } & Record<string, unknown>
  >(sql`
    SELECT kind, (extract(epoch FROM sent_at) * 1000)::float8 AS sent_ms,
           (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, mode
    FROM gps_points WHERE user_id = ${userId} AND in_range`)
  const added = points.map(({ sent_ms: sentMs, ...point }) => ({ ...point, sentMs }) as unknown as FoldPoint)
  // Nothing is stored of somebody who begins anew: the plan asks for no day.
  const { value: days } = refold([], added, calendar).next()
  if (!Array.isArray(days)) throw new Error('a fold from the beginning asked for stored points')
  for (const { day, delta } of days) {
    await tx.execute(sql`
      INSERT INTO erased_days AS d (day, pilgrims) VALUES (${day}, 1)
      ON CONFLICT (day) DO UPDATE SET pilgrims = d.pilgrims + 1`)
    for (const [hour, sums] of delta.hours)
      await tx.execute(sql`
        INSERT INTO erased_hours AS h (hour, points, checkins, pilgrims, distance_mm, carbon_mg)
        VALUES (${new Date(hour).toISOString()}, ${sums.points}, ${sums.checkins}, ${sums.points > 0 ? 1 : 0},
                ${sums.distanceMm}, ${sums.carbonMg})
        ON CONFLICT (hour) DO UPDATE SET
          points = h.points + excluded.points, checkins = h.checkins + excluded.checkins,
          pilgrims = h.pilgrims + excluded.pilgrims, distance_mm = h.distance_mm + excluded.distance_mm,
          carbon_mg = h.carbon_mg + excluded.carbon_mg`)
    for (const [mode, sums] of delta.modes)
      await tx.execute(sql`
        INSERT INTO erased_modes AS m (day, mode, distance_mm, carbon_mg)
        VALUES (${day}, ${mode}, ${sums.distanceMm}, ${sums.carbonMg})
        ON CONFLICT (day, mode) DO UPDATE SET
          distance_mm = m.distance_mm + excluded.distance_mm, carbon_mg = m.carbon_mg + excluded.carbon_mg`)
  }
  return points.length > 0
}

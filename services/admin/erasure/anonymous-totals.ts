/** Stores an erased pilgrim's share of the event's totals without the person, so that a rebuild gives the same totals. */
import { sql } from 'drizzle-orm'
import type { Writer } from '#shared/bus/outbox.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { CellChanges } from '#shared/map/cell-counts.ts'
import { cellAt, MAX_ZOOM } from '#shared/map/cells.ts'
import type { FoldPoint } from '#shared/fold/fold.ts'
import { refold } from '#shared/fold/refold.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/**
 * Reads all of the pilgrim's points in the area, folds them again, and adds the result to the anonymous totals. Removes
 * their latest position from the map.
 * @returns whether there were any points
 */
export async function storeAnonymousTotals(tx: Writer, userId: string, calendar: Calendar): Promise<boolean> {
  const points = await tx.execute<
    { kind: 'c' | 't'; sent_ms: number; t: number } & Record<string, unknown>
  >(sql`
    SELECT kind, (extract(epoch FROM sent_at) * 1000)::float8 AS sent_ms,
           (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, mode,
           coalesce(accuracy > 100, false) AS rough
    FROM gps_points WHERE user_id = ${userId} AND in_range`)
  const added = points.map(({ sent_ms: sentMs, ...point }) => ({ ...point, sentMs }) as unknown as FoldPoint)
  // A fold that starts without stored days never asks for one.
  const { value: days } = refold([], added, calendar).next()
  if (!Array.isArray(days)) throw new LoggableError('a fold without stored days asked for stored points')
  await keepCells(tx, added, calendar)
  await leaveMap(tx, userId, calendar)
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

async function keepCells(tx: Writer, points: readonly FoldPoint[], calendar: Calendar): Promise<void> {
  const counts = new Map<string, { hour: number; x: number; y: number; points: number }>()
  for (const { t, lat, lng } of points) {
    const hour = calendar.hourStart(t)
    const { x, y } = cellAt(lat, lng, MAX_ZOOM)
    counts.getOrInsertComputed(`${hour} ${y} ${x}`, () => ({ hour, x, y, points: 0 })).points++
  }
  await tx.execute(sql`
    INSERT INTO erased_cells AS c (hour, x, y, points)
    SELECT to_timestamp(hour / 1000), x, y, points
    FROM jsonb_to_recordset(${JSON.stringify([...counts.values()])}::jsonb)
      AS e (hour float8, x int, y int, points int)
    ORDER BY hour, y, x
    ON CONFLICT (hour, y, x) DO UPDATE SET points = c.points + excluded.points`)
}

/** Has the next flush remove the pilgrim from their latest cell. */
async function leaveMap(tx: Writer, userId: string, calendar: Calendar): Promise<void> {
  const [last] = await tx.execute<{ t: number | null; lat: number; lng: number }>(sql`
    SELECT (extract(epoch FROM last_seen) * 1000)::float8 AS t, last_lat AS lat, last_lng AS lng
    FROM pilgrim_totals WHERE user_id = ${userId}`)
  if (last === undefined || last.t === null) return
  const changes = new CellChanges()
  changes.removePilgrim(calendar.hourStart(last.t), last)
  await tx.execute(sql`INSERT INTO cell_changes (changes) VALUES (decode(${changes.pack()}, 'base64'))`)
}

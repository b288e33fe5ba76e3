/** Stores an erased pilgrim's share of the event's totals without the person, so that a rebuild gives the same totals. */
import { sql } from 'drizzle-orm'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { CellChanges } from '#shared/core/map/cell-counts.ts'
import { cellAt, cellCentre, FINEST_PER_DEGREE, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { type FoldPoint, refold } from '#shared/core/distance/points-to-distance.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** Zoom of the cells that stay, about 90 m. */
const KEPT_ZOOM = 14
/** So many times the crowd of others are looked at, of each day. */
const OTHERS = 10

/**
 * Reads all of the pilgrim's points in the area, folds them again, and adds the result to the anonymous totals. Removes
 * their latest position from the map.
 * @param crowd pilgrims who share a cell of the map on a day; points of cells with fewer are dropped
 * @returns whether there were any points
 */
export async function storeAnonymousTotals(
  tx: Writer,
  userId: string,
  calendar: Calendar,
  crowd: number,
): Promise<boolean> {
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
  const changes = new CellChanges()
  await coarsenCells(tx, userId, added, calendar, crowd, changes)
  await leaveMap(tx, userId, calendar, changes)
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

/**
 * Moves the pilgrim's points on the operators' map to the middle of their cell of zoom 14 and to the start of their day.
 * Points of a cell that fewer than the crowd share on that day are dropped, because they would be a person's trail.
 */
async function coarsenCells(
  tx: Writer,
  userId: string,
  points: readonly FoldPoint[],
  calendar: Calendar,
  crowd: number,
  changes: CellChanges,
): Promise<void> {
  const shared = new Map<string, Set<string> | null>()
  const kept = new Map<string, { hour: number; x: number; y: number; points: number }>()
  for (const { t, lat, lng } of points) {
    changes.removePoint(calendar.hourStart(t), { lat, lng })
    const day = calendar.day(t)
    const [hour] = calendar.span(day)
    const cell = cellAt(lat, lng, KEPT_ZOOM)
    if (!shared.has(day))
      shared.set(day, crowd === 1 ? null : await sharedCells(tx, userId, day, calendar, crowd))
    if (shared.get(day)?.has(`${cell.y} ${cell.x}`) === false) continue
    const middle = cellCentre(cell)
    changes.addPoint(hour, middle)
    const { x, y } = cellAt(middle.lat, middle.lng, MAX_ZOOM)
    kept.getOrInsertComputed(`${hour} ${y} ${x}`, () => ({ hour, x, y, points: 0 })).points++
  }
  await tx.execute(sql`
    INSERT INTO erased_cells AS c (hour, x, y, points)
    SELECT to_timestamp(hour / 1000), x, y, points
    FROM jsonb_to_recordset(${JSON.stringify([...kept.values()])}::jsonb)
      AS e (hour float8, x int, y int, points int)
    ORDER BY hour, y, x
    ON CONFLICT (hour, y, x) DO UPDATE SET points = c.points + excluded.points`)
}

/** Cells of a day in which enough of some other pilgrims have a point. Reading everybody's points would take minutes. */
async function sharedCells(
  tx: Writer,
  userId: string,
  day: string,
  calendar: Calendar,
  crowd: number,
): Promise<Set<string>> {
  const [from, to] = calendar.span(day).map((ms) => new Date(ms).toISOString())
  const perDegree = sql.raw(`${FINEST_PER_DEGREE / 2 ** (MAX_ZOOM - KEPT_ZOOM)}`)
  const rows = await tx.execute<{ cell: string }>(sql`
    SELECT y || ' ' || x AS cell FROM (
      SELECT DISTINCT user_id, floor((lat + 90) * ${perDegree})::int AS y, floor((lng + 180) * ${perDegree})::int AS x
      FROM gps_points WHERE in_range AND sent_at >= ${from}::timestamptz AND sent_at < ${to}::timestamptz
        AND user_id IN (
          SELECT user_id FROM pilgrim_days WHERE user_id <> ${userId} AND day = ${day} LIMIT ${OTHERS * crowd})
    ) others GROUP BY y, x HAVING count(*) >= ${crowd - 1}`)
  return new Set(rows.map(({ cell }) => cell))
}

/** Has the next flush make the changes, and remove the pilgrim from their latest cell. */
async function leaveMap(tx: Writer, userId: string, calendar: Calendar, changes: CellChanges): Promise<void> {
  const [last] = await tx.execute<{ t: number | null; lat: number; lng: number }>(sql`
    SELECT (extract(epoch FROM last_seen) * 1000)::float8 AS t, last_lat AS lat, last_lng AS lng
    FROM pilgrim_totals WHERE user_id = ${userId}`)
  if (last !== undefined && last.t !== null) changes.removePilgrim(calendar.hourStart(last.t), last)
  const packed = changes.pack()
  if (packed !== '')
    await tx.execute(sql`INSERT INTO cell_changes (changes) VALUES (decode(${packed}, 'base64'))`)
}

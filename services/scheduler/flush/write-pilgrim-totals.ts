/** Writes a fold's changes to pilgrims' totals and days, in the same order in every flush. */
import type { Query } from '#shared/db/db.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import type { DayChange } from '#shared/fold/refold.ts'
import { addTotals, zeroTotals } from '#shared/fold/point-totals.ts'
import type { PilgrimChange } from './fold-points.ts'
import type { Move } from './latest-positions.ts'
import { type News, writeEventTotals } from './write-event-totals.ts'

const HOUR_MS = 3_600_000

/**
 * @param changes in the order of the pilgrims' ids; this transaction holds the locks of their rows
 * @param moves changes of their latest positions, in the same order
 */
export async function writePilgrimTotals(
  tx: Query,
  changes: readonly PilgrimChange[],
  moves: readonly Move[],
  calendar: Calendar,
): Promise<void> {
  if (changes.length === 0) return
  await writeTotals(tx, changes, moves)
  const news = await writeDays(tx, changes, calendar)
  await writeEventTotals(tx, changes, news)
}

async function writeTotals(
  tx: Query,
  changes: readonly PilgrimChange[],
  moves: readonly Move[],
): Promise<void> {
  const sums = changes.map(({ days }) => {
    const total = zeroTotals()
    for (const { delta } of days) addTotals(total, delta)
    return total
  })
  const latest = moves.map(({ to }) => to)
  await tx`
    UPDATE pilgrim_totals t SET
      points = t.points + c.points, checkins = t.checkins + c.checkins,
      distance_mm = t.distance_mm + c.mm::bigint, carbon_mg = t.carbon_mg + c.mg::bigint,
      first_seen = least(t.first_seen, to_timestamp(c.first_ms / 1000)),
      last_seen = to_timestamp(c.last_ms / 1000), last_lat = c.lat, last_lng = c.lng
    FROM unnest(
      ${changes.map(({ userId }) => userId)}::text[], ${sums.map((s) => s.points)}::int[],
      ${sums.map((s) => s.checkins)}::int[], ${sums.map((s) => s.distanceMm)}::float8[],
      ${sums.map((s) => s.carbonMg)}::float8[], ${changes.map(({ earliest }) => earliest.t)}::float8[],
      ${latest.map(({ t }) => t)}::float8[], ${latest.map(({ lat }) => lat)}::float8[],
      ${latest.map(({ lng }) => lng)}::float8[]
    ) AS c (user_id, points, checkins, mm, mg, first_ms, last_ms, lat, lng)
    WHERE t.user_id = c.user_id`
}

/** A row of a pilgrim's day. `hours`: bit n is set for new points in the n-th hour after its start. */
interface DayRow extends DayChange {
  readonly userId: string
  readonly startMs: number
  readonly hours: number
}

async function writeDays(tx: Query, changes: readonly PilgrimChange[], calendar: Calendar): Promise<News[]> {
  const rows = changes.flatMap(({ userId, days }) =>
    days.map((change): DayRow => {
      const [startMs] = calendar.span(change.day)
      let hours = 0
      for (const [hour, { points }] of change.delta.hours)
        if (points > 0) hours |= 1 << Math.round((hour - startMs) / HOUR_MS)
      return { ...change, userId, startMs, hours }
    }),
  )
  const stored = new Map<string, number>()
  for (const { user_id, day, hours } of await upsertDays(tx, rows)) stored.set(`${user_id} ${day}`, hours)
  return rows.map(({ userId, day, startMs, hours }) => {
    const before = stored.get(`${userId} ${day}`)
    const news = hours & ~(before ?? 0)
    const newHours: number[] = []
    for (let bit = 0; news >> bit > 0; bit++)
      if (news & (1 << bit)) newHours.push(calendar.hourStart(startMs + bit * HOUR_MS))
    return { day, newDay: before === undefined, newHours }
  })
}

/** Adds to days or inserts them. @returns the previous `hours` of the days that existed */
function upsertDays(tx: Query, rows: readonly DayRow[]) {
  const deltas = rows.map(({ delta }) => delta)
  const anchors = rows.map(({ end }) => end.anchor)
  const befores = rows.map(({ end }) => end.before)
  return tx<{ user_id: string; day: string; hours: number }[]>`
    WITH c AS MATERIALIZED (
      SELECT u.*, u.day_name::date AS day FROM unnest(
        ${rows.map(({ userId }) => userId)}::text[], ${rows.map(({ day }) => day)}::text[],
        ${deltas.map((d) => d.points)}::int[], ${deltas.map((d) => d.checkins)}::int[],
        ${deltas.map((d) => d.distanceMm)}::float8[], ${deltas.map((d) => d.carbonMg)}::float8[],
        ${rows.map(({ hours }) => hours)}::int[],
        ${anchors.map((a) => a?.lat ?? null)}::float8[], ${anchors.map((a) => a?.lng ?? null)}::float8[],
        ${anchors.map((a) => a?.t ?? null)}::float8[],
        ${befores.map((b) => b?.lat ?? null)}::float8[], ${befores.map((b) => b?.lng ?? null)}::float8[],
        ${befores.map((b) => b?.t ?? null)}::float8[]
      ) AS u (user_id, day_name, points, checkins, mm, mg, hours, a_lat, a_lng, a_ms, b_lat, b_lng, b_ms)
    ), upserted AS (
      INSERT INTO pilgrim_days AS d (user_id, day, points, checkins, distance_mm, carbon_mg, hours,
        anchor_lat, anchor_lng, anchor_at, before_lat, before_lng, before_at)
      SELECT user_id, day, points, checkins, mm::bigint, mg::bigint, hours,
        a_lat, a_lng, to_timestamp(a_ms / 1000), b_lat, b_lng, to_timestamp(b_ms / 1000)
      FROM c ORDER BY user_id, day
      ON CONFLICT (user_id, day) DO UPDATE SET
        points = d.points + excluded.points, checkins = d.checkins + excluded.checkins,
        distance_mm = d.distance_mm + excluded.distance_mm, carbon_mg = d.carbon_mg + excluded.carbon_mg,
        hours = d.hours | excluded.hours,
        anchor_lat = excluded.anchor_lat, anchor_lng = excluded.anchor_lng, anchor_at = excluded.anchor_at,
        before_lat = excluded.before_lat, before_lng = excluded.before_lng, before_at = excluded.before_at
    )
    -- All parts of a statement see the table as it was before the statement.
    SELECT c.user_id, c.day_name AS day, d.hours FROM c JOIN pilgrim_days d USING (user_id, day)`
}

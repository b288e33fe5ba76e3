/** Writes what a fold has planned: days, totals and the event's sums, in sorted order. */
import type { Query } from '#shared/db/db.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import type { Mode } from '#shared/rules/carbon.ts'
import { addSums, entryOf, type ModeSums, noSums, type Sums } from '#shared/rules/tally.ts'
import type { PilgrimChange } from './fold-points.ts'

const HOUR_MS = 3_600_000

/** Anything with a pilgrim, in the order in which every flush locks rows, so that two cannot deadlock. */
const byUser = (a: { readonly userId: string }, b: { readonly userId: string }): number =>
  a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : 0

/** @param changes in any order; the rows of their pilgrims are locked by this transaction */
export async function writeChanges(
  tx: Query,
  changes: readonly PilgrimChange[],
  calendar: Calendar,
): Promise<void> {
  if (changes.length === 0) return
  const sorted = [...changes].sort(byUser)
  await writeTotals(tx, sorted)
  const news = await writeDays(tx, sorted, calendar)
  await writeEventSums(tx, sorted, news, calendar)
}

async function writeTotals(tx: Query, changes: readonly PilgrimChange[]): Promise<void> {
  const sums = changes.map(({ days }) => {
    const total = noSums()
    for (const { delta } of days) addSums(total, delta)
    return total
  })
  await tx`
    UPDATE pilgrim_totals t SET
      points = t.points + c.points, checkins = t.checkins + c.checkins,
      distance_mm = t.distance_mm + c.mm::bigint, carbon_mg = t.carbon_mg + c.mg::bigint,
      first_seen = least(t.first_seen, to_timestamp(c.first_ms / 1000)),
      last_seen = greatest(t.last_seen, to_timestamp(c.last_ms / 1000)),
      last_lat = CASE WHEN t.last_seen > to_timestamp(c.last_ms / 1000) THEN t.last_lat ELSE c.lat END,
      last_lng = CASE WHEN t.last_seen > to_timestamp(c.last_ms / 1000) THEN t.last_lng ELSE c.lng END
    FROM unnest(
      ${changes.map(({ userId }) => userId)}::text[], ${sums.map((s) => s.points)}::int[],
      ${sums.map((s) => s.checkins)}::int[], ${sums.map((s) => s.distanceMm)}::float8[],
      ${sums.map((s) => s.carbonMg)}::float8[], ${changes.map(({ earliest }) => earliest.t)}::float8[],
      ${changes.map(({ latest }) => latest.t)}::float8[], ${changes.map(({ latest }) => latest.lat)}::float8[],
      ${changes.map(({ latest }) => latest.lng)}::float8[]
    ) AS c (user_id, points, checkins, mm, mg, first_ms, last_ms, lat, lng)
    WHERE t.user_id = c.user_id`
}

/** A pilgrim that is new on a day, and the hours in which they are new. */
interface News {
  readonly day: string
  readonly newDay: boolean
  readonly newHours: readonly number[]
}

async function writeDays(tx: Query, changes: readonly PilgrimChange[], calendar: Calendar): Promise<News[]> {
  const rows = changes.flatMap(({ userId, days }) =>
    days.map(({ day, delta, end }) => {
      const [start] = calendar.span(day)
      const hours = [...delta.hours]
        .filter(([, sums]) => sums.points > 0)
        .map(([hour]) => Math.round((hour - start) / HOUR_MS))
      return { userId, day, delta, end, start, mask: hours.reduce((mask, hour) => mask | (1 << hour), 0) }
    }),
  )
  const written = await tx<{ user_id: string; day: string; added: boolean; old_hours: number }[]>`
    WITH c AS MATERIALIZED (
      SELECT * FROM unnest(
        ${rows.map((r) => r.userId)}::text[], ${rows.map((r) => r.day)}::text[],
        ${rows.map((r) => r.delta.points)}::int[], ${rows.map((r) => r.delta.checkins)}::int[],
        ${rows.map((r) => r.delta.distanceMm)}::float8[], ${rows.map((r) => r.delta.carbonMg)}::float8[],
        ${rows.map((r) => r.mask)}::int[],
        ${rows.map((r) => r.end.anchor!.lat)}::float8[], ${rows.map((r) => r.end.anchor!.lng)}::float8[],
        ${rows.map((r) => r.end.anchor!.t)}::float8[],
        ${rows.map((r) => r.end.before?.lat ?? null)}::float8[], ${rows.map((r) => r.end.before?.lng ?? null)}::float8[],
        ${rows.map((r) => r.end.before?.t ?? null)}::float8[]
      ) AS c (user_id, day, points, checkins, mm, mg, hours, a_lat, a_lng, a_ms, b_lat, b_lng, b_ms)
    ), held AS (
      SELECT d.user_id, d.day, d.hours FROM c JOIN pilgrim_days d ON d.user_id = c.user_id AND d.day = c.day::date
    ), upserted AS (
      INSERT INTO pilgrim_days AS d (user_id, day, points, checkins, distance_mm, carbon_mg, hours,
        anchor_lat, anchor_lng, anchor_at, before_lat, before_lng, before_at)
      SELECT user_id, day::date, points, checkins, mm::bigint, mg::bigint, hours,
        a_lat, a_lng, to_timestamp(a_ms / 1000), b_lat, b_lng, to_timestamp(b_ms / 1000)
      FROM c ORDER BY user_id, day
      ON CONFLICT (user_id, day) DO UPDATE SET
        points = d.points + excluded.points, checkins = d.checkins + excluded.checkins,
        distance_mm = d.distance_mm + excluded.distance_mm, carbon_mg = d.carbon_mg + excluded.carbon_mg,
        hours = d.hours | excluded.hours,
        anchor_lat = excluded.anchor_lat, anchor_lng = excluded.anchor_lng, anchor_at = excluded.anchor_at,
        before_lat = excluded.before_lat, before_lng = excluded.before_lng, before_at = excluded.before_at
      RETURNING 1
    )
    SELECT c.user_id, c.day, h.user_id IS NULL AS added, coalesce(h.hours, 0) AS old_hours
    FROM c LEFT JOIN held h ON h.user_id = c.user_id AND h.day = c.day::date`
  const before = new Map(written.map((row) => [`${row.user_id} ${row.day}`, row]))
  return rows.map(({ userId, day, start, mask }) => {
    const { added, old_hours } = before.get(`${userId} ${day}`)!
    const fresh = mask & ~old_hours
    const newHours: number[] = []
    for (let bit = 0; bit < 31; bit++) if (fresh & (1 << bit)) newHours.push(start + bit * HOUR_MS)
    return { day, newDay: added, newHours }
  })
}

async function writeEventSums(
  tx: Query,
  changes: readonly PilgrimChange[],
  news: readonly News[],
  calendar: Calendar,
): Promise<void> {
  const hours = new Map<number, Sums & { pilgrims: number }>()
  const modes = new Map<string, ModeSums & { day: string; mode: Mode }>()
  const days = new Map<string, number>()
  const hourOf = (hour: number) => entryOf(hours, hour, () => ({ ...noSums(), pilgrims: 0 }))
  for (const { days: changed } of changes)
    for (const { day, delta } of changed) {
      for (const [hour, sums] of delta.hours) addSums(hourOf(hour), sums)
      for (const [mode, sums] of delta.modes) {
        const mine = entryOf(modes, `${day} ${mode}`, () => ({ day, mode, distanceMm: 0, carbonMg: 0 }))
        mine.distanceMm += sums.distanceMm
        mine.carbonMg += sums.carbonMg
      }
    }
  for (const { day, newDay, newHours } of news) {
    if (newDay) days.set(day, (days.get(day) ?? 0) + 1)
    for (const hour of newHours) hourOf(calendar.hourStart(hour)).pilgrims++
  }
  const hourRows = [...hours].sort(([a], [b]) => a - b)
  await tx`
    INSERT INTO event_hours AS h (hour, points, checkins, pilgrims, distance_mm, carbon_mg)
    SELECT to_timestamp(hour_ms / 1000), points, checkins, pilgrims, mm::bigint, mg::bigint FROM unnest(
      ${hourRows.map(([hour]) => hour)}::float8[], ${hourRows.map(([, s]) => s.points)}::int[],
      ${hourRows.map(([, s]) => s.checkins)}::int[], ${hourRows.map(([, s]) => s.pilgrims)}::int[],
      ${hourRows.map(([, s]) => s.distanceMm)}::float8[], ${hourRows.map(([, s]) => s.carbonMg)}::float8[]
    ) AS c (hour_ms, points, checkins, pilgrims, mm, mg) ORDER BY hour_ms
    ON CONFLICT (hour) DO UPDATE SET
      points = h.points + excluded.points, checkins = h.checkins + excluded.checkins,
      pilgrims = h.pilgrims + excluded.pilgrims,
      distance_mm = h.distance_mm + excluded.distance_mm, carbon_mg = h.carbon_mg + excluded.carbon_mg`
  const modeRows = [...modes.values()]
  await tx`
    INSERT INTO event_modes AS m (day, mode, distance_mm, carbon_mg)
    SELECT day::date, mode, mm::bigint, mg::bigint FROM unnest(
      ${modeRows.map((m) => m.day)}::text[], ${modeRows.map((m) => m.mode)}::text[],
      ${modeRows.map((m) => m.distanceMm)}::float8[], ${modeRows.map((m) => m.carbonMg)}::float8[]
    ) AS c (day, mode, mm, mg) ORDER BY day, mode
    ON CONFLICT (day, mode) DO UPDATE SET
      distance_mm = m.distance_mm + excluded.distance_mm, carbon_mg = m.carbon_mg + excluded.carbon_mg`
  await tx`
    INSERT INTO event_days AS d (day, pilgrims)
    SELECT day::date, pilgrims FROM unnest(${[...days.keys()]}::text[], ${[...days.values()]}::int[]) AS c (day, pilgrims)
    ORDER BY day
    ON CONFLICT (day) DO UPDATE SET pilgrims = d.pilgrims + excluded.pilgrims`
}

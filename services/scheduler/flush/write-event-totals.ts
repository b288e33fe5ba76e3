/** Adds a fold's changes to the event's totals: by hour, by day and mode, by day. */
import type { Query } from '#shared/db/db.ts'
import type { Mode } from '#shared/rules/carbon.ts'
import { addTotals, type ModeTotals, zeroTotals, type Totals } from '#shared/fold/point-totals.ts'
import type { PilgrimChange } from './fold-points.ts'

/** Whether a pilgrim is new on a day, and the starts of the hours in which they are new (epoch milliseconds). */
export interface News {
  readonly day: string
  readonly newDay: boolean
  readonly newHours: readonly number[]
}

type HourTotals = Totals & { pilgrims: number }
type DayModeSums = ModeTotals & { readonly day: string; readonly mode: Mode }

/** Locks the event's rows last and in sorted order, because every flush adds to the current hour. */
export async function writeEventTotals(
  tx: Query,
  changes: readonly PilgrimChange[],
  news: readonly News[],
): Promise<void> {
  const hours = new Map<number, HourTotals>()
  const modes = new Map<string, DayModeSums>()
  const days = new Map<string, number>()
  const hourOf = (hour: number) => hours.getOrInsertComputed(hour, () => ({ ...zeroTotals(), pilgrims: 0 }))
  for (const { days: changed } of changes)
    for (const { day, delta } of changed) {
      for (const [hour, sums] of delta.hours) addTotals(hourOf(hour), sums)
      for (const [mode, sums] of delta.modes) {
        const mine = modes.getOrInsertComputed(`${day} ${mode}`, () => ({
          day,
          mode,
          distanceMm: 0,
          carbonMg: 0,
        }))
        mine.distanceMm += sums.distanceMm
        mine.carbonMg += sums.carbonMg
      }
    }
  for (const { day, newDay, newHours } of news) {
    if (newDay) days.set(day, (days.get(day) ?? 0) + 1)
    for (const hour of newHours) hourOf(hour).pilgrims++
  }
  await writeHours(tx, [...hours])
  await writeModes(tx, [...modes.values()])
  await writePilgrims(tx, [...days])
}

const writeHours = (tx: Query, hours: readonly (readonly [hour: number, sums: HourTotals])[]) => tx`
  INSERT INTO event_hours AS h (hour, points, checkins, pilgrims, distance_mm, carbon_mg)
  SELECT to_timestamp(hour_ms / 1000), points, checkins, pilgrims, mm::bigint, mg::bigint FROM unnest(
    ${hours.map(([hour]) => hour)}::float8[], ${hours.map(([, s]) => s.points)}::int[],
    ${hours.map(([, s]) => s.checkins)}::int[], ${hours.map(([, s]) => s.pilgrims)}::int[],
    ${hours.map(([, s]) => s.distanceMm)}::float8[], ${hours.map(([, s]) => s.carbonMg)}::float8[]
  ) AS c (hour_ms, points, checkins, pilgrims, mm, mg) ORDER BY hour_ms
  ON CONFLICT (hour) DO UPDATE SET
    points = h.points + excluded.points, checkins = h.checkins + excluded.checkins,
    pilgrims = h.pilgrims + excluded.pilgrims,
    distance_mm = h.distance_mm + excluded.distance_mm, carbon_mg = h.carbon_mg + excluded.carbon_mg`

const writeModes = (tx: Query, modes: readonly DayModeSums[]) => tx`
  INSERT INTO event_modes AS m (day, mode, distance_mm, carbon_mg)
  SELECT day::date, mode, mm::bigint, mg::bigint FROM unnest(
    ${modes.map((m) => m.day)}::text[], ${modes.map((m) => m.mode)}::text[],
    ${modes.map((m) => m.distanceMm)}::float8[], ${modes.map((m) => m.carbonMg)}::float8[]
  ) AS c (day, mode, mm, mg) ORDER BY day, mode
  ON CONFLICT (day, mode) DO UPDATE SET
    distance_mm = m.distance_mm + excluded.distance_mm, carbon_mg = m.carbon_mg + excluded.carbon_mg`

const writePilgrims = (tx: Query, days: readonly (readonly [day: string, pilgrims: number])[]) => tx`
  INSERT INTO event_days AS d (day, pilgrims)
  SELECT day::date, pilgrims FROM unnest(
    ${days.map(([day]) => day)}::text[], ${days.map(([, pilgrims]) => pilgrims)}::int[]
  ) AS c (day, pilgrims) ORDER BY day
  ON CONFLICT (day) DO UPDATE SET pilgrims = d.pilgrims + excluded.pilgrims`

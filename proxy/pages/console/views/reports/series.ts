/** Rows of the timeline as series of a chart. */
import type { Data } from '#shared/client/index.ts'
import { instantOf } from '../../clock.ts'

export type Timeline = Data<'readTimeline'>

export const SERIES = ['points', 'checkins', 'pilgrims', 'km', 'carbon_kg'] as const
export type Series = (typeof SERIES)[number]
export type Grain = 'hours' | 'days'

export interface Row extends Readonly<Record<Series, number>> {
  /** Start of the hour or day, epoch seconds. */
  readonly t: number
  /** As the service names it: an instant, or a day of the event's zone. */
  readonly name: string
}

const HOUR_S = 3_600

/** Hours, with zeros where nothing happened, or days. A day is placed at its noon. */
export function rowsOf({ hours, days }: Timeline, grain: Grain): Row[] {
  if (grain === 'days')
    return days.map((row) => ({
      ...row,
      t: Date.parse(instantOf(`${row.day}T12:00`)) / 1_000,
      name: row.day,
    }))
  const known = hours.map((row) => ({ ...row, t: Date.parse(row.hour) / 1_000, name: row.hour }))
  const byTime = new Map(known.map((row) => [row.t, row]))
  const [first, last] = [known[0]?.t, known.at(-1)?.t]
  if (first === undefined || last === undefined) return []
  const rows: Row[] = []
  // An event lasts some days; points of wrong clocks must not make a chart of years.
  const step = Math.max(HOUR_S, Math.ceil((last - first) / 2_000 / HOUR_S) * HOUR_S)
  for (let t = first; t <= last; t += step)
    rows.push(byTime.get(t) ?? { ...EMPTY, t, name: new Date(t * 1_000).toISOString() })
  return rows
}

const EMPTY = { points: 0, checkins: 0, pilgrims: 0, km: 0, carbon_kg: 0 }

/** Sums of the rows in a time. Pilgrims are not added up: who walks in two hours is one pilgrim. */
export function sumBetween(rows: readonly Row[], from: number, to: number): Readonly<Record<Series, number>> {
  const sums = { ...EMPTY }
  for (const row of rows)
    if (row.t >= from && row.t <= to) {
      for (const name of SERIES)
        if (name === 'pilgrims') sums.pilgrims = Math.max(sums.pilgrims, row.pilgrims)
        else sums[name] += row[name]
    }
  return sums
}

/** The first of the rows with the most in a time, or null where nothing is. */
export function highestBetween(rows: readonly Row[], series: Series, from: number, to: number): Row | null {
  const within = rows.filter(({ t }) => t >= from && t <= to)
  return within.reduce<Row | null>((most, row) => (row[series] > (most?.[series] ?? 0) ? row : most), null)
}

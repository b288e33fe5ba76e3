/** Totals of one pilgrim and of all, recomputed directly, in the form of the responses. */
import type { TotalsByPeriod } from '#tests/distance/reference-fold.ts'

export interface Reports {
  readonly consumption: Readonly<Record<string, number>>
  readonly transport: Readonly<Record<string, number>>
}

export const km = (mm: number): number => Math.floor(mm / 1e4) / 100
/** Kilometres as rounded in a row of a report. */
export const kmOfRow = (mm: number): number => Math.round(mm / 1e3) / 1_000
export const kg = (mg: number): number => Math.round(mg / 1e3) / 1_000

/** Milligrams per piece and per millimetre, from the specification's table. */
const PIECES: Record<string, number> = { water: 109_740, recycle: -2_650, hotel: 8_850_000 }
const DISTANCES: Record<string, number> = {
  walk: 0,
  car: 0.30479,
  scooter: 0.13734,
  bus: 0.47515,
  hsr: 0.07487,
}

type Amount = { mm: number; mg: number }

/** Carbon of a report; an unknown mode counts as bus. */
export function carbonOf({ consumption, transport }: Reports) {
  const modes: Record<string, Amount> = {}
  for (const [name, distance] of Object.entries(transport)) {
    const mode = (modes[name in DISTANCES ? name : 'bus'] ??= { mm: 0, mg: 0 })
    const mm = Math.round(distance * 1e6)
    mode.mm += mm
    mode.mg += Math.round(mm * (DISTANCES[name] ?? DISTANCES.bus!))
  }
  const all = Object.values(modes)
  const transportMg = all.reduce((sum, { mg }) => sum + mg, 0)
  const piecesMg = Object.entries(consumption).reduce((sum, [name, count]) => sum + count * PIECES[name]!, 0)
  return { modes, mm: all.reduce((sum, { mm }) => sum + mm, 0), transportMg, mg: transportMg + piecesMg }
}

export interface Figures extends Amount {
  readonly points: number
  readonly checkins: number
  readonly lastMs: number
}

/** One pilgrim's own. */
export function figuresOf({ days }: TotalsByPeriod): Figures {
  const all = Object.values(days)
  const sum = (figure: 'points' | 'checkins' | 'distanceMm' | 'carbonMg') =>
    all.reduce((total, day) => total + day[figure], 0)
  return {
    points: sum('points'),
    checkins: sum('checkins'),
    mm: sum('distanceMm'),
    mg: sum('carbonMg'),
    lastMs: Math.max(...all.map(({ end }) => end.anchor!.t)),
  }
}

type Row = { points: number; checkins: number; pilgrims: number; distanceMm: number; carbonMg: number }

function addUp(entries: readonly (readonly [string, Omit<Row, 'pilgrims'>])[]): [key: string, row: Row][] {
  const rows = new Map<string, Row>()
  for (const [key, { points, checkins, distanceMm, carbonMg }] of entries) {
    const row = rows.get(key) ?? { points: 0, checkins: 0, pilgrims: 0, distanceMm: 0, carbonMg: 0 }
    row.points += points
    row.checkins += checkins
    row.distanceMm += distanceMm
    row.carbonMg += carbonMg
    if (points > 0) row.pilgrims++
    rows.set(key, row)
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1))
}

const shown = ({ points, checkins, pilgrims, distanceMm, carbonMg }: Row) => ({
  points,
  checkins,
  pilgrims,
  km: kmOfRow(distanceMm),
  carbon_kg: kg(carbonMg),
})

/** The whole event's. */
export function eventOf(periods: readonly TotalsByPeriod[]) {
  const days = addUp(periods.flatMap((one) => Object.entries(one.days)))
  const hours = addUp(
    periods.flatMap((one) =>
      Object.entries(one.hours).map(([hour, sums]) => [new Date(Number(hour)).toISOString(), sums] as const),
    ),
  )
  const modes: Record<string, Amount> = {}
  const modeDays: Record<string, Amount> = {}
  for (const [key, { distanceMm, carbonMg }] of periods.flatMap((one) => Object.entries(one.modes))) {
    const [day, mode] = key.split(' ') as [string, string]
    for (const amount of [(modes[mode] ??= { mm: 0, mg: 0 }), (modeDays[day] ??= { mm: 0, mg: 0 })]) {
      amount.mm += distanceMm
      amount.mg += carbonMg
    }
  }
  return {
    mm: days.reduce((sum, [, row]) => sum + row.distanceMm, 0),
    mg: days.reduce((sum, [, row]) => sum + row.carbonMg, 0),
    days: days.map(([day, row]) => ({ day, ...shown(row) })),
    hours: hours.map(([hour, row]) => ({ hour, ...shown(row) })),
    modes,
    modeDays: Object.entries(modeDays)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, amount]) => ({ day, ...amount })),
  }
}

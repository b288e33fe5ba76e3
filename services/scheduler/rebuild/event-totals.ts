/** The totals of the whole event, erased people's contributions included. */
import type { Query } from '#shared/stores/db/db.ts'
import {
  addTotals,
  type DayChange,
  type ModeTotals,
  type Totals,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import { type Differences, readable, type Row, type Table } from './differences.ts'
import { EVENT_DAYS, EVENT_HOURS, EVENT_MODES } from './tables.ts'

type HourTotals = Totals & { pilgrims: number }

/** Adds up the days of pilgrims. The size is bounded by the event's hours, days and modes. */
export class EventTotals {
  readonly #hours = new Map<number, HourTotals>()
  readonly #days = new Map<string, { pilgrims: number }>()
  readonly #modes = new Map<string, ModeTotals & { day: string; mode: string }>()

  /** Adds all days of one pilgrim. */
  add(days: readonly DayChange[]): void {
    for (const { day, delta } of days) {
      this.#days.getOrInsertComputed(day, () => ({ pilgrims: 0 })).pilgrims++
      for (const [hour, sums] of delta.hours)
        this.#addHour(hour, { ...sums, pilgrims: sums.points > 0 ? 1 : 0 })
      for (const [mode, sums] of delta.modes) this.#addMode(day, mode, sums)
    }
  }

  /** Adds the stored totals of erased people. */
  async addErased(tx: Query): Promise<void> {
    for (const row of await rowsOf(tx, { ...EVENT_HOURS, name: 'erased_hours' }))
      this.#addHour(row.hour as number, { ...sumsOf(row), pilgrims: row.pilgrims as number })
    for (const { day, pilgrims } of await rowsOf(tx, { ...EVENT_DAYS, name: 'erased_days' }))
      this.#days.getOrInsertComputed(day as string, () => ({ pilgrims: 0 })).pilgrims += pilgrims as number
    for (const row of await rowsOf(tx, { ...EVENT_MODES, name: 'erased_modes' }))
      this.#addMode(row.day as string, row.mode as string, sumsOf(row))
  }

  async reconcile(tx: Query, differences: Differences): Promise<void> {
    const hours = [...this.#hours].map(([hour, { pilgrims, ...sums }]) => ({
      hour,
      pilgrims,
      ...rowOf(sums),
    }))
    const days = [...this.#days].map(([day, { pilgrims }]) => ({ day, pilgrims }))
    const modes = [...this.#modes.values()].map(({ day, mode, distanceMm, carbonMg }) => ({
      day,
      mode,
      distance_mm: distanceMm,
      carbon_mg: carbonMg,
    }))
    await differences.reconcile(tx, EVENT_HOURS, hours, await rowsOf(tx, EVENT_HOURS))
    await differences.reconcile(tx, EVENT_DAYS, days, await rowsOf(tx, EVENT_DAYS))
    await differences.reconcile(tx, EVENT_MODES, modes, await rowsOf(tx, EVENT_MODES))
  }

  #addHour(hour: number, sums: HourTotals): void {
    const mine = this.#hours.getOrInsertComputed(hour, () => ({ ...zeroTotals(), pilgrims: 0 }))
    addTotals(mine, sums)
    mine.pilgrims += sums.pilgrims
  }

  #addMode(day: string, mode: string, { distanceMm, carbonMg }: ModeTotals): void {
    const mine = this.#modes.getOrInsertComputed(`${day} ${mode}`, () => ({
      day,
      mode,
      distanceMm: 0,
      carbonMg: 0,
    }))
    mine.distanceMm += distanceMm
    mine.carbonMg += carbonMg
  }
}

const rowsOf = async (tx: Query, table: Table): Promise<Row[]> => [
  ...(await tx.unsafe<Row[]>(
    `SELECT ${readable(table)} FROM ${table.name} ORDER BY ${table.key.join(', ')}`,
  )),
]

/** The columns of a row for sums. */
export const rowOf = ({ points, checkins, distanceMm, carbonMg }: Totals) => ({
  points,
  checkins,
  distance_mm: distanceMm,
  carbon_mg: carbonMg,
})

const sumsOf = (row: Row): Totals => ({
  points: (row.points ?? 0) as number,
  checkins: (row.checkins ?? 0) as number,
  distanceMm: row.distance_mm as number,
  carbonMg: row.carbon_mg as number,
})

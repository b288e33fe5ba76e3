/** Totals of one pilgrim's points: the same figures for a day, an hour and a mode. */
import type { Mode } from '#shared/core/rules/carbon.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { fold, type FoldPoint, type FoldState } from './fold.ts'

/** Whole numbers: millimetres, milligrams, counts. */
export interface Totals {
  points: number
  checkins: number
  distanceMm: number
  carbonMg: number
}

export interface ModeTotals {
  distanceMm: number
  carbonMg: number
}

export interface DetailedTotals extends Totals {
  /** By start of the local hour, epoch milliseconds. */
  readonly hours: Map<number, Totals>
  readonly modes: Map<Mode, ModeTotals>
}

export const zeroTotals = (): Totals => ({ points: 0, checkins: 0, distanceMm: 0, carbonMg: 0 })
export const emptyDetailedTotals = (): DetailedTotals => ({
  ...zeroTotals(),
  hours: new Map(),
  modes: new Map(),
})

/** Adds `sign` times the figures. */
export function addTotals(into: Totals, sums: Totals, sign: 1 | -1 = 1): void {
  into.points += sign * sums.points
  into.checkins += sign * sums.checkins
  into.distanceMm += sign * sums.distanceMm
  into.carbonMg += sign * sums.carbonMg
}

/** Adds `sign` times the totals, hour by hour and mode by mode. */
export function addDetailedTotals(into: DetailedTotals, totals: DetailedTotals, sign: 1 | -1 = 1): void {
  addTotals(into, totals, sign)
  for (const [hour, sums] of totals.hours)
    addTotals(into.hours.getOrInsertComputed(hour, zeroTotals), sums, sign)
  for (const [mode, sums] of totals.modes) {
    const target = into.modes.getOrInsertComputed(mode, () => ({ distanceMm: 0, carbonMg: 0 }))
    target.distanceMm += sign * sums.distanceMm
    target.carbonMg += sign * sums.carbonMg
  }
}

/** Folds points (ordered, in the area) onto a state and adds up their totals. */
export function totalPoints(
  state: FoldState,
  points: readonly FoldPoint[],
  calendar: Calendar,
): { readonly totals: DetailedTotals; readonly end: FoldState } {
  const totals = emptyDetailedTotals()
  for (const { t, kind } of points) {
    const hour = totals.hours.getOrInsertComputed(calendar.hourStart(t), zeroTotals)
    const checkin = kind === 'c' ? 1 : 0
    hour.points++
    hour.checkins += checkin
    totals.points++
    totals.checkins += checkin
  }
  const end = fold(state, points, ({ t, distanceMm, carbonMg, mode }) => {
    const hour = totals.hours.getOrInsertComputed(calendar.hourStart(t), zeroTotals)
    const byMode = totals.modes.getOrInsertComputed(mode, () => ({ distanceMm: 0, carbonMg: 0 }))
    for (const sums of [totals, hour, byMode]) {
      sums.distanceMm += distanceMm
      sums.carbonMg += carbonMg
    }
  })
  return { totals, end }
}

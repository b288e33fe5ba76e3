/** Totals of one pilgrim's points: the same figures for a day, an hour and a mode. */
import type { Mode } from '#shared/rules/carbon.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { fold, type FoldPoint, type FoldState } from '#shared/fold/fold.ts'

/** Whole numbers: millimetres, milligrams, counts. */
export interface Sums {
  points: number
  checkins: number
  distanceMm: number
  carbonMg: number
}

export interface ModeSums {
  distanceMm: number
  carbonMg: number
}

export interface Tally extends Sums {
  /** By start of the local hour, epoch milliseconds. */
  readonly hours: Map<number, Sums>
  readonly modes: Map<Mode, ModeSums>
}

export const zeroSums = (): Sums => ({ points: 0, checkins: 0, distanceMm: 0, carbonMg: 0 })
export const emptyTotals = (): Tally => ({ ...zeroSums(), hours: new Map(), modes: new Map() })

/** Adds `sign` times the figures. */
export function addSums(into: Sums, sums: Sums, sign: 1 | -1 = 1): void {
  into.points += sign * sums.points
  into.checkins += sign * sums.checkins
  into.distanceMm += sign * sums.distanceMm
  into.carbonMg += sign * sums.carbonMg
}

/** Adds `sign` times the totals, hour by hour and mode by mode. */
export function addTotals(into: Tally, totals: Tally, sign: 1 | -1 = 1): void {
  addSums(into, totals, sign)
  for (const [hour, sums] of totals.hours) addSums(into.hours.getOrInsertComputed(hour, zeroSums), sums, sign)
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
): { readonly tally: Tally; readonly end: FoldState } {
  const tally = emptyTotals()
  for (const { t, kind } of points) {
    const hour = tally.hours.getOrInsertComputed(calendar.hourStart(t), zeroSums)
    const checkin = kind === 'c' ? 1 : 0
    hour.points++
    hour.checkins += checkin
    tally.points++
    tally.checkins += checkin
  }
  const end = fold(state, points, ({ t, distanceMm, carbonMg, mode }) => {
    const hour = tally.hours.getOrInsertComputed(calendar.hourStart(t), zeroSums)
    const byMode = tally.modes.getOrInsertComputed(mode, () => ({ distanceMm: 0, carbonMg: 0 }))
    for (const sums of [tally, hour, byMode]) {
      sums.distanceMm += distanceMm
      sums.carbonMg += carbonMg
    }
  })
  return { tally, end }
}

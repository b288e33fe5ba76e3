/**
 * What the tables hold of one pilgrim, and a flush onto it: the same reads and writes around `refold` as the
 * scheduler makes in SQL.
 */
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  addTotals,
  type DayChange,
  type FoldPoint,
  refold,
  type StoredDay,
  type Totals,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import type { TotalsByPeriod } from '../distance/reference-fold.ts'
import { identity } from './walks.ts'

/** A phone's clock may run this far ahead of the place in time of its check-in. */
const CLOCK_AHEAD_MS = 86_400_000

const isNothing = (sums: object): boolean => Object.values(sums).every((figure) => figure === 0)

function write(periods: TotalsByPeriod, { day, delta, end }: DayChange): void {
  const { hours, modes, ...sums } = delta
  const stored = (periods.days[day] ??= { ...zeroTotals(), end })
  addTotals(stored, sums)
  stored.end = end
  for (const [hour, sums] of hours) addTotals((periods.hours[hour] ??= zeroTotals()), sums)
  for (const [mode, { distanceMm, carbonMg }] of modes) {
    const sums = (periods.modes[`${day} ${mode}`] ??= { distanceMm: 0, carbonMg: 0 })
    sums.distanceMm += distanceMm
    sums.carbonMg += carbonMg
  }
}

/** One pilgrim without a point. */
export function createStoredPilgrim(calendar: Calendar) {
  const points = new Map<string, FoldPoint>()
  const periods: TotalsByPeriod = { days: {}, hours: {}, modes: {} }

  /** The days from `from` on, ascending, and the last one before it. */
  const readDays = (from: string): StoredDay[] => {
    const days = Object.keys(periods.days).sort()
    const first = days.findLast((day) => day < from) ?? from
    return days.filter((day) => day >= first).map((day) => ({ day, end: periods.days[day]!.end }))
  }

  const readPoints = (day: string): FoldPoint[] => {
    const [fromMs, toMs] = calendar.span(day)
    return [...points.values()].filter(
      ({ t, sentMs }) => t >= fromMs && t < toMs && sentMs >= fromMs && sentMs < toMs + CLOCK_AHEAD_MS,
    )
  }

  return {
    /** Stores a batch and folds what is new in it. Answers the days whose points had to be read again. */
    flush(batch: readonly FoldPoint[]): string[] {
      const added = new Map<string, FoldPoint>()
      for (const point of batch)
        if (!points.has(identity(point))) added.getOrInsertComputed(identity(point), () => point)
      if (added.size === 0) return []
      for (const [id, point] of added) points.set(id, point)

      const from = calendar.day(Math.min(...[...added.values()].map(({ t }) => t)))
      const plan = refold(readDays(from), [...added.values()], calendar)
      const reread: string[] = []
      let step = plan.next()
      while (!step.done) {
        reread.push(step.value)
        step = plan.next(readPoints(step.value).filter((point) => !added.has(identity(point))))
      }
      for (const change of step.value) write(periods, change)
      return reread
    },

    /** All that is stored; hours and modes that sum to nothing are left out. */
    periods(): TotalsByPeriod {
      const something = <T extends object>(record: Record<string, T>) =>
        Object.fromEntries(Object.entries(record).filter(([, sums]) => !isNothing(sums)))
      return { days: periods.days, hours: something(periods.hours), modes: something(periods.modes) }
    },

    totals(): Totals {
      const totals = zeroTotals()
      for (const day of Object.values(periods.days)) addTotals(totals, day)
      return totals
    },
  }
}

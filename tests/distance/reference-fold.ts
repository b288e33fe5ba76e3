/**
 * Reference implementation of a pilgrim's sums, computed from all points at once, as in shared/README.md and
 * the specification: the fold's pseudo-code line by line, with the specification's factors, and no state
 * between calls.
 */
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  type Fix,
  type FoldPoint,
  type FoldState,
  type ModeTotals,
  type Segment,
  type Totals,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import { distanceMm } from '#shared/core/rules/geo.ts'

/** All stored figures of a pilgrim, without empty entries. */
export interface TotalsByPeriod {
  readonly days: Record<string, Totals & { end: FoldState }>
  /** Totals by start of the local hour, epoch milliseconds. */
  readonly hours: Record<number, Totals>
  /** Totals by `day mode`. */
  readonly modes: Record<string, ModeTotals>
}

/** kg CO2e per km. */
const FACTORS: Record<Segment['mode'], number> = {
  walk: 0,
  car: 0.30479,
  scooter: 0.13734,
  bike: 0.0122,
  bus: 0.47515,
  mrt: 0.07575,
  train: 0.07575,
  hsr: 0.07487,
}

/** mm/ms → km/h is 3.6, kept in whole numbers. */
const isFaster = (mm: number, ms: number, kmh: number): boolean => mm * 3_600 > kmh * 1_000 * ms

/** A counted segment, or null for a skipped one. */
export function segmentOf(from: Fix, to: FoldPoint): Segment | null {
  const dt = to.t - from.t
  const mm = distanceMm(from, to)
  if (dt < 30_000 || mm < 10_000 || isFaster(mm, dt, 300)) return null
  const byMode = to.mode === null ? null : to.mode in FACTORS ? (to.mode as Segment['mode']) : 'bus'
  const mode = byMode ?? (isFaster(mm, dt, 15) ? 'bus' : 'walk')
  return { t: to.t, distanceMm: mm, carbonMg: Math.round(mm * FACTORS[mode]), mode }
}

const fix = ({ lat, lng, t }: Fix): Fix => ({ lat, lng, t })

/** One point per instant, in order: the check-in if there is one. */
function onePerInstant(points: readonly FoldPoint[]): FoldPoint[] {
  const byInstant = new Map<number, FoldPoint>()
  for (const point of points) {
    const taken = byInstant.get(point.t)
    const wins =
      taken === undefined ||
      (point.kind === taken.kind ? point.sentMs < taken.sentMs : point.kind === 'c' && taken.kind === 't')
    if (wins) byInstant.set(point.t, point)
  }
  return [...byInstant.values()].sort((a, b) => a.t - b.t)
}

/** Folds the points in order, and reports the state after each. */
export function plainFold(
  points: readonly FoldPoint[],
  count: (segment: Segment) => void,
  after: (p: FoldPoint, state: FoldState) => void = () => {},
): void {
  let anchor: Fix | null = null
  let before: Fix | null = null
  const take = (p: FoldPoint): void => {
    if (anchor === null) {
      anchor = fix(p)
      return
    }
    const dt = p.t - anchor.t
    const mm = distanceMm(anchor, p)
    if (dt < 30_000) return
    if (mm < 10_000) {
      anchor = { ...anchor, t: p.t }
      before = null
    } else if (isFaster(mm, dt, 300)) {
      if (before !== null && !isFaster(distanceMm(before, p), p.t - before.t, 300)) {
        anchor = before
        before = null
        take(p)
      } else {
        before = anchor
        anchor = fix(p)
      }
    } else {
      count(segmentOf(anchor, p)!)
      anchor = fix(p)
      before = null
    }
  }
  // A rough point is counted as a point, and changes nothing else.
  const exact = onePerInstant(points.filter(({ rough }) => !rough))
  for (const p of [...exact, ...points.filter(({ rough }) => rough)].sort((a, b) => a.t - b.t)) {
    if (!p.rough) take(p)
    after(p, { anchor, before })
  }
}

/** The totals of a set of points, in any order. */
export function recompute(points: readonly FoldPoint[], calendar: Calendar): TotalsByPeriod {
  const periods: TotalsByPeriod = { days: {}, hours: {}, modes: {} }
  const sumsOf = (t: number): Totals[] => [
    (periods.days[calendar.day(t)] ??= { ...zeroTotals(), end: { anchor: null, before: null } }),
    (periods.hours[calendar.hourStart(t)] ??= zeroTotals()),
  ]
  for (const { t, kind } of points)
    for (const sums of sumsOf(t)) {
      sums.points++
      if (kind === 'c') sums.checkins++
    }
  plainFold(
    points,
    (segment) => {
      const mode = (periods.modes[`${calendar.day(segment.t)} ${segment.mode}`] ??= {
        distanceMm: 0,
        carbonMg: 0,
      })
      for (const sums of [...sumsOf(segment.t), mode]) {
        sums.distanceMm += segment.distanceMm
        sums.carbonMg += segment.carbonMg
      }
    },
    (p, end) => {
      periods.days[calendar.day(p.t)]!.end = end
    },
  )
  return periods
}

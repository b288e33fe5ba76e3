/** Describes a day of one pilgrim as the fold counted it: the line, the stretches with their speed, the check-ins. */
import { time } from '#shared/contracts/fields.ts'
import type { OwnWalk } from '#shared/contracts/own-data.ts'
import { type Fix, fold, type FoldPoint, type FoldState, type Segment } from '#shared/fold/fold.ts'
import { distanceMm } from '#shared/rules/geo.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import type { DayCheckIn } from './read-day.ts'

export interface Day {
  /** Points inside the event's area, in the fold's order; without those that it leaves out because they are too soon. */
  readonly points: readonly FoldPoint[]
  /** The fold's state at the end of the day before. */
  readonly start: FoldState
  readonly checkIns: readonly DayCheckIn[]
}

/** A counted segment with the place and the time of both ends. */
interface Counted extends Segment {
  readonly from: Fix
  readonly to: Fix
  readonly inferred: boolean
}

interface Sum {
  readonly first: Counted
  last: Counted
  mm: number
  mg: number
  elapsedMs: number
}

export function describeDay({
  points,
  start,
  checkIns,
}: Day): Pick<OwnWalk, 'line' | 'stretches' | 'checkins'> {
  const counted = countSegments(points, start)
  const first = counted[0]?.from ?? points[0]
  const line = [...(first === undefined ? [] : [first]), ...counted.map(({ to }) => to)]
  return {
    line: line.map(placed),
    stretches: join(counted).map(shown),
    checkins: checkIns.map((at) => ({ ...placed(at), in_range: at.inRange })),
  }
}

const placed = ({ t, lat, lng }: Fix) => ({ t: time(t), lat, lng })

/** Folds one point at a time, so that the start of each counted segment is known. */
function countSegments(points: readonly FoldPoint[], start: FoldState): Counted[] {
  const counted: Counted[] = []
  let state = start
  for (const point of points) {
    const { anchor, before } = state
    state = fold(state, [point], (segment) => {
      // After a jump that was a single wrong fix, the segment begins at the anchor before it.
      const from = [anchor, before].find((fix) => fix && distanceMm(fix, point) === segment.distanceMm)
      counted.push({ ...segment, from: from ?? anchor!, to: point, inferred: point.mode === null })
    })
  }
  return counted
}

function join(counted: readonly Counted[]): Sum[] {
  const sums: Sum[] = []
  for (const one of counted) {
    const elapsedMs = one.to.t - one.from.t
    const last = sums.at(-1)
    if (last !== undefined && belongs(last, one)) {
      last.last = one
      last.mm += one.distanceMm
      last.mg += one.carbonMg
      last.elapsedMs += elapsedMs
    } else sums.push({ first: one, last: one, mm: one.distanceMm, mg: one.carbonMg, elapsedMs })
  }
  return sums
}

/** A night or a long silence is a stretch of its own, so that it does not dilute the speed of the others. */
const LONG_MS = 3_600_000
const isLong = ({ from, to }: Counted): boolean => to.t - from.t > LONG_MS

const belongs = ({ first, last }: Sum, one: Counted): boolean =>
  first.mode === one.mode && first.inferred === one.inferred && !isLong(one) && !isLong(last)

const shown = ({ first, last, mm, mg, elapsedMs }: Sum): OwnWalk['stretches'][number] => ({
  from: time(first.from.t),
  to: time(last.to.t),
  mode: first.mode,
  inferred: first.inferred,
  km: roundKm(mm),
  // mm per ms is m/s.
  speed_kmh: Math.round((mm / elapsedMs) * 36) / 10,
  carbon_kg: roundKg(mg),
})

/**
 * The part of a walk that others see if anyone may send points for that pilgrim (`service/security/claims.ts`). A point
 * beside the pilgrim's own ones lengthens the walk by the way to it, and so measures where they are. So the walk is
 * measured between cells, and late points enter public figures with the end of the event
 * (`core/rules/claim-measures.ts`). The result depends on nothing finer than these cells.
 */
import {
  byInstant,
  type Fix,
  fold,
  type FoldPoint,
  type FoldState,
  isLate,
} from '#shared/core/distance/points-to-distance.ts'
import { type Cell, cellAt, cellCentre } from '#shared/core/map/cells.ts'
import { CLAIM_MEASURES, CLAIM_ZOOM } from '#shared/core/rules/claim-measures.ts'
import type { Place } from '#shared/core/rules/geo.ts'
import { foldPointOf, type Point } from '../point.ts'

/** Sums of a walk, and the state of the fold at its end. */
export interface ShownWalk {
  readonly distanceMm: number
  readonly carbonMg: number
  readonly end: FoldState
}

/**
 * Points that are later than every point received before them.
 * @param points in the area, in any order; those of one request share their time of receipt
 */
function pointsInOrder(from: FoldState, points: readonly Point[]): Point[] {
  const byReceipt = Map.groupBy(
    points.toSorted((a, b) => a.receivedMs - b.receivedMs),
    ({ receivedMs }) => receivedMs,
  )
  const inOrder: Point[] = []
  let newestMs = -Infinity
  for (const received of byReceipt.values()) {
    const later = received.filter(({ recordedMs }) => recordedMs > newestMs && !isLate(from, recordedMs))
    inOrder.push(...later)
    for (const { recordedMs } of later) newestMs = Math.max(newestMs, recordedMs)
  }
  return inOrder
}

/** Folds the points in order onto a walk. */
export function walkInOrder(from: ShownWalk, points: readonly Point[]): ShownWalk {
  let { distanceMm, carbonMg } = from
  const inOrder = pointsInOrder(from.end, points).map(foldPointOf).sort(byInstant)
  const [start, steps] = CLAIM_MEASURES.betweenCells ? betweenCells(from.end, inOrder) : [from.end, inOrder]
  const end = fold(start, steps, (segment) => {
    distanceMm += segment.distanceMm
    carbonMg += segment.carbonMg
  })
  return { distanceMm, carbonMg, end }
}

/**
 * The state and the points in the middle of their cells. Within a cell and its neighbours, a point stays at the place
 * before it, so that a rest at an edge adds no distance.
 */
function betweenCells(state: FoldState, points: readonly FoldPoint[]): [FoldState, FoldPoint[]] {
  const start = { anchor: inCell(state.anchor), before: inCell(state.before) }
  let at: Place | null = start.anchor
  const steps = points.map((point) => {
    if (point.rough) return point
    if (at === null || !areNear(at, point)) at = middleOf(point)
    return { ...point, lat: at.lat, lng: at.lng }
  })
  return [start, steps]
}

const cellOf = ({ lat, lng }: Place): Cell => cellAt(lat, lng, CLAIM_ZOOM)

const middleOf = (place: Place): Place => cellCentre(cellOf(place))

const inCell = (fix: Fix | null): Fix | null => fix && { ...middleOf(fix), t: fix.t }

function areNear(one: Place, other: Place): boolean {
  const [a, b] = [cellOf(one), cellOf(other)]
  return Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) <= 1
}

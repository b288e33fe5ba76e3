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
  START,
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

/** A walk without a point. */
export const NOT_WALKED: ShownWalk = { distanceMm: 0, carbonMg: 0, end: START }

/**
 * The instant at which a point counts. A time in the future counts as the time of receipt: otherwise every point that
 * the pilgrim sends until then would be late.
 */
const shownPointOf = (point: Point): FoldPoint => ({
  ...foldPointOf(point),
  t: Math.min(point.recordedMs, point.receivedMs),
})

/** Adds points in the area to a walk, in the order of their receipt. Late ones, at or before its end, change nothing. */
export function walkInOrder(from: ShownWalk, points: readonly Point[]): ShownWalk {
  const inOrder = points
    .map((point) => ({ receivedMs: point.receivedMs, step: shownPointOf(point) }))
    .sort((a, b) => a.receivedMs - b.receivedMs || byInstant(a.step, b.step))
  return addSteps(
    from,
    inOrder.map(({ step }) => step),
  )
}

/** Adds points to a walk. @param steps in the order of {@link walkInOrder}, with its instants */
export function addSteps(from: ShownWalk, steps: readonly FoldPoint[]): ShownWalk {
  let { distanceMm, carbonMg } = from
  const measure = CLAIM_MEASURES.betweenCells
  let end = measure ? { anchor: inCell(from.end.anchor), before: inCell(from.end.before) } : from.end
  for (const step of steps)
    end = fold(end, [measure ? betweenCells(end.anchor, step) : step], (segment) => {
      distanceMm += segment.distanceMm
      carbonMg += segment.carbonMg
    })
  return { distanceMm, carbonMg, end }
}

/**
 * A point in the middle of its cell. Within the anchor's cell and its neighbours it is at the anchor's place, so that a
 * rest at an edge adds no distance.
 */
function betweenCells(anchor: Fix | null, point: FoldPoint): FoldPoint {
  const { lat, lng } = anchor !== null && areNear(anchor, point) ? anchor : middleOf(point)
  return { ...point, lat, lng }
}

const cellOf = ({ lat, lng }: Place): Cell => cellAt(lat, lng, CLAIM_ZOOM)

const middleOf = (place: Place): Place => cellCentre(cellOf(place))

const inCell = (fix: Fix | null): Fix | null => fix && { ...middleOf(fix), t: fix.t }

function areNear(one: Place, other: Place): boolean {
  const [a, b] = [cellOf(one), cellOf(other)]
  return Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) <= 1
}

/**
 * The part of a walk that others see if anyone may send points for that pilgrim (`service/security/claims.ts`). A point
 * inserted between earlier ones lengthens the walk by the detour to it, and so measures where they are. Such late
 * points enter public figures at the next midnight; points in order count at once, but at walking pace at most
 * (`core/rules/claim-measures.ts`).
 */
import { byInstant, fold, type FoldState, isLate } from '#shared/core/distance/points-to-distance.ts'
import { walkedMm } from '#shared/core/rules/claim-measures.ts'
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

/**
 * Folds the points in order onto a walk.
 * @returns the walk, and whether it contains all of the points
 */
export function walkInOrder(
  from: ShownWalk,
  points: readonly Point[],
): ShownWalk & { readonly isWhole: boolean } {
  let { distanceMm, carbonMg } = from
  const inOrder = pointsInOrder(from.end, points)
  let isWhole = inOrder.length === points.length
  const end = fold(from.end, inOrder.map(foldPointOf).sort(byInstant), (segment, elapsedMs) => {
    const shownMm = walkedMm(segment.distanceMm, elapsedMs)
    if (shownMm < segment.distanceMm) isWhole = false
    distanceMm += shownMm
    carbonMg += Math.round((segment.carbonMg * shownMm) / segment.distanceMm)
  })
  return { distanceMm, carbonMg, end, isWhole }
}

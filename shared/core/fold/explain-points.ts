/** Explains the sum of a day: what the fold makes of each point. */
import type { Mode } from '#shared/core/rules/carbon.ts'
import { fold, type FoldPoint, type FoldState, type Segment } from './fold.ts'

/** What becomes of a point inside the area; the meaning is in `contracts/user-history.ts`. */
export interface ExplainedPoint {
  readonly outcome: 'first' | 'counted' | 'too-soon' | 'too-near' | 'too-fast' | 'same-instant' | 'rough'
  /** Length of the segment that ends here; 0 if there is none. */
  readonly distanceMm: number
  /** How that segment was travelled; null if there is none. */
  readonly travelled: Mode | null
}

/**
 * Folds points one by one, which gives the same sum as folding them together.
 * @param points ordered by `byInstant`, inside the area
 */
export function explainPoints(from: FoldState, points: readonly FoldPoint[]): ExplainedPoint[] {
  let state = from
  return points.map((point) => {
    let segment: Segment | null = null
    const before = state
    state = fold(before, [point], (counted) => (segment = counted))
    return { outcome: outcomeOf(before, state, point, segment), ...lengthOf(segment) }
  })
}

const lengthOf = (segment: Segment | null) => ({
  distanceMm: segment?.distanceMm ?? 0,
  travelled: segment?.mode ?? null,
})

function outcomeOf(
  before: FoldState,
  after: FoldState,
  point: FoldPoint,
  segment: Segment | null,
): ExplainedPoint['outcome'] {
  if (segment !== null) return 'counted'
  if (point.rough) return 'rough'
  if (before.anchor === null) return 'first'
  if (after.before !== null && after.before !== before.before) return 'too-fast'
  if (after.anchor !== before.anchor) return 'too-near'
  return point.t === before.anchor.t ? 'same-instant' : 'too-soon'
}

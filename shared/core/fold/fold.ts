/**
 * The fold: a pilgrim's points, ordered by time, become counted segments.
 *
 * A segment starts at the anchor and not at the neighbouring point. So the distance of a phone that records every ten
 * seconds counts, although the specification skips segments under 30 s (shared/README.md, "Decisions").
 */
import { carbonMg, type Mode, modeBySpeed, modeNamed } from '#shared/core/rules/carbon.ts'
import { distanceMm } from '#shared/core/rules/geo.ts'

/** A place at an instant (epoch milliseconds). */
export interface Fix {
  readonly lat: number
  readonly lng: number
  readonly t: number
}

export type PointKind = 'c' | 't'

/** The fields of a point that the fold reads: `c` check-in, `t` track point; `mode` as the client named it. */
export interface FoldPoint extends Fix {
  readonly kind: PointKind
  /** The time that the client sent: part of the point's identity, and the tie-breaker within an instant. */
  readonly sentMs: number
  readonly mode: string | null
  /** It counts as a point, and as a check-in, but never in the distance (`core/rules/geo.ts`). */
  readonly rough: boolean
}

/** The state between two points. `before` is the previous anchor after a jump that was too fast. */
export interface FoldState {
  readonly anchor: Fix | null
  readonly before: Fix | null
}

export const START: FoldState = { anchor: null, before: null }

/** A counted segment; it belongs to the hour and day of its end `t`. */
export interface Segment {
  readonly t: number
  readonly distanceMm: number
  readonly carbonMg: number
  readonly mode: Mode
}

/** A point that is sooner after the anchor changes nothing. */
export const MIN_ELAPSED_MS = 30_000
const MIN_DISTANCE_MM = 10_000

/** Faster than 300 km/h: 3.6 × mm/ms > 300, in whole numbers. */
const tooFast = (mm: number, elapsedMs: number): boolean => mm * 36 > 3_000 * elapsedMs

/** The order of the fold: by instant, then check-ins before track points, then by the time sent. */
export const byInstant = (a: FoldPoint, b: FoldPoint): number =>
  a.t - b.t || (a.kind === b.kind ? a.sentMs - b.sentMs : a.kind === 'c' ? -1 : 1)

/** Whether a point is not after the anchor, so that it can not be folded onto this state. */
export const isLate = (state: FoldState, t: number): boolean => state.anchor !== null && t <= state.anchor.t

export const sameState = (a: FoldState, b: FoldState): boolean =>
  sameFix(a.anchor, b.anchor) && sameFix(a.before, b.before)

const sameFix = (a: Fix | null, b: Fix | null): boolean =>
  a === b || (a !== null && b !== null && a.t === b.t && a.lat === b.lat && a.lng === b.lng)

/**
 * Folds points (ordered by `byInstant`, inside the event's area) onto a state.
 * A further point at the same instant changes nothing.
 * @param emit called for each counted segment, in order
 * @returns the state after the last point
 */
export function fold(
  state: FoldState,
  points: readonly FoldPoint[],
  emit: (segment: Segment) => void,
): FoldState {
  let { anchor, before } = state
  for (let i = 0; i < points.length; i++) {
    const p = points[i]!
    if (p.rough) continue
    if (anchor === null) {
      anchor = fixOf(p)
      continue
    }
    const elapsedMs = p.t - anchor.t
    if (elapsedMs < MIN_ELAPSED_MS) continue
    const mm = distanceMm(anchor, p)
    if (mm < MIN_DISTANCE_MM) {
      anchor = { lat: anchor.lat, lng: anchor.lng, t: p.t }
      before = null
    } else if (tooFast(mm, elapsedMs)) {
      if (before !== null && !tooFast(distanceMm(before, p), p.t - before.t)) {
        // The jump was a single wrong fix: continue from the previous anchor, and fold this point again.
        anchor = before
        before = null
        i--
      } else {
        before = anchor
        anchor = fixOf(p)
      }
    } else {
      const mode = p.mode === null ? modeBySpeed(mm, elapsedMs) : modeNamed(p.mode)
      emit({ t: p.t, distanceMm: mm, carbonMg: carbonMg(mm, mode), mode })
      anchor = fixOf(p)
      before = null
    }
  }
  return { anchor, before }
}

const fixOf = ({ lat, lng, t }: Fix): Fix => ({ lat, lng, t })

// Explains the sum of a day: what the fold makes of each point.

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

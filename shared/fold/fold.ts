/**
 * The fold: a pilgrim's points, ordered by time, become counted segments.
 *
 * A segment runs from the anchor, not from the neighbour, so that a phone that records every ten seconds
 * keeps its distance although the specification skips segments under 30 s (shared/README.md, "Decisions").
 */
import { carbonMg, type Mode, modeBySpeed, modeNamed } from '#shared/rules/carbon.ts'
import { distanceMm } from '#shared/rules/geo.ts'

/** A place at an instant (epoch milliseconds). */
export interface Fix {
  readonly lat: number
  readonly lng: number
  readonly t: number
}

export type PointKind = 'c' | 't'

/** A point as the fold sees it: `c` check-in, `t` track point; `mode` as the client named it. */
export interface FoldPoint extends Fix {
  readonly kind: PointKind
  /** The time the client sent: part of the point's identity, and the tie-breaker within an instant. */
  readonly sentMs: number
  readonly mode: string | null
}

/** All the fold remembers between two points. `before` is the anchor that a too-fast jump left behind. */
export interface FoldState {
  readonly anchor: Fix | null
  readonly before: Fix | null
}

export const START: FoldState = { anchor: null, before: null }

/** A counted segment; it belongs to the hour and day of its ending instant `t`. */
export interface Segment {
  readonly t: number
  readonly distanceMm: number
  readonly carbonMg: number
  readonly mode: Mode
}

const MIN_ELAPSED_MS = 30_000
const MIN_DISTANCE_MM = 10_000

/** Faster than 300 km/h: 3.6 × mm/ms > 300, in whole numbers. */
const tooFast = (mm: number, elapsedMs: number): boolean => mm * 36 > 3_000 * elapsedMs

/** The order of the fold: by instant; of two at one instant the check-in first, then the time sent. */
export const byInstant = (a: FoldPoint, b: FoldPoint): number =>
  a.t - b.t || (a.kind === b.kind ? a.sentMs - b.sentMs : a.kind === 'c' ? -1 : 1)

/** Whether a point comes too late to be folded forward from a state (equal instants included). */
export const isLate = (state: FoldState, t: number): boolean => state.anchor !== null && t <= state.anchor.t

export const sameState = (a: FoldState, b: FoldState): boolean =>
  sameFix(a.anchor, b.anchor) && sameFix(a.before, b.before)

const sameFix = (a: Fix | null, b: Fix | null): boolean =>
  a === b || (a !== null && b !== null && a.t === b.t && a.lat === b.lat && a.lng === b.lng)

/**
 * Folds points (ordered by `byInstant`, inside the event's area) onto a state.
 * Points at an instant that is already taken change nothing.
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
        // The jump was a single wrong fix: go on from where it left, and take this point again.
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

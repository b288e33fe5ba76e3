/**
 * Decides which positions of the phone are recorded, and how often it is asked for one.
 *
 * Every position has an error, and the service measures a distance between any two that are 10 m and 30 s apart. So a
 * position is recorded only where it is further from the last recorded place than the errors of both explain. Until
 * then the phone rests at that place: it is recorded again every ten minutes, or four, which adds no distance.
 */
import { distanceMm, isRough } from '#shared/core/rules/geo.ts'
import { CLOCK_TOLERANCE_MS } from '../session/clock-rules.ts'

/** A position. Times are epoch milliseconds; accuracy and altitude are metres, speed km/h. */
export interface Fix {
  readonly t: number
  readonly lat: number
  readonly lng: number
  readonly accuracy: number
  readonly altitude: number | null
  readonly speed: number | null
}

type Place = Pick<Fix, 't' | 'lat' | 'lng'>

export interface FilterState {
  /** The last place that was recorded, with the time at which it was recorded last. */
  readonly last: (Place & { readonly accuracy?: number }) | null
  /** A position too far from the last one to be reached. It is recorded when the next one confirms it. */
  readonly doubted: Fix | null
  /** Where the phone has been since when, as long as it stays within {@link REST_M}. */
  readonly rest: Place | null
  /** Time of the last position that was not rough; absent: there was none. */
  readonly exactMs?: number
  /** Time of the last rough position that was recorded; absent: none was. */
  readonly roughMs?: number
}

export const EMPTY: FilterState = { last: null, doubted: null, rest: null }

type Skipped = 'rough' | 'too-soon' | 'doubted' | 'near' | 'perhaps-a-ride'

/** The service ignores a point that is sooner after the last one. */
const MIN_ELAPSED_MS = 30_000
const MAX_KMH = 300
/** A phone that stays in a circle of this radius for this long rests. */
const REST_M = 25
const REST_AFTER_MS = 120_000

/**
 * Radius of the circle around the last recorded place, as a multiple of the errors of both positions together. More
 * makes corners shorter; less counts errors as distance. (`tests/proxy/walk/position-errors.test.ts`)
 */
const CIRCLE_ERRORS = 2.5
const MIN_CIRCLE_M = 25
/** Inside of the circle the place is recorded again after this time. */
const AGAIN_MS = 600_000
/** The same where followers, or the map's times, go by the place: ten minutes later it counts as silent. */
const FOLLOWED_AGAIN_MS = 240_000
/**
 * It is recorded with the time of this long ago: the next position may lie outside of the circle, and the way to it must
 * not look like a ride.
 */
const AGAIN_LAG_MS = 120_000
/** Faster is a ride for the service, km/h. */
const WALK_KMH = 15

/** @returns the next state, and the points to record: none, one, or two after a confirmed jump */
export function filterFix(
  state: FilterState,
  fix: Fix,
  isFollowed = false,
): { readonly state: FilterState; readonly record: readonly Fix[]; readonly skipped: Skipped | null } {
  // By a mobile mast or by Wi-Fi alone. The service measures no distance from it.
  if (!Number.isFinite(fix.accuracy) || isRough(fix)) {
    const before = [state.last?.t, state.exactMs, state.roughMs]
    const isNeeded = Number.isFinite(fix.accuracy) && !before.some((t) => isRecent(t, fix.t))
    return isNeeded
      ? { state: { ...state, roughMs: fix.t }, record: [fix], skipped: 'rough' }
      : { state, record: [], skipped: 'rough' }
  }
  const moved = { ...state, exactMs: fix.t, rest: restAfter(state.rest, fix) }
  const { doubted } = state
  // A phone whose clock was set back starts anew; a place may be older than a check-in before it, by its age.
  const last = state.last === null || state.last.t - fix.t > CLOCK_TOLERANCE_MS ? null : state.last
  if (last === null) return { state: { ...moved, last: fix, doubted: null }, record: [fix], skipped: null }
  const elapsedMs = fix.t - last.t
  if (elapsedMs < MIN_ELAPSED_MS) return { state: moved, record: [], skipped: 'too-soon' }

  const metres = metresBetween(last, fix)
  const circleM = radiusOf(last.accuracy ?? 0, fix.accuracy)
  if (metres < circleM) {
    const isDue = elapsedMs >= (isFollowed ? FOLLOWED_AGAIN_MS : AGAIN_MS) + AGAIN_LAG_MS
    const again = isDue ? { ...last, t: fix.t - AGAIN_LAG_MS } : last
    const record = isDue ? [{ ...fix, ...again, altitude: null, speed: null }] : []
    return { state: { ...moved, last: again, doubted: null }, record, skipped: 'near' }
  }
  if (isTooFast(last, fix)) {
    if (doubted !== null && fix.t > doubted.t && !isTooFast(doubted, fix))
      return { state: { ...moved, last: fix, doubted: null }, record: [doubted, fix], skipped: null }
    return { state: { ...moved, doubted: fix }, record: [], skipped: 'doubted' }
  }
  // The error of a position must not make a ride of a walk.
  if (kmh(metres, elapsedMs) > WALK_KMH && kmh(metres - circleM, elapsedMs) <= WALK_KMH)
    return { state: { ...moved, doubted: null }, record: [], skipped: 'perhaps-a-ride' }
  return { state: { ...moved, last: fix, doubted: null }, record: [fix], skipped: null }
}

/** Radius of the circle in which two positions may be of one place, in metres. Errors are independent, so squares add. */
const radiusOf = (a: number, b: number): number => Math.max(MIN_CIRCLE_M, CIRCLE_ERRORS * Math.hypot(a, b))

/** A rough position is recorded where there was no other for this time. */
const ROUGH_EVERY_MS = 300_000
const isRecent = (t: number | undefined, nowMs: number): boolean =>
  t !== undefined && nowMs >= t && nowMs - t < ROUGH_EVERY_MS

/** A check-in is a point, too: it begins the next 30 s unless it is within the last ones. */
export const afterCheckIn = (state: FilterState, at: Place & { readonly accuracy?: number }): FilterState =>
  state.last !== null && at.t >= state.last.t && at.t - state.last.t < MIN_ELAPSED_MS
    ? state
    : { ...state, last: at }

/** How to ask for positions: continuously while the pilgrim walks, once in 30 s at rest. */
export const isResting = ({ rest }: FilterState, nowMs: number): boolean =>
  rest !== null && nowMs - rest.t >= REST_AFTER_MS

function restAfter(rest: Place | null, { t, lat, lng, accuracy }: Fix): Place {
  const stays = rest !== null && t >= rest.t && metresBetween(rest, { lat, lng }) <= REST_M + accuracy / 2
  return stays ? rest : { t, lat, lng }
}

const kmh = (metres: number, elapsedMs: number): number => (metres / Math.max(1, elapsedMs)) * 3_600

const isTooFast = (from: Place, to: Place): boolean => {
  const metres = metresBetween(from, to)
  return metres >= 10 && kmh(metres, to.t - from.t) > MAX_KMH
}

/** Distance on the sphere, in metres. */
export const metresBetween = (a: Pick<Fix, 'lat' | 'lng'>, b: Pick<Fix, 'lat' | 'lng'>): number =>
  distanceMm(a, b) / 1_000

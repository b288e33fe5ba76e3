/**
 * Decides which positions of the phone are recorded, and how often it is asked for one.
 *
 * Every position has an error, and the service measures a distance between any two points that are 10 m and
 * 30 s apart. So a position is recorded only if it is further from the last recorded place than the errors of
 * both explain. Until then the phone counts as resting at that place, which is recorded again every ten (or
 * four) minutes and adds no distance.
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
  /** The last recorded place, with the time at which it was last recorded. */
  readonly last: (Place & { readonly accuracy?: number }) | null
  /** A position too far away to be reached in the time. It is recorded when the next one confirms it. */
  readonly doubted: Fix | null
  /** Place and start of the rest, as long as the phone stays within {@link REST_M}. */
  readonly rest: Place | null
  /** Time of the last position that was not rough; absent: none. */
  readonly exactMs?: number
  /** Time of the last rough position that was recorded; absent: none. */
  readonly roughMs?: number
}

export const EMPTY: FilterState = { last: null, doubted: null, rest: null }

type Skipped = 'rough' | 'too-soon' | 'doubted' | 'near' | 'perhaps-a-ride'

/** The service ignores a point that follows sooner after the last one. */
const MIN_ELAPSED_MS = 30_000
const MAX_KMH = 300
/** A phone that stays in a circle of this radius for this long rests. */
const REST_M = 25
const REST_AFTER_MS = 120_000

/**
 * Radius of the circle around the last recorded place, as a multiple of the combined error of both positions.
 * A larger factor cuts corners; a smaller one counts errors as distance.
 * (`tests/proxy/walk/position-errors.test.ts`)
 */
const CIRCLE_ERRORS = 2.5
const MIN_CIRCLE_M = 25
/** Inside the circle the place is recorded again after this time. */
const AGAIN_MS = 600_000
/**
 * The same if followers or the map's arrival times rely on the position: after ten minutes it counts as
 * silent.
 */
const FOLLOWED_AGAIN_MS = 240_000
/**
 * The repeated place is dated back by this time: the next position may lie outside the circle, and the way to
 * it must not look like a ride.
 */
const AGAIN_LAG_MS = 120_000
/** Above this speed the service counts a ride, km/h. */
const WALK_KMH = 15

/** @returns the next state and the points to record: none, one, or two after a confirmed jump */
export function filterFix(
  state: FilterState,
  fix: Fix,
  isFollowed = false,
): { readonly state: FilterState; readonly record: readonly Fix[]; readonly skipped: Skipped | null } {
  // From a mobile mast or Wi-Fi only. The service measures no distance from it.
  if (!Number.isFinite(fix.accuracy) || isRough(fix)) {
    const before = [state.last?.t, state.exactMs, state.roughMs]
    const isNeeded = Number.isFinite(fix.accuracy) && !before.some((t) => isRecent(t, fix.t))
    return isNeeded
      ? { state: { ...state, roughMs: fix.t }, record: [fix], skipped: 'rough' }
      : { state, record: [], skipped: 'rough' }
  }
  const moved = { ...state, exactMs: fix.t, rest: restAfter(state.rest, fix) }
  const { doubted } = state
  // After the clock was set back, start over; a position may be slightly older than a check-in before it.
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
  // A position error must not turn a walk into a ride.
  if (kmh(metres, elapsedMs) > WALK_KMH && kmh(metres - circleM, elapsedMs) <= WALK_KMH)
    return { state: { ...moved, doubted: null }, record: [], skipped: 'perhaps-a-ride' }
  return { state: { ...moved, last: fix, doubted: null }, record: [fix], skipped: null }
}

/**
 * Radius of the circle in which two positions may be the same place, in metres. Errors are independent, so
 * squares add.
 */
const radiusOf = (a: number, b: number): number => Math.max(MIN_CIRCLE_M, CIRCLE_ERRORS * Math.hypot(a, b))

/** A rough position is recorded if there was no other one for this time. */
const ROUGH_EVERY_MS = 300_000
const isRecent = (t: number | undefined, nowMs: number): boolean =>
  t !== undefined && nowMs >= t && nowMs - t < ROUGH_EVERY_MS

/** A check-in is also a point: it restarts the 30 s unless it falls within the current ones. */
export const afterCheckIn = (state: FilterState, at: Place & { readonly accuracy?: number }): FilterState =>
  state.last !== null && at.t >= state.last.t && at.t - state.last.t < MIN_ELAPSED_MS
    ? state
    : { ...state, last: at }

/** Whether to ask for positions once every 30 s (at rest) instead of continuously. */
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

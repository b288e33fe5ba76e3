/**
 * Decides which positions of the phone are recorded, and how often it is asked for one.
 *
 * The service ignores a point less than 30 s after the last one that it took. So these are not recorded: the distance
 * is the same to the millimetre, and a walk costs a fraction of the battery, the memory and the network.
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
  /** The last point that the service takes. */
  readonly last: Place | null
  /** A position too far from the last one to be reached. It is recorded when the next one confirms it. */
  readonly doubted: Fix | null
  /** Where the phone has been since when, as long as it stays within {@link REST_M}. */
  readonly rest: Place | null
  /** Time of the last rough position that was recorded; absent: none was. */
  readonly roughMs?: number
}

export const EMPTY: FilterState = { last: null, doubted: null, rest: null }

type Skipped = 'rough' | 'too-soon' | 'doubted'

export const MIN_ELAPSED_MS = 30_000
const MAX_KMH = 300
/** A phone that stays in a circle of this radius for this long rests. */
const REST_M = 25
const REST_AFTER_MS = 120_000

/** @returns the next state, and the points to record: none, one, or two after a confirmed jump */
export function filterFix(
  state: FilterState,
  fix: Fix,
): { readonly state: FilterState; readonly record: readonly Fix[]; readonly skipped: Skipped | null } {
  // By a mobile mast or by Wi-Fi alone. The service measures no distance from it.
  if (!Number.isFinite(fix.accuracy) || isRough(fix)) {
    const isNeeded =
      Number.isFinite(fix.accuracy) && !isRecent(state.last?.t, fix.t) && !isRecent(state.roughMs, fix.t)
    return isNeeded
      ? { state: { ...state, roughMs: fix.t }, record: [fix], skipped: 'rough' }
      : { state, record: [], skipped: 'rough' }
  }
  const moved = { ...state, rest: restAfter(state.rest, fix) }
  const { last, doubted } = state
  // A phone whose clock was set back starts anew; a place may be older than a check-in before it, by its age.
  const elapsedMs = last === null || last.t - fix.t > CLOCK_TOLERANCE_MS ? Infinity : fix.t - last.t
  if (elapsedMs < MIN_ELAPSED_MS) return { state: moved, record: [], skipped: 'too-soon' }
  if (last === null || !isTooFast(last, fix))
    return { state: { ...moved, last: fix, doubted: null }, record: [fix], skipped: null }
  if (doubted !== null && fix.t > doubted.t && !isTooFast(doubted, fix))
    return { state: { ...moved, last: fix, doubted: null }, record: [doubted, fix], skipped: null }
  return { state: { ...moved, doubted: fix }, record: [], skipped: 'doubted' }
}

/** A rough position is recorded where nothing was for so long. */
const ROUGH_EVERY_MS = 300_000
const isRecent = (t: number | undefined, nowMs: number): boolean =>
  t !== undefined && nowMs >= t && nowMs - t < ROUGH_EVERY_MS

/** A check-in is a point, too: it begins the next 30 s unless it is within the last ones. */
export const afterCheckIn = (state: FilterState, at: Place): FilterState =>
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

const isTooFast = (from: Place, to: Place): boolean => {
  const metres = metresBetween(from, to)
  return metres >= 10 && (metres / Math.max(1, to.t - from.t)) * 3_600 > MAX_KMH
}

/** Distance on the sphere, in metres. */
export const metresBetween = (a: Pick<Fix, 'lat' | 'lng'>, b: Pick<Fix, 'lat' | 'lng'>): number =>
  distanceMm(a, b) / 1_000

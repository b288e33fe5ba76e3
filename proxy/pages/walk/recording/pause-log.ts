/**
 * Log of pauses: when nothing was recorded although the pilgrim wanted it, for how long, and why; and
 * detection of a silent watch.
 */

/** `closed`: the app was not open; `hidden`: the screen was off or another app was in front. */
type PauseCause = 'closed' | 'hidden' | 'permission' | 'storage' | 'rough' | 'no-signal'

interface Pause {
  /** Epoch milliseconds. */
  readonly from: number
  readonly to: number
  readonly cause: PauseCause
}

export interface PauseState {
  /** Time of the last position; null while recording is off. */
  readonly lastMs: number | null
  /** The most severe cause since then; null: none known, that is, no signal. */
  readonly cause: PauseCause | null
  readonly pauses: readonly Pause[]
}

export const NO_PAUSES: PauseState = { lastMs: null, cause: null, pauses: [] }

/** Three positions at rest are missing: no longer a coincidence. */
export const PAUSE_AFTER_MS = 90_000
/** Maximum number of stored pauses, newest last. */
const KEPT = 100

/** Causes by severity: an earlier one explains a pause better than a later one. */
const GRAVITY: readonly PauseCause[] = ['closed', 'storage', 'permission', 'hidden', 'rough', 'no-signal']

const graver = (a: PauseCause | null, b: PauseCause): PauseCause =>
  a === null || GRAVITY.indexOf(b) < GRAVITY.indexOf(a) ? b : a

export const started = (state: PauseState, nowMs: number): PauseState => ({
  ...state,
  lastMs: nowMs,
  cause: null,
})

/** The app was opened while recording was on: it was closed since the last position. */
export const reopened = (state: PauseState): PauseState =>
  state.lastMs === null ? state : { ...state, cause: graver(state.cause, 'closed') }

export const hindered = (state: PauseState, cause: PauseCause): PauseState =>
  state.lastMs === null ? state : { ...state, cause: graver(state.cause, cause) }

/**
 * A position arrived. A gap since the previous one becomes an entry.
 * @param atMs time of the position; the first one of a phone may be older than the start of the recording
 */
export function received(state: PauseState, atMs: number): PauseState {
  const pause = openPause(state, atMs)
  return {
    lastMs: Math.max(state.lastMs ?? atMs, atMs),
    cause: null,
    pauses: pause === null ? state.pauses : [...state.pauses, pause].slice(-KEPT),
  }
}

export function stopped(state: PauseState, nowMs: number): PauseState {
  return { ...received(state, nowMs), lastMs: null }
}

/** The current pause; null while positions arrive. */
export function openPause({ lastMs, cause }: PauseState, nowMs: number): Pause | null {
  if (lastMs === null || nowMs - lastMs < PAUSE_AFTER_MS) return null
  return { from: lastMs, to: nowMs, cause: cause ?? 'no-signal' }
}

/**
 * Shorter than a pause even with the time of a response added; longer than the 30 s between two requests at
 * rest.
 */
export const SILENT_MS = 60_000

/** Schedules one call. @returns a function that cancels it */
export type After = (ms: number, call: () => void) => () => void

interface Silence {
  heard(): void
  stop(): void
}

/**
 * Calls once when no position has arrived for a minute. A position watch reports nothing while the phone lies
 * still, and a browser may answer no other request meanwhile. So the watch is restarted, and a new one asks
 * for a position, before the signal counts as lost.
 */
export function listenForSilence(call: () => void, after: After): Silence {
  let cancel = after(SILENT_MS, call)
  return {
    heard() {
      cancel()
      cancel = after(SILENT_MS, call)
    },
    stop: () => cancel(),
  }
}

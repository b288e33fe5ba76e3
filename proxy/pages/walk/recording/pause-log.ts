/**
 * When nothing was recorded although the pilgrim wanted it, for how long, and why; and when a watch has been silent.
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
  /** Time of the last position; null while nothing is to be recorded. */
  readonly lastMs: number | null
  /** The gravest cause since then; null: none is known, so there is no signal. */
  readonly cause: PauseCause | null
  readonly pauses: readonly Pause[]
}

export const NO_PAUSES: PauseState = { lastMs: null, cause: null, pauses: [] }

/** Three positions at rest are missing: no longer a coincidence. */
export const PAUSE_AFTER_MS = 90_000
/** Pauses that are kept, newest last. */
const KEPT = 100

/** A cause explains a pause better than those after it. */
const GRAVITY: readonly PauseCause[] = ['closed', 'storage', 'permission', 'hidden', 'rough', 'no-signal']

const graver = (a: PauseCause | null, b: PauseCause): PauseCause =>
  a === null || GRAVITY.indexOf(b) < GRAVITY.indexOf(a) ? b : a

export const started = (state: PauseState, nowMs: number): PauseState => ({
  ...state,
  lastMs: nowMs,
  cause: null,
})

/** The app was opened while recording was still switched on: it was closed since the last position. */
export const reopened = (state: PauseState): PauseState =>
  state.lastMs === null ? state : { ...state, cause: graver(state.cause, 'closed') }

export const hindered = (state: PauseState, cause: PauseCause): PauseState =>
  state.lastMs === null ? state : { ...state, cause: graver(state.cause, cause) }

/**
 * A position arrived. A longer time without one becomes an entry.
 * @param atMs of the position; the first one of a phone may be older than the start of the recording
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

/** The pause that lasts now; null while positions arrive. */
export function openPause({ lastMs, cause }: PauseState, nowMs: number): Pause | null {
  if (lastMs === null || nowMs - lastMs < PAUSE_AFTER_MS) return null
  return { from: lastMs, to: nowMs, cause: cause ?? 'no-signal' }
}

/** With the time of an answer it is shorter than a pause; it is longer than the 30 s between two requests at rest. */
export const SILENT_MS = 60_000

/** Calls once after a time. @returns what cancels it */
export type After = (ms: number, call: () => void) => () => void

interface Silence {
  heard(): void
  stop(): void
}

/**
 * Begins to listen, and calls once when nothing was heard for a minute: a watch of positions says nothing while the
 * phone lies still, and a browser may answer no other request while it lasts. So it is ended, and a new one asks for a
 * position, before a signal counts as missing.
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

/** What an app shows of the queue. */
import type { ClientErrorCode } from '../answer.ts'

export interface QueueState {
  readonly waiting: { readonly checkIns: number; readonly points: number }
  /** Points that the service will never take and the app has not dismissed. */
  readonly rejected: number
  readonly sending: boolean
  /** Epoch milliseconds of the last success. */
  readonly lastSentAt: number | null
  /** Why something waits; null when nothing does, or when it is merely collected for the next request. */
  readonly why: ClientErrorCode | 'offline' | null
  /** The sentence to it. */
  readonly message: string | null
  /** Epoch milliseconds; null: not before something happens (a network, a sign-in, `resume`). */
  readonly nextAttemptAt: number | null
  /** The service refuses for good: nothing is sent until `resume`. */
  readonly stopped: boolean
}

/** The state before the store was read. */
const EMPTY: QueueState = {
  waiting: { checkIns: 0, points: 0 },
  rejected: 0,
  sending: false,
  lastSentAt: null,
  why: null,
  message: null,
  nextAttemptAt: null,
  stopped: false,
}

/** Keeps the state, and tells listeners of each change. */
export function createShownState() {
  const listeners = new Set<(state: QueueState) => void>()
  let state = EMPTY
  return {
    get state(): QueueState {
      return state
    },
    show(change: Partial<QueueState>): void {
      state = { ...state, ...change }
      // Not in this turn: an error of the app must not end the sending.
      for (const listener of listeners) queueMicrotask(() => listener(state))
    },
    subscribe(listener: (state: QueueState) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

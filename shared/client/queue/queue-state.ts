/** What an app shows of the queue. */
import type { ClientError, ClientErrorCode } from '../answer.ts'
import type { Due } from './retry-delays.ts'

/** What waits and why, since the queue was created: await `ready` for the first reading of the store. */
export interface QueueState {
  /** Whether the counts were read from the store. Until then they are 0. */
  readonly loaded: boolean
  readonly waiting: { readonly checkIns: number; readonly points: number }
  /** What waits of the kinds that the app adds. */
  readonly added: Readonly<Record<string, number>>
  /** Points that the service will never take and the app has not dismissed. */
  readonly rejected: number
  readonly sending: boolean
  /** Epoch milliseconds of the last success. */
  readonly lastSentAt: number | null
  /**
   * Why something waits: from a failure until the next success or `resume`, also while the next attempt is on its way.
   * Null when nothing waits, or when points are merely collected for the next request.
   */
  readonly why: ClientErrorCode | 'offline' | null
  /** The sentence to it. */
  readonly message: string | null
  /**
   * Epoch milliseconds of the next request, which is made by itself only after `start`. Null when nothing waits, when
   * the request is due or on its way, or when it needs something to happen first (a sign-in, `resume`).
   */
  readonly nextAttemptAt: number | null
  /** The service refuses for good: nothing is sent until `resume`. */
  readonly stopped: boolean
}

const EMPTY: QueueState = {
  loaded: false,
  waiting: { checkIns: 0, points: 0 },
  added: {},
  rejected: 0,
  sending: false,
  lastSentAt: null,
  why: null,
  message: null,
  nextAttemptAt: null,
  stopped: false,
}

/** What the store failed with, and when it is tried again. */
export interface Fault {
  readonly message: string
  readonly nextAttemptAt: number
}

interface Circumstances {
  readonly due: Due | null
  readonly stopped: ClientError | null
  readonly fault: Fault | null
  readonly isOnline: boolean
  readonly now: number
}

export function shownReason({
  due,
  stopped,
  fault,
  isOnline,
  now,
}: Circumstances): Pick<QueueState, 'why' | 'message' | 'nextAttemptAt'> {
  if (fault !== null) return { why: 'storage', ...fault }
  if (stopped !== null) return { why: stopped.code, message: stopped.message, nextAttemptAt: null }
  if (due === null) return { why: null, message: null, nextAttemptAt: null }
  const nextAttemptAt = due.at > now ? due.at : null
  if (!isOnline) return { why: 'offline', message: 'The device is offline.', nextAttemptAt }
  return { why: due.wait?.code ?? null, message: due.wait?.message ?? null, nextAttemptAt }
}

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

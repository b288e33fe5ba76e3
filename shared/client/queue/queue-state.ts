/** The state of the queue that an app shows. */
import type { ClientError, ClientErrorCode } from '../answer.ts'
import type { Due } from './retry-delays.ts'

/** What waits and why, since the queue was created: await `ready` for the first read of the store. */
export interface QueueState {
  /** Whether the counts were read from the store. Until then they are 0. */
  readonly loaded: boolean
  readonly waiting: { readonly checkIns: number; readonly points: number }
  /** Waiting entries of the app's own kinds. */
  readonly added: Readonly<Record<string, number>>
  /** Points that the service has refused for good and the app has not dismissed. */
  readonly rejected: number
  readonly sending: boolean
  /** Epoch milliseconds of the last success. */
  readonly lastSentAt: number | null
  /**
   * Why entries wait: from a failure until the next success or `resume`, also during the next attempt. Null when
   * nothing waits, or when points are merely collected for the next request.
   */
  readonly why: ClientErrorCode | 'offline' | null
  /** The message of `why`. */
  readonly message: string | null
  /**
   * Epoch milliseconds of the next automatic request, made only after `start`. Null when nothing waits, when the
   * request is due or in progress, or when it depends on an action (a sign-in, `resume`).
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

/** The error of the store, and when it is retried. */
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
      // Deferred, so that an error of the app does not end the sending.
      for (const listener of listeners) queueMicrotask(() => listener(state))
    },
    subscribe(listener: (state: QueueState) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

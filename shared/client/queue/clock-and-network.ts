/** The clock and the network of the device, as the queue sees them. */
import { sleep } from '../request-backoff.ts'

export interface Clock {
  /**
   * Epoch milliseconds: the device's clock, or an estimate of the service's. A date, because waits outlive the page;
   * setting it back lengthens no wait (`msLeft`).
   */
  now(): number
  /** Resolves after this time, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** A random number in [0, 1). */
  random(): number
}

/** The part of `navigator.locks` that is used. */
export interface Locks {
  request<T>(name: string, options: { signal: AbortSignal }, run: () => Promise<T>): Promise<T>
}

export interface Network {
  /** False: an attempt is not worth the battery. */
  online(): boolean
  /** Calls the listener when an attempt may succeed again. Returns a function that ends it. */
  subscribe(listener: () => void): () => void
  /** Ensures one sender over all tabs; without it each tab sends by itself, which costs requests and loses nothing. */
  readonly locks?: Locks | undefined
}

/** Longest sleep of a timer. */
const LONGEST_SLEEP_MS = 3_600_000

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  sleep: (ms, signal) => sleep(Math.min(ms, LONGEST_SLEEP_MS), signal),
}

/** The network of a browser. In Bun and Node it is always online, and there are no tabs. */
export const systemNetwork: Network = {
  // Bun and Node lack this property.
  online: () => (globalThis.navigator as Partial<Navigator> | undefined)?.onLine ?? true,
  subscribe(listener) {
    if (typeof globalThis.window === 'undefined') return () => undefined
    const seen = () => {
      if (document.visibilityState === 'visible') listener()
    }
    window.addEventListener('online', listener)
    document.addEventListener('visibilitychange', seen)
    return () => {
      window.removeEventListener('online', listener)
      document.removeEventListener('visibilitychange', seen)
    }
  },
  get locks() {
    return globalThis.navigator?.locks
  },
}

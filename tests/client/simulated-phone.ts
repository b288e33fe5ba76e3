/** A phone's clock and network, controlled by the test. */
import type { Clock, Network } from '#shared/client/index.ts'

/** A clock that stands still until it is moved; sleepers wake when their time is reached. */
export function simulatedClock(startMs = Date.parse('2026-04-12T01:00:00Z')) {
  let nowMs = startMs
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  const clock: Clock = {
    now: () => nowMs,
    random: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = { at: nowMs + ms, wake: () => (sleepers.delete(sleeper), resolve()) }
        if (ms <= 0 || signal.aborted) return resolve()
        signal.addEventListener('abort', sleeper.wake)
        sleepers.add(sleeper)
      }),
  }
  return {
    ...clock,
    /** Moves the clock, also backwards. */
    move(ms: number): void {
      nowMs += ms
      for (const sleeper of sleepers) if (sleeper.at <= nowMs) sleeper.wake()
    },
  }
}

/** A network that the test switches on and off. */
export function simulatedNetwork(): Network & { set(online: boolean): void } {
  let isOnline = true
  const listeners = new Set<() => void>()
  return {
    online: () => isOnline,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    set(online) {
      isOnline = online
      if (online) for (const listener of listeners) listener()
    },
  }
}

/** Web Locks of one browser: requests for a held lock are queued. */
export function simulatedLocks(): NonNullable<Network['locks']> & { readonly mostAtOnce: number } {
  let last: Promise<unknown> = Promise.resolve()
  let held = 0
  let most = 0
  return {
    get mostAtOnce() {
      return most
    },
    request(_name, { signal }, run) {
      const turn = last.then(async () => {
        signal.throwIfAborted()
        most = Math.max(most, ++held)
        return run().finally(() => held--)
      })
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

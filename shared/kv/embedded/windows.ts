/** The embedded kv's windows of the general limits. */
import type { Kv } from '../kv.ts'

/** How often windows that nobody uses any more are forgotten. */
const SWEEP_MS = 60_000

/** Windows of the general limits. They live in memory only: a restart forgives. */
export function slidingWindows(now: () => number): Kv['limit'] {
  const windows = new Map<string, { calls: { ms: number; id: string }[]; expiresMs: number }>()
  let sweepAtMs = now() + SWEEP_MS
  return async (key, id, { max, windowMs }) => {
    const nowMs = now()
    if (nowMs >= sweepAtMs) {
      sweepAtMs = nowMs + SWEEP_MS
      for (const [other, { expiresMs }] of windows) if (expiresMs <= nowMs) windows.delete(other)
    }
    const calls = (windows.get(key)?.calls ?? [])
      // Of a clock that was put back: they count from now on, and not until it has caught up.
      .map((call) => (call.ms > nowMs ? { ...call, ms: nowMs } : call))
      .filter((call) => call.ms > nowMs - windowMs)
    if (calls.some((call) => call.id === id))
      return { allowed: true, remaining: max - calls.length, retryAfterMs: 0 }
    windows.set(key, { calls, expiresMs: nowMs + windowMs })
    if (calls.length >= max)
      return { allowed: false, remaining: 0, retryAfterMs: calls[calls.length - max]!.ms + windowMs - nowMs }
    calls.push({ ms: nowMs, id })
    windows.set(key, { calls, expiresMs: nowMs + windowMs })
    return { allowed: true, remaining: max - calls.length, retryAfterMs: 0 }
  }
}

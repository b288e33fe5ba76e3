/** General rate limits of the embedded kv. */
import type { Kv } from '../kv.ts'

/** How often expired windows are deleted. */
const SWEEP_MS = 60_000

/** Sliding windows in memory only: a restart empties them. */
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
      // If the clock was set back, later calls count from now, so that they do not block until it has caught up.
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

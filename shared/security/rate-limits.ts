/** Rate limits of endpoints (sliding windows) and their 429 answers. */
import type { Window } from '#shared/config/config.ts'
import { Refusal } from '#shared/http/errors.ts'
import { type Kv, isKvUnavailable, type LimitVerdict, userHash } from '#shared/kv/kv.ts'

/** Headers of draft-ietf-httpapi-ratelimit-headers, and Retry-After in whole seconds, rounded up. */
const headers = (name: string, { max, windowMs }: Window, retryAfterMs: number): Record<string, string> => {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  return {
    'Retry-After': String(seconds),
    RateLimit: `"${name}";r=0;t=${seconds}`,
    'RateLimit-Policy': `"${name}";q=${max};w=${Math.ceil(windowMs / 1_000)}`,
  }
}

/** 429 for a full window. */
export function rateLimited(name: string, window: Window, retryAfterMs: number): Refusal {
  const all = headers(name, window, retryAfterMs)
  const seconds = all['Retry-After']
  const sentence = `Too many requests: at most ${window.max} in ${window.windowMs / 1_000} s. Try again in ${seconds} s.`
  return new Refusal(429, 'rate-limited', sentence, all)
}

/**
 * Counts a call in a window. The key of the window does not contain the user id, because it outlives an erasure.
 * While the kv is unavailable, calls are not counted: a call that needs the kv fails anyway, and others may proceed.
 * @throws Refusal 429 if the window is full
 */
export async function charge(kv: Kv, name: string, key: string, window: Window): Promise<void> {
  let verdict: LimitVerdict
  try {
    verdict = await kv.limit(`${name}:${userHash(key)}`, crypto.randomUUID(), window)
  } catch (error) {
    if (isKvUnavailable(error)) return
    throw error
  }
  if (!verdict.allowed) throw rateLimited(name, window, verdict.retryAfterMs)
}

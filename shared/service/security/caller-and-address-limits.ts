/**
 * Limits by caller, of what is no check-in and no track point (those: `kv/lua/check-in-limit.lua`), and by address, of all
 * calls.
 */
import type { Window } from '#shared/runtime/config/config.ts'
import { rateLimited } from '#shared/runtime/refusal.ts'
import { type Kv, isKvUnavailable, type LimitVerdict, userHash } from '#shared/stores/kv/kv.ts'

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

// The rate limit of all calls from one address, for any user id: a sliding window in the memory of this process. Writes
// have one, and reads that no cache answers have another.
//
// It limits clients that invent user ids. It must not slow a check-in, so it uses no store: it takes about a
// microsecond and works while the kv is unavailable. Each replica counts separately.

/** Times of calls, oldest first. The window begins at index `from`. */
interface Calls {
  times: number[]
  from: number
}

export interface AddressLimit {
  /** Counts a call, or what costs as much as several. @throws Refusal 429 if the window of the address is full */
  charge(address: string, calls?: number): void
  held(): number
}

/** What pending points add to the price of an answer that was made from them, in calls. */
export const priceOf = (pendingPoints: number | null | undefined): number =>
  Math.floor((pendingPoints ?? 0) / 100)

/** @param clock monotonic milliseconds */
export function createAddressLimit(
  window: Window,
  clock: () => number = () => performance.now(),
): AddressLimit {
  const { max, windowMs } = window
  const byAddress = new Map<string, Calls>()
  let sweepAt = clock() + windowMs

  /** Drops times outside the window. The array is shortened only occasionally, which keeps a call cheap. */
  const expire = (calls: Calls, now: number): number => {
    const { times } = calls
    while (calls.from < times.length && times[calls.from]! <= now - windowMs) calls.from++
    if (calls.from > 64 && calls.from * 2 > times.length) {
      times.splice(0, calls.from)
      calls.from = 0
    }
    return times.length - calls.from
  }
  const sweep = (now: number): void => {
    sweepAt = now + windowMs
    for (const [address, calls] of byAddress) if (expire(calls, now) === 0) byAddress.delete(address)
  }

  return {
    charge(address, count = 1) {
      const now = clock()
      if (now >= sweepAt) sweep(now)
      let calls = byAddress.get(address)
      if (calls === undefined) byAddress.set(address, (calls = { times: [], from: 0 }))
      if (expire(calls, now) >= max)
        throw rateLimited('address', window, calls.times[calls.from]! + windowMs - now)
      for (let i = 0; i < count; i++) calls.times.push(now)
    },
    held: () => byAddress.size,
  }
}

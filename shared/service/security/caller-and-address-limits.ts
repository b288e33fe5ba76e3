/**
 * Limits by caller, for calls other than check-ins and track points (`kv/lua/check-in-limit.lua`), and by address, for
 * all calls.
 */
import type { Window } from '#shared/runtime/config/config.ts'
import { rateLimited } from '#shared/runtime/refusal.ts'
import { isKvUnavailable, type LimitVerdict, userHash, type KvKeys } from '#shared/stores/kv/kv.ts'

/**
 * Counts a call in a window. The key of the window does not contain the user id, because it outlives an erasure.
 * While the kv is unavailable, calls are not counted: a call that needs the kv fails anyway, and others may proceed.
 * @throws Refusal 429 if the window is full
 */
export async function charge(kv: KvKeys, name: string, key: string, window: Window): Promise<void> {
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
// have one, and reads not answered from a cache have another.
//
// It limits clients that invent user ids. It must not slow a check-in, so it uses no store: it takes about a
// microsecond and works while the kv is unavailable. Each replica counts separately.

/**
 * SOS presses still accepted from an address that has used up its other limits. A press is at most 4 kB, and one of an
 * invented pilgrim stores 1 kB.
 */
export const ALARM_LIMIT: Window = { max: 120, windowMs: 60_000 }

/** Charges, oldest first: when each expires, and how much. The window begins at index `from`. */
interface Charges {
  times: number[]
  counts: number[]
  from: number
  /** The sum in the window. */
  sum: number
}

export interface AddressLimit {
  /**
   * Counts a call, or a cost equal to several calls: one is a millisecond of a processor.
   * @throws Refusal 429 if the window of the address is full
   */
  charge(address: string, calls?: number): void
  held(): number
}

/** Additional price of an answer computed from pending points, in calls. */
export const priceOf = (pendingPoints: number | null | undefined): number =>
  Math.floor((pendingPoints ?? 0) / 100)

/**
 * @param clock monotonic milliseconds
 * @param stepMs charges within this time count as one, which expires with the last of them; 0: each by itself
 */
export function createAddressLimit(
  window: Window,
  clock: () => number = () => performance.now(),
  stepMs = 0,
): AddressLimit {
  const { max, windowMs } = window
  const byAddress = new Map<string, Charges>()
  let sweepAt = clock() + windowMs

  /** Drops expired charges. The arrays are shortened only occasionally, which keeps a call cheap. */
  const expire = (charges: Charges, now: number): number => {
    const { times, counts } = charges
    while (charges.from < times.length && times[charges.from]! <= now - windowMs)
      charges.sum -= counts[charges.from++]!
    if (charges.from > 64 && charges.from * 2 > times.length) {
      times.splice(0, charges.from)
      counts.splice(0, charges.from)
      charges.from = 0
    }
    return charges.sum
  }
  const sweep = (now: number): void => {
    sweepAt = now + windowMs
    for (const [address, charges] of byAddress) if (expire(charges, now) === 0) byAddress.delete(address)
  }

  return {
    charge(address, count = 1) {
      const now = clock()
      if (now >= sweepAt) sweep(now)
      let charges = byAddress.get(address)
      if (charges === undefined)
        byAddress.set(address, (charges = { times: [], counts: [], from: 0, sum: 0 }))
      const { times, counts } = charges
      if (expire(charges, now) >= max)
        throw rateLimited('address', window, times[charges.from]! + windowMs - now)
      if (count === 0) return
      const time = stepMs === 0 ? now : Math.ceil(now / stepMs) * stepMs
      charges.sum += count
      if (stepMs > 0 && times.length > charges.from && times.at(-1) === time)
        counts[counts.length - 1]! += count
      else {
        times.push(time)
        counts.push(count)
      }
    },
    held: () => byAddress.size,
  }
}

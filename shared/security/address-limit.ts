/**
 * What one address may write in all, whoever it names: a sliding window in memory, of this process alone.
 *
 * It bounds what a stranger with invented ids can cost, and must stand beside a check-in without slowing it. So it
 * asks no store: it takes about a microsecond, works while the kv is away, and each replica counts for itself.
 */
import type { Window } from '#shared/config/config.ts'
import { rateLimited } from './rate-limits.ts'

/** Times of calls, oldest first from `from` on; those before it are outside the window. */
interface Calls {
  times: number[]
  from: number
}

export interface AddressLimit {
  /** Charges a call. @throws Refusal 429 when the address's window is full */
  charge(address: string): void
  /** Takes a call back that was refused, and so is not counted. */
  forgive(address: string): void
  /** Addresses that are remembered. */
  held(): number
}

/** @param clock milliseconds that never go back */
export function createAddressLimit(
  window: Window,
  clock: () => number = () => performance.now(),
): AddressLimit {
  const { max, windowMs } = window
  const byAddress = new Map<string, Calls>()
  let sweepAt = clock() + windowMs

  /** Lets go of what is outside the window; the list is shortened now and then only, so that a call costs little. */
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
    charge(address) {
      const now = clock()
      if (now >= sweepAt) sweep(now)
      let calls = byAddress.get(address)
      if (calls === undefined) byAddress.set(address, (calls = { times: [], from: 0 }))
      if (expire(calls, now) >= max)
        throw rateLimited('address', window, calls.times[calls.from]! + windowMs - now)
      calls.times.push(now)
    },
    forgive(address) {
      const calls = byAddress.get(address)
      if (calls !== undefined && calls.times.length > calls.from) calls.times.pop()
    },
    held: () => byAddress.size,
  }
}

/** Waits for a condition, with a timeout and an error that names the condition. */
import { slower } from './time-limits.ts'

/** A wait that timed out. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

/**
 * Checks the condition repeatedly until it returns a truthy value, and returns that value. An exception counts as "not
 * yet", so that the condition may call a server that is still starting.
 * @param what the condition, as named in the error: "the flush to store 20 points"
 * @param options milliseconds until the wait fails on a quiet machine, and between two checks
 * @throws TimeoutError that names `what` after `timeoutMs`, even if a single check never returns; its cause is the
 *   condition's last exception
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  { timeoutMs = 20_000, everyMs = 20 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<Truthy<T>> {
  const limitMs = slower(timeoutMs)
  const endsAt = performance.now() + limitMs
  let lastSeen: unknown = 'nothing'
  let cause: unknown
  do {
    try {
      lastSeen = await within(condition, endsAt - performance.now())
      if (lastSeen) return lastSeen as Truthy<T>
      cause = undefined
    } catch (error) {
      lastSeen = error
      cause = error
    }
    await Bun.sleep(everyMs)
  } while (performance.now() < endsAt)
  const seen = Bun.inspect(lastSeen)
  throw new TimeoutError(`timeout after ${limitMs} ms waiting for ${what}; last seen: ${seen}`, { cause })
}

async function within<T>(check: () => T | Promise<T>, ms: number): Promise<T> {
  const bound = Promise.withResolvers<never>()
  const timer = setTimeout(() => bound.reject(new Error(`one check took more than ${Math.round(ms)} ms`)), ms)
  try {
    return await Promise.race([check(), bound.promise])
  } finally {
    clearTimeout(timer)
  }
}

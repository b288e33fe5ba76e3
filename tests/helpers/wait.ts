/** Waiting for something to become true, with a bound and a failure that says what was awaited. */

export interface WaitOptions {
  /** Milliseconds until the wait fails. */
  readonly timeoutMs: number
  /** What is awaited, as the failure names it: "the flush to store 20 points". */
  readonly what: string
  /** Milliseconds between two looks. */
  readonly everyMs?: number
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

/**
 * Looks again and again until the condition gives something truthy, and returns that.
 * An exception of the condition counts as "not yet", so that it may call what is still starting.
 * @throws Error naming `what` after `timeoutMs`, with the last exception of the condition as its cause;
 * also when a single look never comes back
 */
export async function until<T>(condition: () => T | Promise<T>, options: WaitOptions): Promise<Truthy<T>> {
  const { timeoutMs, what, everyMs = 20 } = options
  const endsAt = performance.now() + timeoutMs
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
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}; last seen: ${Bun.inspect(lastSeen)}`, {
    cause,
  })
}

async function within<T>(look: () => T | Promise<T>, ms: number): Promise<T> {
  const bound = Promise.withResolvers<never>()
  const timer = setTimeout(() => bound.reject(new Error(`one look took more than ${Math.round(ms)} ms`)), ms)
  try {
    return await Promise.race([look(), bound.promise])
  } finally {
    clearTimeout(timer)
  }
}

const FIRST_MS = 1_000
const LONGEST_MS = 60_000

/**
 * Wait before the next attempt, in whole milliseconds: 1 s, doubled with each failure up to 60 s, at least the time the
 * service asked for. Up to half of it is added at random, so that a crowd does not return at the same moment.
 * @param failures consecutive failures before this one
 * @param random in [0, 1)
 */
export const backoffMs = (failures: number, retryAfterS: number | undefined, random: number): number =>
  Math.ceil(
    Math.max((retryAfterS ?? 0) * 1_000, Math.min(LONGEST_MS, FIRST_MS * 2 ** failures)) * (1 + random / 2),
  )

/** Whether a request may succeed when it is repeated unchanged. */
export const isTemporary = ({ status }: { readonly status: number }): boolean =>
  status === 0 || status === 408 || status === 429 || status >= 500

/** Resolves after this time, or when the signal aborts. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) done()
  })

/**
 * Requests that a browser may never answer, with a time limit of our own: an open permission prompt, a
 * position requested by a background page, a lock held by a window that the phone has stopped.
 */

/** The browser did not answer within the limit. A later answer is ignored. */
export const NO_ANSWER = 'no-answer'
export type NoAnswer = typeof NO_ANSWER

/** @returns {@link NO_ANSWER} after `ms`. Rejects as the work does */
export function within<T>(ms: number, work: Promise<T>): Promise<T | NoAnswer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<NoAnswer>((resolve) => {
    timer = setTimeout(resolve, ms, NO_ANSWER)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Browsers do not count an open permission prompt toward their own timeout. */
const QUESTION_MS = 5_000

/** Asks the phone for its position, for at most `options.timeout` plus five seconds. */
export const askPosition = (
  options: PositionOptions & { readonly timeout: number },
): Promise<GeolocationPosition | GeolocationPositionError | NoAnswer> =>
  within(
    options.timeout + QUESTION_MS,
    new Promise((resolve) => navigator.geolocation.getCurrentPosition(resolve, resolve, options)),
  )

const PERMISSION_MS = 3_000

/** The permission for positions; null if the browser does not report it. */
export async function positionPermission(): Promise<PermissionStatus | null> {
  const asking = navigator.permissions?.query({ name: 'geolocation' }).catch(() => null)
  const status = await within(PERMISSION_MS, asking ?? Promise.resolve(null))
  return status === NO_ANSWER ? null : status
}

/**
 * Runs with a lock that all windows share. A visible window steals it from one that has not released it after
 * `ms`, because the phone may have stopped that window.
 * @returns the result of `run`. Rejects with an `AbortError` if the signal aborts or another window has
 *   stolen the lock
 */
export async function withLock<T>(
  name: string,
  ms: number,
  run: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { locks } = navigator
  for (;;) {
    const waiting = new AbortController()
    const giveUp = () => waiting.abort()
    let isHeld = false
    const hold = (): Promise<T> => {
      isHeld = true
      clearTimeout(timer)
      return run()
    }
    const timer = setTimeout(giveUp, ms)
    signal.addEventListener('abort', giveUp)
    try {
      signal.throwIfAborted()
      return await locks.request(name, { signal: waiting.signal }, hold)
    } catch (error) {
      if (isHeld || signal.aborted) throw error
      if (document.visibilityState === 'visible') return await locks.request(name, { steal: true }, hold)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
    }
  }
}

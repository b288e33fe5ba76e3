/** A queue for work that needs much memory or CPU: limited concurrency, limited length, 503 beyond. */
import { unavailable } from './refusal.ts'
import { within } from './deadline.ts'

/**
 * Creates a queue.
 * @param running maximum number of running items
 * @param waiting maximum number of waiting items
 * @param full the message of the refusal
 */
export function createBoundedQueue({
  running,
  waiting,
  full = 'The service is busy with too many pictures: please try again in a moment.',
}: {
  readonly running: number
  readonly waiting: number
  readonly full?: string
}) {
  let active = 0
  const waiters: (() => void)[] = []
  const pass = (): void => {
    const next = waiters.shift()
    if (next === undefined) active--
    else next()
  }
  return {
    /** Number of running and waiting items. */
    get size(): number {
      return active + waiters.length
    },
    /**
     * Runs work in order of arrival.
     * @param waitMs work that has not begun within this time never begins
     * @throws Refusal 503 with Retry-After when the queue is full, or the work has not begun in time
     */
    async run<T>(work: () => Promise<T>, waitMs?: number): Promise<T> {
      if (active >= running) {
        if (waiters.length >= waiting) throw unavailable(full)
        // The finished item hands its slot over directly, so that a later arrival cannot take it.
        const begun = new Promise<true>((resolve) => waiters.push(() => resolve(true)))
        const waiter = waiters.at(-1)!
        // The caller has been answered by then, so the result would be unused.
        const inTime = waitMs === undefined ? begun : within(begun, waitMs, () => false)
        if (!(await inTime)) {
          const at = waiters.indexOf(waiter)
          if (at >= 0) waiters.splice(at, 1)
          // The slot arrived at the same moment.
          else pass()
          throw unavailable(full)
        }
      } else active++
      try {
        return await work()
      } finally {
        pass()
      }
    },
  }
}

export type BoundedQueue = ReturnType<typeof createBoundedQueue>

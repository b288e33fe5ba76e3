/** A queue for work that needs much memory or CPU: limited concurrency, limited length, 503 beyond. */
import { unavailable } from '#shared/http/errors.ts'

export interface BoundedQueue {
  /** Runs work in order of arrival. @throws Refusal 503 with Retry-After when the queue is full */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Number of running and waiting items. */
  readonly size: number
}

/**
 * Creates a queue.
 * @param running maximum number of running items
 * @param waiting maximum number of waiting items
 * @param full the sentence of the refusal
 */
export function createBoundedQueue({
  running,
  waiting,
  full = 'The service is busy with too many pictures: please try again in a moment.',
}: {
  readonly running: number
  readonly waiting: number
  readonly full?: string
}): BoundedQueue {
  let active = 0
  const waiters: (() => void)[] = []
  return {
    get size() {
      return active + waiters.length
    },
    async run(work) {
      if (active >= running) {
        if (waiters.length >= waiting) throw unavailable(full)
        // The finished item passes its slot on directly, so that a later arrival cannot take it.
        await new Promise<void>((resolve) => waiters.push(resolve))
      } else active++
      try {
        return await work()
      } finally {
        const next = waiters.shift()
        if (next === undefined) active--
        else next()
      }
    },
  }
}

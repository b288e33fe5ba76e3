/** A queue for work that needs much memory or CPU: limited concurrency, limited length, 503 beyond. */
import { unavailable } from '#shared/http/errors.ts'

export interface BoundedQueue {
  /** Runs work in order of arrival. @throws Refusal 503 with Retry-After when the queue is full */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Number of running and waiting items. */
  readonly size: number
}

/** Creates a queue. @param limits maximum number of running and of waiting items */
export function createBoundedQueue({
  running,
  waiting,
}: {
  readonly running: number
  readonly waiting: number
}): BoundedQueue {
  let active = 0
  const waiters: (() => void)[] = []
  return {
    get size() {
      return active + waiters.length
    },
    async run(work) {
      if (active >= running) {
        if (waiters.length >= waiting)
          throw unavailable('The service is busy with too many pictures: please try again in a moment.')
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

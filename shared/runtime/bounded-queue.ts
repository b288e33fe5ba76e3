/** Work that costs memory or a core: a few at a time, a few more waiting, the rest told to come back. */
import { unavailable } from '#shared/http/errors.ts'

export interface BoundedQueue {
  /** Runs work when it is its turn. @throws Refusal 503 with Retry-After when too many wait already */
  run<T>(work: () => Promise<T>): Promise<T>
  /** How many run or wait. */
  readonly size: number
}

/** A queue in order of arrival. @param limits how many run at once, and how many may wait */
export function createBoundedQueue({
  running,
  waiting,
}: {
  readonly running: number
  readonly waiting: number
}): BoundedQueue {
  let active = 0
  const line: (() => void)[] = []
  return {
    get size() {
      return active + line.length
    },
    async run(work) {
      if (active >= running) {
        if (line.length >= waiting)
          throw unavailable('Too many pictures are being made just now: please try again in a moment.')
        // Whoever ends hands over its place, so that nobody who comes later takes it.
        await new Promise<void>((resolve) => line.push(resolve))
      } else active++
      try {
        return await work()
      } finally {
        const next = line.shift()
        if (next === undefined) active--
        else next()
      }
    },
  }
}

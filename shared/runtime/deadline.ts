/** Timeouts. */

interface Wait {
  readonly dueMs: number
  readonly onTimeout: () => void
}

/** All waits of one duration. They expire in the order in which they began, so they share one timer. */
class TimeoutQueue {
  readonly #waits = new Set<Wait>()
  #timer: Timer | undefined

  constructor(private readonly ms: number) {}

  add(onTimeout: () => void): Wait {
    const wait = { dueMs: performance.now() + this.ms, onTimeout }
    this.#waits.add(wait)
    this.#timer ??= setTimeout(this.#expire, this.ms)
    return wait
  }

  remove(wait: Wait): void {
    if (!this.#waits.delete(wait) || this.#waits.size > 0) return
    clearTimeout(this.#timer)
    queues.delete(this.ms)
  }

  readonly #expire = (): void => {
    for (const wait of this.#waits) {
      const leftMs = wait.dueMs - performance.now()
      if (leftMs > 0) {
        this.#timer = setTimeout(this.#expire, Math.ceil(leftMs))
        return
      }
      wait.onTimeout()
      this.remove(wait)
    }
  }
}

/** Queues of timeouts by duration in milliseconds. */
const queues = new Map<number, TimeoutQueue>()

const queueOf = (ms: number): TimeoutQueue =>
  queues.getOrInsertComputed(ms, (duration) => new TimeoutQueue(duration))

/**
 * Resolves or rejects like `work`, or like `late` if `work` has not settled within `ms` milliseconds. Late work is
 * not cancelled.
 * @param late returns a value instead, or throws
 */
export function within<T, L>(
  work: PromiseLike<T>,
  ms: number,
  late: () => L | PromiseLike<L>,
): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const queue = queueOf(ms)
    const wait = queue.add(() => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    })
    const ending =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        queue.remove(wait)
        settle(value)
      }
    // `await` would create one more promise for each request.
    work.then(ending(resolve), ending(reject))
  })
}

/** For `within`: throws an error on timeout. */
export const rejectWith = (error: () => Error) => (): never => {
  throw error()
}

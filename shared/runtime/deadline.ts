/** Waiting for something, but not for ever. */

interface Wait {
  readonly dueMs: number
  readonly give: () => void
}

/** Waits of one length end in the order in which they began, so one timer serves all of them. */
class Line {
  readonly #waits = new Set<Wait>()
  #timer: Timer | undefined

  constructor(private readonly ms: number) {}

  add(give: () => void): Wait {
    const wait = { dueMs: performance.now() + this.ms, give }
    this.#waits.add(wait)
    this.#timer ??= setTimeout(this.#look, this.ms)
    return wait
  }

  remove(wait: Wait): void {
    if (!this.#waits.delete(wait) || this.#waits.size > 0) return
    clearTimeout(this.#timer)
    lines.delete(this.ms)
  }

  readonly #look = (): void => {
    for (const wait of this.#waits) {
      const leftMs = wait.dueMs - performance.now()
      if (leftMs > 0) {
        this.#timer = setTimeout(this.#look, Math.ceil(leftMs))
        return
      }
      wait.give()
      this.remove(wait)
    }
  }
}

/** By length in milliseconds. */
const lines = new Map<number, Line>()

function lineOf(ms: number): Line {
  const known = lines.get(ms)
  if (known !== undefined) return known
  const line = new Line(ms)
  lines.set(ms, line)
  return line
}

/**
 * The outcome of some work, or of `late` when the work has not settled within `ms` milliseconds. Late work is
 * abandoned, not stopped.
 * @param late answers instead, or throws
 */
export function within<T, L>(
  work: PromiseLike<T>,
  ms: number,
  late: () => L | PromiseLike<L>,
): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const line = lineOf(ms)
    const wait = line.add(() => {
      try {
        resolve(late())
      } catch (error) {
        reject(error)
      }
    })
    const ending =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        line.remove(wait)
        settle(value)
      }
    // Not awaited: that would make another promise for each request.
    work.then(ending(resolve), ending(reject))
  })
}

/** For `within`: a lateness that is an error. */
export const rejectWith = (error: () => Error) => (): never => {
  throw error()
}

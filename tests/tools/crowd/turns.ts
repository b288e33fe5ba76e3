/** Limits how many tasks run at once. */
export interface Turns {
  /** Runs a task when it is its turn. */
  take<T>(task: () => Promise<T>): Promise<T>
  /** Number of tasks that wait for their turn. */
  readonly waiting: number
  /** Resolves when a turn has ended. */
  ended(): Promise<void>
}

/**
 * @param most how many tasks run at once
 * @param ready delays each task until it resolves; it never rejects
 */
export function createTurns(most: number, ready: () => Promise<void> = async () => undefined): Turns {
  const waiting: (() => void)[] = []
  let watchers: (() => void)[] = []
  let running = 0
  return {
    get waiting() {
      return waiting.length
    },
    ended: () => new Promise((resolve) => watchers.push(resolve)),
    async take(task) {
      if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
      else running++
      try {
        await ready()
        return await task()
      } finally {
        // The turn is passed on directly, so that no newcomer takes it first.
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
        for (const watcher of watchers.splice(0)) watcher()
      }
    },
  }
}

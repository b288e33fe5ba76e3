/** Long computations that yield to the event loop: generators that yield where they may pause. */

/** Resolves in the next turn of the event loop, after everything that arrived in this one. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Longest turn, milliseconds: about the maximum delay of a check-in. */
const TURN_MS = 4
/** Items between two places where a computation may pause. */
const STEP = 500

/** Runs the computation to its end, in turns of the event loop. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  let beganMs = performance.now()
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() - beganMs < TURN_MS) continue
    await nextTurn()
    beganMs = performance.now()
  }
}

/** Calls `visit` with each item. */
export function* eachOf<T>(
  items: ArrayLike<T>,
  visit: (item: T, index: number) => unknown,
): Generator<void, void> {
  for (let i = 0; i < items.length; i++) {
    if (i % STEP === 0) yield
    visit(items[i]!, i)
  }
}

/** Long computations that leave the event loop to others in between. Each is a generator that yields where it may pause. */

/** Longest turn, milliseconds: a check-in waits for at most about so long. */
const TURN_MS = 8
/** Items between two places where a computation may pause. */
const STEP = 2_000

/** Runs the computation to its end, in turns of the event loop. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  let beganMs = performance.now()
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (performance.now() - beganMs < TURN_MS) continue
    await new Promise(setImmediate)
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

/** Sorts a copy; items that compare equal keep their order. */
export function* sorted<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<void, readonly T[]> {
  if (items.length <= STEP) return items.toSorted(compare)
  const middle = items.length >> 1
  const first = yield* sorted(items.slice(0, middle), compare)
  const second = yield* sorted(items.slice(middle), compare)
  return yield* merged(first, second, compare)
}

/** Merges two sorted lists; of items that compare equal those of the first list are first. */
export function* merged<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<void, readonly T[]> {
  if (second.length === 0) return first
  const all: T[] = []
  let next = 0
  yield* eachOf(first, (item) => {
    while (next < second.length && compare(second[next]!, item) < 0) all.push(second[next++]!)
    all.push(item)
  })
  yield* eachOf(second.slice(next), (item) => all.push(item))
  return all
}

/** Reading at once what many ask for at the same time. */
import { within } from './deadline.ts'

/** Keys of one reading. */
const KEYS_A_READING = 100
/** A reading that takes longer does not hold up the next one. */
const TIMEOUT_MS = 20

/**
 * Collects the keys that are asked for in a turn of the event loop, and while others are being read, and reads them
 * at once. Every reading begins after all who share it have asked, so that nobody is told of less than what was
 * written before they asked.
 * @param read what stands under each of some keys, each given once; a failure is everybody's who shares it
 * @param patienceMs how long the next reading waits for one that is under way
 * @returns a function that asks for one key, and answers undefined where nothing stands under it
 */
export function createBatchLoader<V>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  patienceMs = TIMEOUT_MS,
): (key: string) => Promise<V | undefined> {
  const waiting = new Map<string, PromiseWithResolvers<V | undefined>>()
  let isReading = false

  const readSome = async (): Promise<void> => {
    const some = [...waiting].slice(0, KEYS_A_READING)
    for (const [key] of some) waiting.delete(key)
    try {
      const found = await read(some.map(([key]) => key))
      for (const [key, { resolve }] of some) resolve(found.get(key))
    } catch (error) {
      for (const [, { reject }] of some) reject(error)
    }
  }

  const readAll = async (): Promise<void> => {
    while (waiting.size > 0) await within(readSome(), patienceMs, () => undefined)
    isReading = false
  }

  return (key) => {
    let asked = waiting.get(key)
    if (asked === undefined) waiting.set(key, (asked = Promise.withResolvers()))
    if (!isReading) {
      isReading = true
      setImmediate(() => void readAll())
    }
    return asked.promise
  }
}

/** A batch loader: reads the keys of concurrent requests together. */
import { within } from './deadline.ts'

/** Maximum number of keys per batch. */
const MAX_BATCH_KEYS = 100
/** The next batch does not wait longer than this for the current one. */
const TIMEOUT_MS = 20

/**
 * Collects keys requested within one turn of the event loop, or while another batch is being read, and reads them in
 * one batch. A batch starts after all its requests, so each sees everything written before it.
 * @param read returns the values of a batch of distinct keys
 * @param failsAll whether an error rejects all requests of a batch; after any other error the halves are read, so that
 *   one key alone fails
 * @param timeoutMs how long the next batch waits for the current one
 * @returns a function that reads one key; undefined: there is no value
 */
export function createBatchLoader<V>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  failsAll: (error: unknown) => boolean,
  timeoutMs = TIMEOUT_MS,
): (key: string) => Promise<V | undefined> {
  const pending = new Map<string, PromiseWithResolvers<V | undefined>>()
  let isReading = false

  const readBatch = async (batch: [string, PromiseWithResolvers<V | undefined>][]): Promise<void> => {
    try {
      const found = await read(batch.map(([key]) => key))
      for (const [key, { resolve }] of batch) resolve(found.get(key))
    } catch (error) {
      const half = failsAll(error) ? 0 : batch.length >> 1
      if (half > 0) await Promise.all([readBatch(batch.slice(0, half)), readBatch(batch.slice(half))])
      else for (const [, { reject }] of batch) reject(error)
    }
  }

  const readAll = async (): Promise<void> => {
    while (pending.size > 0) {
      const batch = [...pending].slice(0, MAX_BATCH_KEYS)
      for (const [key] of batch) pending.delete(key)
      await within(readBatch(batch), timeoutMs, () => undefined)
    }
    isReading = false
  }

  return (key) => {
    let request = pending.get(key)
    if (request === undefined) pending.set(key, (request = Promise.withResolvers()))
    if (!isReading) {
      isReading = true
      setImmediate(() => void readAll())
    }
    return request.promise
  }
}

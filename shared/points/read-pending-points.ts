/** Reads of the buffer for answers that are useful without it: they return null when the kv is unavailable or slow. */
import { isKvUnavailable, type Entry, type Kv } from '#shared/stores/kv/kv.ts'
import { within } from '#shared/runtime/deadline.ts'

/** The timeout of every other request to the kv; only calls that move thousands of entries have longer ones. */
const TIMEOUT_MS = 800

/** Any read of the kv for such an answer; null: the kv is unavailable or slow. */
export async function peekWithin<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await within(read, TIMEOUT_MS, () => null)
  } catch (error) {
    if (isKvUnavailable(error)) return null
    throw error
  }
}

/** Pending points of several pilgrims, in the order of `userIds`; null: the buffer is unavailable. */
export const peekWithTimeout = (kv: Kv, userIds: readonly string[]): Promise<Entry[][] | null> =>
  peekWithin(kv.peekEach(userIds))

/** All pilgrims with pending points; null: the buffer is unavailable. */
export async function pendingUsersWithTimeout(kv: Kv): Promise<string[] | null> {
  const partitions = Array.from({ length: kv.partitions }, (_, partition) => kv.pendingUsers(partition))
  return (await peekWithin(Promise.all(partitions)))?.flat() ?? null
}

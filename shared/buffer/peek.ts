/**
 * What readers ask of the buffer, for answers that are useful without it: while the kv is away, or silent, they are
 * told so in a bounded time.
 */
import { isKvUnavailable, type Entry, type Kv } from '#shared/kv/kv.ts'
import { within } from '#shared/runtime/deadline.ts'

/** As long as a request waits for the kv in any other case; moving thousands of entries has more. */
const TIMEOUT_MS = 800

async function inTime<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await within(asked, TIMEOUT_MS, () => null)
  } catch (error) {
    if (isKvUnavailable(error)) return null
    throw error
  }
}

/** Pending points of several pilgrims, in their order; null: the buffer can not be asked. */
export const peekInTime = (kv: Kv, userIds: readonly string[]): Promise<Entry[][] | null> =>
  inTime(kv.peekEach(userIds))

/** Everybody with pending points; null: the buffer can not be asked. */
export async function waitingInTime(kv: Kv): Promise<string[] | null> {
  const partitions = Array.from({ length: kv.partitions }, (_, partition) => kv.pendingUsers(partition))
  return (await inTime(Promise.all(partitions)))?.flat() ?? null
}

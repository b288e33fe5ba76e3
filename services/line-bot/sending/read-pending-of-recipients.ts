/** Reads from the buffer what the selection of recipients needs. */
import { peekWithTimeout, pendingUsersWithTimeout } from '#shared/buffer/read-pending-points.ts'
import { type Point, unpack } from '#shared/buffer/point.ts'
import type { Entry, Kv } from '#shared/kv/kv.ts'

export interface RecipientBuffer {
  /**
   * Everybody with pending points. Empty while the buffer is unavailable; the selection then uses the tables alone.
   */
  readonly waiting: readonly string[]
  /** Reads the pending points in the area of some of them. */
  read(userIds: readonly string[]): Promise<ReadonlyMap<string, readonly Point[]>>
}

/** Reads the buffer, outside any transaction, so that a slow kv holds no locks. */
export async function readPendingOfRecipients(kv: Kv): Promise<RecipientBuffer> {
  const waiting = (await pendingUsersWithTimeout(kv)) ?? []
  return {
    waiting,
    async read(userIds) {
      const pending = (await peekWithTimeout(kv, userIds)) ?? []
      return new Map(userIds.map((userId, i) => [userId, (pending[i] ?? []).flatMap(readable)]))
    },
  }
}

/** Skips unreadable entries; the flush makes them dead letters. */
function readable(entry: Entry): Point[] {
  try {
    const point = unpack(entry)
    return point.inRange ? [point] : []
  } catch {
    return []
  }
}

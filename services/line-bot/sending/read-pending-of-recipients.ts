/** Reads from the buffer what the selection of recipients needs. */
import { peekWithTimeout, pendingUsersWithTimeout } from '#shared/points/pending-points.ts'
import { type Point, readablePoints } from '#shared/points/point.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'

export interface RecipientBuffer {
  /** Everybody with pending points; null: the buffer is unavailable. */
  readonly waiting: readonly string[] | null
  /** Reads the pending points in the area of some of them; null: the buffer is unavailable. */
  read(userIds: readonly string[]): Promise<ReadonlyMap<string, readonly Point[]> | null>
}

/** Reads the buffer, outside any transaction, so that a slow kv holds no locks. */
export async function readPendingOfRecipients(kv: Kv): Promise<RecipientBuffer> {
  return {
    waiting: await pendingUsersWithTimeout(kv),
    async read(userIds) {
      const pending = await peekWithTimeout(kv, userIds)
      return (
        pending &&
        new Map(
          userIds.map((userId, i) => [
            userId,
            readablePoints(pending[i] ?? []).filter(({ inRange }) => inRange),
          ]),
        )
      )
    },
  }
}

/** Disconnects the tracker apps of a pilgrim who takes the consent back. */
import { eq } from 'drizzle-orm'
import type { Writer } from '#shared/bus/outbox.ts'
import type { Kv } from '#shared/kv/kv.ts'
import { trackers } from '#shared/schema/trackers.ts'
import { revokeKeys } from './tracker-keys.ts'

/**
 * Deletes all trackers of a pilgrim. Part of the transaction that withdraws the consent; when it resolves, no replica
 * accepts their keys.
 * @throws KvUnavailable, and then nothing is deleted
 */
export async function endTrackers(tx: Writer, kv: Kv, userId: string): Promise<void> {
  const gone = await tx
    .delete(trackers)
    .where(eq(trackers.userId, userId))
    .returning({ keyHash: trackers.keyHash })
  await revokeKeys(
    kv,
    gone.map(({ keyHash }) => keyHash),
  )
}

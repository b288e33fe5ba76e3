/** Presence on the live map: pilgrims who withdrew from the event, or withdrew their consent, are hidden. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/**
 * Copies a pilgrim's visibility from their row to the kv. The row is locked meanwhile, so that concurrent changes
 * reach the kv in order, and an erasure after them.
 * @throws KvUnavailable: the row is unchanged, the caller retries
 */
export async function updateLiveMapPresence(
  { db, kv }: Pick<ServiceContext, 'db' | 'kv'>,
  userId: string,
): Promise<void> {
  await db.orm.transaction(async (tx) => {
    const mine = tx
      .select({ status: pilgrims.participantStatus, withdrawn: pilgrims.consentWithdrawn })
      .from(pilgrims)
      .where(eq(pilgrims.userId, userId))
    const [row] = await mine.for('update')
    // The kv forgets an erased pilgrim as well.
    if (row !== undefined) await kv.hide(userId, row.status === 'withdrawn' || row.withdrawn)
  })
}

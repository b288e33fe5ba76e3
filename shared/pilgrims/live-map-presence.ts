/** Who is on the live map: not the withdrawn, and not those who took back their consent. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/**
 * Brings the kv to what the pilgrim's row says. The row is held meanwhile, so that of two changes the later one
 * reaches the kv last, and an erasure comes after both.
 * @throws KvUnavailable: the row stands, the caller tries again
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
    // Whoever has been erased is forgotten by the kv, too.
    if (row !== undefined) await kv.hide(userId, row.status === 'withdrawn' || row.withdrawn)
  })
}

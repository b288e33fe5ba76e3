/** An operator ends a pilgrim's trackers and links, for example after a phone was lost. */
import { and, eq } from 'drizzle-orm'
import { notFound } from '#shared/runtime/refusal.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { revokeKeys } from '#shared/pilgrims/tracker-keys.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { shares, trackers } from '#shared/stores/schema/tables.ts'
import { audit } from '#shared/service/security/audit-log.ts'
import type { Acting } from '#shared/service/security/admin-auth.ts'
import { unknownPilgrim } from '#shared/pilgrims/profile.ts'
import { lockOutErasure } from './audit-look.ts'

/**
 * Revokes a tracker. When it resolves, no replica accepts the key.
 * @throws Refusal 404 when the pilgrim has no such tracker; KvUnavailable, and then nothing is revoked
 */
export async function revokeTrackerOfUser(
  { db, kv, now }: ServiceContext,
  operator: Acting,
  userId: string,
  id: string,
): Promise<{ id: string }> {
  await db.orm.transaction(async (tx) => {
    if (!(await lockOutErasure(tx, userId))) throw unknownPilgrim(userId)
    const [gone] = await tx
      .delete(trackers)
      .where(and(eq(trackers.id, id), eq(trackers.userId, userId)))
      .returning({ keyHash: trackers.keyHash })
    if (gone === undefined)
      throw notFound('This pilgrim has no such tracker; it may have been revoked already.')
    await audit(tx, operator, 'revoke-tracker', { user_id: userId }, now())
    // Before the commit: without the kv, other replicas would go on to accept the key.
    await revokeKeys(kv, [gone.keyHash])
  })
  return { id }
}

/** Ends all links to a pilgrim's page. @throws Refusal 404 when there are none */
export async function revokeSharesOfUser(
  { db, now }: ServiceContext,
  operator: Acting,
  userId: string,
): Promise<{ revoked: number }> {
  return db.orm.transaction(async (tx) => {
    if (!(await lockOutErasure(tx, userId))) throw unknownPilgrim(userId)
    const revoked = await tx.$count(shares, eq(shares.userId, userId))
    if (revoked === 0) throw notFound('This pilgrim has no links.')
    await endShares(tx, userId)
    await audit(tx, operator, 'revoke-shares', { user_id: userId }, now())
    return { revoked }
  })
}

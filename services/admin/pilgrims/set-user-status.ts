/** Operators may set any participant status. Only pilgrims themselves can not change completed. */
import { eq } from 'drizzle-orm'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { ParticipantStatusAnswer } from '#shared/contracts/profile.ts'
import type { SetParticipantRequest } from '#shared/contracts/reports.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/live-map-presence.ts'
import { pilgrims } from '#shared/schema/profiles.ts'
import { unknownPilgrim } from './audit-look.ts'
import { isOnlyPending } from './only-pending.ts'

/**
 * Sets the status, also of a pilgrim who is known only in the buffer. The same status again changes nothing.
 * @throws Refusal 404 for an unknown pilgrim; KvUnavailable when the live map has to change, and then nothing is stored
 */
export async function setUserStatus(
  context: ServiceContext,
  operator: Operator,
  userId: string,
  { status }: SetParticipantRequest,
  requestId: string,
): Promise<ParticipantStatusAnswer> {
  const { db, kv, now } = context
  const nowMs = now()
  const mine = eq(pilgrims.userId, userId)
  const onlyPending = await isOnlyPending(context, userId)
  await db.orm.transaction(async (tx) => {
    if (onlyPending) await ensurePilgrim(tx, userId, nowMs)
    const [held] = await tx.select().from(pilgrims).where(mine).for('update')
    if (held === undefined) throw unknownPilgrim(userId)
    if (held.participantStatus !== status) {
      await tx
        .update(pilgrims)
        .set({ participantStatus: status, updatedAt: new Date(now()) })
        .where(mine)
      if (status === 'withdrawn') await endShares(tx, userId)
      await audit(tx, operator, 'set-user-status', { user_id: userId, status }, requestId, now())
    }
    await updateLiveMapPresence(kv, userId, held, { ...held, participantStatus: status })
  })
  return { userId, participant_status: status }
}

/** An operator may set any participant status; completed is final for the pilgrim only. */
import { eq } from 'drizzle-orm'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { ParticipantStatusAnswer } from '#shared/contracts/profile.ts'
import type { SetParticipantRequest } from '#shared/contracts/reports.ts'
import { notFound } from '#shared/http/errors.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/live-map-presence.ts'
import { isBeingErased } from '#shared/pilgrims/person-lock.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/**
 * Sets it, also of someone whose points still wait in the buffer.
 * @throws Refusal 404 for someone who is not known
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
  const [stored] = await db.read(() => db.orm.select({ userId: pilgrims.userId }).from(pilgrims).where(mine))
  const onlyWaits =
    stored === undefined && (await kv.peek(userId)).length > 0 && !(await isBeingErased(db.orm, userId))
  await db.orm.transaction(async (tx) => {
    if (onlyWaits) await ensurePilgrim(tx, userId, nowMs)
    const [changed] = await tx
      .update(pilgrims)
      .set({ participantStatus: status, updatedAt: new Date(now()) })
      .where(mine)
      .returning({ userId: pilgrims.userId })
    if (changed === undefined) throw notFound(`Nothing is known of a pilgrim with the id ${userId}.`)
    await audit(tx, operator, 'set-user-status', { user_id: userId, status }, requestId, now())
  })
  await updateLiveMapPresence(context, userId)
  return { userId, participant_status: status }
}

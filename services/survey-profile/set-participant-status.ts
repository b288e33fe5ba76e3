/** A pilgrim's own status: active ↔ withdrawn, active → completed. The pilgrim can not change completed. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { ParticipantStatus } from '#shared/contracts/fields.ts'
import type { ParticipantStatusAnswer, ParticipantStatusRequest } from '#shared/contracts/profile.ts'
import { conflict } from '#shared/runtime/refusal.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/kv-copies.ts'
import { upsertPilgrim } from './upsert-pilgrim.ts'

const NEXT: Record<ParticipantStatus, readonly ParticipantStatus[]> = {
  active: ['active', 'withdrawn', 'completed'],
  withdrawn: ['withdrawn', 'active'],
  completed: ['completed'],
}

/**
 * @throws Refusal 409 for a transition that the pilgrim may not make; KvUnavailable when the live map has to change,
 * and then nothing is stored
 */
export async function setParticipantStatus(
  context: ServiceContext,
  { user_id: userId, status }: ParticipantStatusRequest,
): Promise<ParticipantStatusAnswer> {
  const { db, kv, now } = context
  const nowMs = now()
  await db.orm.transaction(async (tx) => {
    // Creates the row first, so that there is one to lock.
    const held = await upsertPilgrim(tx, userId, {}, nowMs)
    const from = held.participantStatus as ParticipantStatus
    if (!NEXT[from].includes(status)) throw conflict(refusal(from, status))
    const changed = await upsertPilgrim(tx, userId, { participantStatus: status }, nowMs)
    if (status === 'withdrawn') await endShares(tx, userId)
    await updateLiveMapPresence(kv, userId, held, changed)
  })
  return { userId, participant_status: status }
}

const refusal = (from: ParticipantStatus, to: ParticipantStatus): string =>
  from === 'completed'
    ? 'You have completed the pilgrimage. Only an operator can change this status.'
    : `The status can not change from ${from} to ${to}. Change it to active first.`

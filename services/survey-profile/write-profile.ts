/** Writes a pilgrim's row. Creates it if needed, and changes only the fields that were sent. */
import { eq } from 'drizzle-orm'
import {
  MAX_MODES,
  MAX_REPORTED_KM,
  normalizeModes,
  type PhoneRequest,
  type Profile,
  type UserSyncRequest,
  type ParticipantStatusAnswer,
  type ParticipantStatusRequest,
} from '#shared/contracts/profile.ts'
import { invalid, conflict } from '#shared/runtime/refusal.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { lockPersonUnlessErased } from '#shared/pilgrims/person-lock.ts'
import { addToReportTotals } from '#shared/pilgrims/report-totals.ts'
import { type Reported, reportedAmounts } from '#shared/core/rules/carbon.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { maskPhone, toPublicProfile, expectProfile, readExposure } from '#shared/pilgrims/profile.ts'
import { readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import type { ParticipantStatus } from '#shared/contracts/fields.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/kv-copies.ts'

type Row = typeof pilgrims.$inferSelect
type PilgrimFields = Partial<Omit<Row, 'userId' | 'createdAt' | 'updatedAt'>>

/**
 * Creates or changes a pilgrim in one statement, so that two concurrent first writes create one pilgrim. Must be the
 * first write of its transaction.
 * @param nowMs when the request was received
 * @throws Refusal 410 when the pilgrim was erased (`lockPersonUnlessErased`)
 */
export async function upsertPilgrim(
  tx: Tx,
  userId: string,
  fields: PilgrimFields,
  nowMs: number,
): Promise<Row> {
  await lockPersonUnlessErased(tx, userId, nowMs)
  const at = new Date(nowMs)
  const [row] = await tx.orm
    .insert(pilgrims)
    .values({ ...fields, userId, createdAt: at, updatedAt: at })
    .onConflictDoUpdate({ target: pilgrims.userId, set: { ...fields, updatedAt: at } })
    .returning()
  return row!
}

/**
 * Merges reported amounts into a pilgrim whose row the transaction has locked. A given amount replaces the one of the
 * same name.
 * @throws Refusal 400 when the pilgrim would have reported too many modes, or too many kilometres of one
 */
export async function mergeReported(tx: Tx, row: Row, given: Reported): Promise<void> {
  const consumption = { ...row.consumption, ...given.consumption }
  const before = normalizeModes(row.transport)
  const transport = { ...before, ...given.transport }
  const modes = Object.keys(transport).length
  if (modes > MAX_MODES && modes > Object.keys(before).length)
    throw invalid(
      `transport: with those of earlier calls there would be ${modes} modes, and at most ${MAX_MODES} are possible; use their names`,
    )
  const was = reportedAmounts({ consumption: {}, transport: before })
  for (const [mode, { amount }] of reportedAmounts({ consumption: {}, transport }))
    if (amount > MAX_REPORTED_KM * 1e6 && amount > (was.get(mode)?.amount ?? 0))
      throw invalid(
        `transport: with those of earlier calls there would be more than 5,000 km by ${mode}; an unknown mode counts as bus`,
      )
  await tx.orm.update(pilgrims).set({ consumption, transport }).where(eq(pilgrims.userId, row.userId))
  await addToReportTotals(tx, row, { consumption, transport })
}

/** Sets or clears the number. Returns it masked. */
export async function setPhone(
  { db, now }: ServiceContext,
  { user_id: userId, phone }: PhoneRequest,
): Promise<{ userId: string; phone: string | null }> {
  const nowMs = now()
  await db.transaction((tx) => upsertPilgrim(tx, userId, { phone }, nowMs))
  return { userId, phone: phone === null ? null : maskPhone(phone) }
}

// Profile data from a phone or LINE, and reported consumption and transport.

const given = <T>(
  fields: Readonly<Record<string, T | null | undefined>> | null | undefined,
): Record<string, T> =>
  Object.fromEntries(Object.entries(fields ?? {}).filter((entry): entry is [string, T] => entry[1] != null))

/** Stores the given fields and returns the profile: all of it only when the caller is verified as the pilgrim. */
export async function syncUser(context: ServiceContext, request: UserSyncRequest): Promise<Profile> {
  const { config, db, event, now } = context
  const { user_id: userId } = request
  const nowMs = now()
  const fields = given({
    displayName: request.display_name,
    pictureUrl: request.picture_url,
    language: request.language,
  })
  const consumption = given(request.consumption)
  const transport = given(request.transport)
  await db.transaction(async (tx) => {
    const row = await upsertPilgrim(tx, userId, fields, nowMs)
    if (Object.keys({ ...consumption, ...transport }).length > 0)
      await mergeReported(tx, row, { consumption, transport })
  })
  const found = (await readPilgrimsDegraded(context, [userId])).get(userId)
  const profile = expectProfile(event.current, userId, found)
  // The caller has been verified as the pilgrim, unless EVENT_IDENTITY is open.
  if (config.identity !== 'open') return profile
  return toPublicProfile(context, profile, found, (await readExposure(context))(userId))
}

// Status changes by the pilgrim: active ↔ withdrawn, active → completed. `completed` is final, unless a
// claim set it.

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
  const { config, db, kv, now } = context
  const nowMs = now()
  await db.transaction(async (tx) => {
    // Creates the row first, so that there is one to lock.
    const row = await upsertPilgrim(tx, userId, {}, nowMs)
    const from = row.participantStatus as ParticipantStatus
    const next = row.completionClaimed ? NEXT.active : NEXT[from]
    if (!next.includes(status)) throw conflict(refusal(from, status))
    const claimed = isClaim(config, userId)
    const completionClaimed =
      status === 'completed' && claimed && (row.completionClaimed || from !== 'completed')
    const changed = await upsertPilgrim(tx, userId, { participantStatus: status, completionClaimed }, nowMs)
    // While the pilgrim is withdrawn, no link works. After a claim they work again.
    if (status === 'withdrawn' && !claimed) await endShares(tx, userId)
    await updateLiveMapPresence(kv, userId, row, changed)
  })
  return { userId, participant_status: status }
}

const refusal = (from: ParticipantStatus, to: ParticipantStatus): string =>
  from === 'completed'
    ? 'You have completed the pilgrimage. Only an operator can change this status.'
    : `The status cannot change from ${from} to ${to}. Change it to active first.`

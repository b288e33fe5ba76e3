/** One pilgrim as a manager needs to see them to help: with the phone number, and audited for it. */
import { seenAt } from '#shared/contracts/first-and-last-seen.ts'
import { eq } from 'drizzle-orm'
import { peekInTime } from '#shared/buffer/peek.ts'
import { type BufferedPoint, fieldOf, unpack } from '#shared/buffer/point.ts'
import { ParticipantStatus, Role, type Time, time } from '#shared/contracts/fields.ts'
import { LISTED, type UserDetail } from '#shared/contracts/user-detail.ts'
import { foldPending, type Pilgrim } from '#shared/fold/pilgrim-statistics.ts'
import { zeroSums } from '#shared/fold/point-totals.ts'
import { notFound, unavailable } from '#shared/http/errors.ts'
import type { Entry } from '#shared/kv/kv.ts'
import { isLineUserId } from '#shared/line/line-client.ts'
import { achievementCard } from '#shared/rules/achievement.ts'
import { savedMg } from '#shared/rules/carbon.ts'
import { levelOf, nextLevel } from '#shared/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/rules/reported-carbon.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import { pilgrims } from '#shared/schema/profiles.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import { audit } from '#shared/security/audit-log.ts'
import { type CheckIn, readUserRows, type UserRows } from './read-user-rows.ts'

const timeOrNull = (ms: number | null | undefined): Time | null => (ms == null ? null : time(ms))

/**
 * Shows everything about one pilgrim; what waits in the buffer is missing while it can not be asked. The audit log
 * tells who looked: without its entry nothing is shown.
 * @throws Refusal 404 for someone who is not known, 503 where that can not be said
 */
export async function showUser(
  context: ServiceContext,
  operator: Operator,
  userId: string,
  requestId: string,
): Promise<UserDetail> {
  const { db, kv, now } = context
  const entries = (await peekInTime(kv, [userId]))?.[0] ?? null
  const pilgrim = (await foldPending(context, [{ userId, entries: entries ?? [] }])).get(userId)
  if (pilgrim === undefined && entries === null)
    throw unavailable('Nothing is stored of this pilgrim yet: please try again in a moment.')
  if (pilgrim === undefined) throw unknown(userId)
  const rows = await db.read(() => readUserRows(db.sql, userId))
  await db.orm.transaction(async (tx) => {
    // An erasure waits for the entry, or has taken the row already: their id does not come back into the log.
    const mine = tx.select({ id: pilgrims.userId }).from(pilgrims).where(eq(pilgrims.userId, userId))
    if ((await mine.for('key share')).length === 0 && pilgrim.row !== null) throw unknown(userId)
    await audit(tx, operator, 'show-user', { user_id: userId }, requestId, now())
  })
  return {
    ...figuresOf(pilgrim),
    ...saidOf(userId, pilgrim, rows),
    ...rows.lists,
    pending: entries === null ? null : pilgrim.pending,
    recent_checkins: checkInsOf(rows.checkIns, entries ?? []),
  }
}

const unknown = (userId: string) => notFound(`Nothing is known of a pilgrim with the id ${userId}.`)

/** What is counted of them. */
function figuresOf({ row, statistics, storedPoints }: Pilgrim) {
  const { checkins, distanceMm, carbonMg: mg } = statistics ?? zeroSums()
  const { consumption, transport } = row ?? { consumption: {}, transport: {} }
  const reported = transportSums(transport)
  const { level, zh, en, icon } = levelOf(distanceMm, checkins)
  const surveyCompleted = row?.surveyCompleted ?? false
  return {
    level,
    level_name: { zh, en },
    icon,
    km: roundKm(distanceMm),
    checkins,
    next_level: nextLevel(distanceMm, checkins),
    carbon_kg: roundKg(mg + reported.carbonMg + consumptionMg(consumption)),
    carbon_saved_kg: roundKg(savedMg(distanceMm + reported.distanceMm, mg + reported.carbonMg)),
    consumption,
    transport,
    survey_completed: surveyCompleted ? (1 as const) : (0 as const),
    achievement_card: achievementCard({ checkins, surveyCompleted, phone: row?.phone ?? null }),
    photo_count: row?.photoCount ?? 0,
    stored_points: storedPoints,
    first_seen: seenAt(statistics?.firstMs),
    last_seen: seenAt(statistics?.lastMs),
  }
}

/** What they, LINE and operators have said of them. */
function saidOf(userId: string, { row }: Pilgrim, { single }: UserRows) {
  return {
    userId,
    display_name: row?.displayName ?? null,
    picture_url: row?.pictureUrl ?? null,
    language: row?.language ?? null,
    phone: row?.phone ?? null,
    participant_status: ParticipantStatus.parse(row?.participantStatus ?? 'active'),
    role: single.role === null ? null : Role.parse(single.role),
    role_assigned_by: single.role_by,
    role_assigned_at: timeOrNull(single.role_ms),
    reachable: isLineUserId(userId) && single.reachable !== false,
    reachable_changed_at: timeOrNull(single.reachable_ms),
    privacy_agreed: row?.privacyAgreed ?? false,
    privacy_agreed_at: timeOrNull(row?.privacyAgreedMs),
    privacy_version: single.privacy_version,
    consent_withdrawn: single.consent_withdrawn ?? false,
    created_at: timeOrNull(row?.createdMs),
    updated_at: timeOrNull(row?.updatedMs),
  }
}

/** Of the table and the buffer together; what a flush has stored since the buffer was read is in both. */
function checkInsOf(stored: readonly CheckIn[], entries: readonly Entry[]): UserDetail['recent_checkins'] {
  const known = new Set(stored.map(({ sentMs }) => fieldOf({ kind: 'c', sentMs })))
  const pending = entries.filter(({ field }) => field.startsWith('c') && !known.has(field)).flatMap(readable)
  return [
    ...stored.map((point) => ({ ...point, pending: false })),
    ...pending.map((point) => ({ ...point, pending: true })),
  ]
    .sort((a, b) => b.sentMs - a.sentMs)
    .slice(0, LISTED)
    .map(({ recordedMs, receivedMs, lat, lng, mode, inRange, pending: waits }) => ({
      recorded_at: time(recordedMs),
      received_at: time(receivedMs),
      ...{ lat, lng, mode },
      in_range: inRange,
      pending: waits,
    }))
}

/** Entries that can not be read are the flush's to set aside. */
function readable(entry: Entry): BufferedPoint[] {
  try {
    return [unpack(entry)]
  } catch {
    return []
  }
}

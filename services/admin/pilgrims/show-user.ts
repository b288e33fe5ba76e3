/** One pilgrim in full for a manager, with the phone number. Each call is audited. */
import { seenAt } from '#shared/contracts/first-and-last-seen.ts'
import { peekWithTimeout } from '#shared/buffer/read-pending-points.ts'
import { fieldOf } from '#shared/buffer/point.ts'
import { ParticipantStatus, Role, type Time, time } from '#shared/contracts/fields.ts'
import { LISTED, type UserDetail } from '#shared/contracts/user-detail.ts'
import { foldPending, type Pilgrim } from '#shared/fold/pilgrim-statistics.ts'
import { zeroTotals } from '#shared/fold/point-totals.ts'
import { unavailable } from '#shared/http/errors.ts'
import type { Entry } from '#shared/kv/kv.ts'
import { isLineUserId } from '#shared/line/line-client.ts'
import { achievementCard } from '#shared/rules/achievement.ts'
import { savedMg } from '#shared/rules/carbon.ts'
import { levelOf, nextLevel } from '#shared/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/rules/reported-carbon.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import { auditLook, unknownPilgrim } from './audit-look.ts'
import { summarizeLatestDay } from './explain-day.ts'
import { readable } from './readable-entries.ts'
import { type CheckIn, readUserRows, type UserRows } from './read-user-rows.ts'

const timeOrNull = (ms: number | null | undefined): Time | null => (ms == null ? null : time(ms))

/**
 * Returns everything about one pilgrim, without pending points while the buffer is unavailable. Writes an entry to the
 * audit log; when that fails, the call fails.
 * @throws Refusal 404 for an unknown pilgrim, 503 when that can not be determined
 */
export async function showUser(
  context: ServiceContext,
  operator: Operator,
  userId: string,
  requestId: string,
): Promise<UserDetail> {
  const { db, kv } = context
  const entries = (await peekWithTimeout(kv, [userId]))?.[0] ?? null
  const pilgrim = (await foldPending(context, [{ userId, entries: entries ?? [] }])).get(userId)
  if (pilgrim === undefined && entries === null)
    throw unavailable('Nothing is stored about this pilgrim yet. Please try again in a moment.')
  if (pilgrim === undefined) throw unknownPilgrim(userId)
  const [rows, day] = await Promise.all([
    db.read(() => readUserRows(db.sql, userId)),
    summarizeLatestDay(context, userId, entries ?? []),
  ])
  await auditLook(context, { operator, userId, requestId }, { action: 'show-user' }, pilgrim.row !== null)
  return {
    ...figuresOf(pilgrim),
    ...fieldsOf(userId, pilgrim, rows),
    ...rows.lists,
    pending: entries === null ? null : pilgrim.pending,
    latest_day: day,
    recent_checkins: checkInsOf(rows.checkIns, entries ?? []),
  }
}

/** Figures that are computed. */
function figuresOf({ row, statistics, storedPoints }: Pilgrim) {
  const { checkins, distanceMm, carbonMg: mg } = statistics ?? zeroTotals()
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

/** Fields that the pilgrim, LINE or operators have set. */
function fieldsOf(userId: string, { row }: Pilgrim, { single }: UserRows) {
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
    push_devices: single.push_devices,
    privacy_agreed: row?.privacyAgreed ?? false,
    privacy_agreed_at: timeOrNull(row?.privacyAgreedMs),
    privacy_version: single.privacy_version,
    consent_withdrawn: single.consent_withdrawn ?? false,
    created_at: timeOrNull(row?.createdMs),
    updated_at: timeOrNull(row?.updatedMs),
  }
}

/** Check-ins of the table and the buffer. One that a flush has stored since the buffer was read is in both. */
function checkInsOf(stored: readonly CheckIn[], entries: readonly Entry[]): UserDetail['recent_checkins'] {
  const known = new Set(stored.map(({ sentMs }) => fieldOf({ kind: 'c', sentMs })))
  const pending = readable(entries.filter(({ field }) => field.startsWith('c') && !known.has(field)))
  return [
    ...stored.map((point) => ({ ...point, pending: false })),
    ...pending.map((point) => ({ ...point, pending: true })),
  ]
    .sort((a, b) => b.sentMs - a.sentMs)
    .slice(0, LISTED)
    .map(({ recordedMs, receivedMs, lat, lng, mode, inRange, pending: isPending }) => ({
      recorded_at: time(recordedMs),
      received_at: time(receivedMs),
      lat,
      lng,
      mode,
      in_range: inRange,
      pending: isPending,
    }))
}

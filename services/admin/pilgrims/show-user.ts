/** One pilgrim in full for a manager, with the phone number. Each call is audited. */
import { peekPilgrim } from '#shared/points/pending-points.ts'
import { fieldOf, readablePoints } from '#shared/points/point.ts'
import { ParticipantStatus, Role, type Time, time, seenAt } from '#shared/contracts/fields.ts'
import { LISTED, type UserDetail } from '#shared/contracts/user-detail.ts'
import { foldPending, type Pilgrim } from '#shared/points/totals/pilgrim-statistics.ts'
import { zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import { unavailable } from '#shared/runtime/refusal.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'
import { isLineUserId } from '#shared/service/line/line-client.ts'
import { consumptionMg, savedMg, transportSums } from '#shared/core/rules/carbon.ts'
import { levelOf, nextLevel, achievementCard } from '#shared/core/rules/levels.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { auditLook, unknownPilgrim } from './audit-look.ts'
import { summarizeLatestDay } from './explain-day.ts'
import type { Query } from '#shared/stores/db/db.ts'

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
  const entries = await peekPilgrim(kv, userId)
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
    palanquin: single.palanquin ?? false,
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
  const pending = readablePoints(entries.filter(({ field }) => field.startsWith('c') && !known.has(field)))
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

// Reads, in one statement, everything about one pilgrim except their own row and totals.

/** A stored check-in. Times are epoch milliseconds. */
interface CheckIn {
  readonly sentMs: number
  readonly recordedMs: number
  readonly receivedMs: number
  readonly lat: number
  readonly lng: number
  readonly mode: string | null
  readonly inRange: boolean
}

/** Columns of tables in which the pilgrim has one row, or none. */
interface Single {
  readonly role: string | null
  readonly role_by: string | null
  readonly role_ms: number | null
  readonly reachable: boolean | null
  readonly reachable_ms: number | null
  readonly privacy_version: string | null
  readonly consent_withdrawn: boolean | null
  readonly palanquin: boolean | null
  readonly push_devices: number
}

interface UserRows {
  readonly single: Single
  /** The latest stored check-ins. */
  readonly checkIns: readonly CheckIn[]
  readonly lists: Pick<
    UserDetail,
    'consents' | 'survey' | 'recent_feedback' | 'trackers' | 'shares' | 'named_in'
  >
}

interface Row extends Single {
  readonly check_ins: string
  readonly consents: string
  readonly survey: string | null
  readonly feedback: string
  readonly trackers: string
  readonly shares: string
  readonly named_in: string
}

/** SQL for a time in epoch milliseconds, or null. */
const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`

/** SQL for every text in a JSON document, as rows of `t`. */
const textsIn = (column: string): string =>
  `jsonb_path_query(${column}, 'strict $.** ? (@.type() == "string")') AS t`

const STATEMENT = `
  SELECT r.role, r.assigned_by AS role_by, ${ms('r.assigned_at')} AS role_ms,
         f.reachable, ${ms('f.changed_at')} AS reachable_ms, p.privacy_version, p.consent_withdrawn, p.palanquin,
    (SELECT count(*)::int FROM push_subscriptions WHERE user_id = u.user_id) AS push_devices,
    (SELECT coalesce(json_agg(c), '[]') FROM (
      SELECT ${ms('sent_at')} AS "sentMs", ${ms('recorded_at')} AS "recordedMs",
             ${ms('received_at')} AS "receivedMs", lat, lng, mode, in_range AS "inRange"
      FROM gps_points WHERE user_id = u.user_id AND kind = 'c' ORDER BY sent_at DESC LIMIT ${LISTED}) c
    )::text AS check_ins,
    (SELECT coalesce(json_agg(c), '[]') FROM (
      SELECT agreed, version, ${ms('at')} AS at FROM consents
      WHERE user_id = u.user_id ORDER BY id DESC LIMIT ${LISTED}) c
    )::text AS consents,
    (SELECT json_build_object('revision', revision, 'submitted_at', ${ms('submitted_at')}, 'answers', answers)
     FROM surveys WHERE user_id = u.user_id)::text AS survey,
    (SELECT coalesce(json_agg(c), '[]') FROM (
      SELECT id, category, status, ${ms('created_at')} AS created_at FROM feedback
      WHERE user_id = u.user_id ORDER BY id DESC LIMIT ${LISTED}) c
    )::text AS feedback,
    (SELECT coalesce(json_agg(t ORDER BY t.created_at, t.id), '[]') FROM (
      SELECT id, label, ${ms('created_at')} AS created_at FROM trackers WHERE user_id = u.user_id) t
    )::text AS trackers,
    (SELECT coalesce(json_agg(c), '[]') FROM (
      SELECT made_by, show_name, ${ms('live_until')} AS live_until, ${ms('created_at')} AS created_at,
             ${ms('expires_at')} AS expires_at
      FROM shares WHERE user_id = u.user_id ORDER BY created_at DESC, id) c
    )::text AS shares,
    (SELECT coalesce(json_agg(n), '[]') FROM (
      SELECT kind, text, ${ms('at')} AS at FROM (
        SELECT DISTINCT 'message' AS kind, t #>> '{}' AS text, m.created_at AS at
        FROM messages m JOIN message_chunks c ON c.message_id = m.id, ${textsIn('c.body')}
        WHERE m.created_by IS NOT NULL
        UNION ALL SELECT 'note', admin_note, updated_at FROM feedback WHERE user_id IS DISTINCT FROM u.user_id
        UNION ALL SELECT 'log', t #>> '{}', at FROM audit_log, ${textsIn('details')}
      ) written
      -- One character is no name: it would be found everywhere.
      WHERE char_length(p.display_name) > 1 AND strpos(text, p.display_name) > 0
      ORDER BY at DESC LIMIT ${LISTED}) n
    )::text AS named_in
  FROM (SELECT $1::text AS user_id) u
  LEFT JOIN pilgrims p ON p.user_id = u.user_id
  LEFT JOIN role_assignments r ON r.user_id = u.user_id
  LEFT JOIN followers f ON f.user_id = u.user_id`

/** Reads the rows. Everything is null or empty for a pilgrim without any. */
async function readUserRows(query: Query, userId: string): Promise<UserRows> {
  const [row] = await query.unsafe<Row[]>(STATEMENT, [userId])
  const { check_ins, consents, survey, feedback, trackers, shares, named_in, ...single } = row!
  type Timed<T, K extends keyof T> = Omit<T, K> & Record<K, number>
  type Lists = UserRows['lists']
  const consentRows = JSON.parse(consents) as Timed<Lists['consents'][number], 'at'>[]
  const feedbackRows = JSON.parse(feedback) as Timed<Lists['recent_feedback'][number], 'created_at'>[]
  const trackerRows = JSON.parse(trackers) as Timed<Lists['trackers'][number], 'created_at'>[]
  const namedRows = JSON.parse(named_in) as Timed<Lists['named_in'][number], 'at'>[]
  type ShareTimes = 'created_at' | 'expires_at'
  const shareRows = JSON.parse(shares) as (Omit<Timed<Lists['shares'][number], ShareTimes>, 'live_until'> & {
    readonly live_until: number | null
  })[]
  const surveyRow =
    survey === null ? null : (JSON.parse(survey) as Timed<NonNullable<Lists['survey']>, 'submitted_at'>)
  return {
    single,
    checkIns: JSON.parse(check_ins) as CheckIn[],
    lists: {
      consents: consentRows.map((one) => ({ ...one, at: time(one.at) })),
      survey: surveyRow && { ...surveyRow, submitted_at: time(surveyRow.submitted_at) },
      trackers: trackerRows.map((one) => ({ ...one, created_at: time(one.created_at) })),
      recent_feedback: feedbackRows.map((one) => ({ ...one, created_at: time(one.created_at) })),
      named_in: namedRows.map((one) => ({ ...one, at: time(one.at) })),
      shares: shareRows.map((one) => ({
        ...one,
        live_until: one.live_until === null ? null : time(one.live_until),
        created_at: time(one.created_at),
        expires_at: time(one.expires_at),
      })),
    },
  }
}

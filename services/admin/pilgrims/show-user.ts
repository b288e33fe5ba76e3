/** One pilgrim in full for a manager, with the phone number. Each call is audited. */
import { readPendingOf } from '#shared/points/pending-points.ts'
import type { Point } from '#shared/points/point.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import { LISTED, type UserDetail } from '#shared/contracts/user-detail.ts'
import { foldPending } from '#shared/points/totals/pilgrim-statistics.ts'
import { isLineUserId } from '#shared/service/line/line-client.ts'
import { expectKnown, profileOf } from '#shared/pilgrims/profile.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { auditLook } from './audit-look.ts'
import { summarizeLatestDay } from './points-of-day.ts'
import type { Database } from '#shared/stores/db/db.ts'

/**
 * Returns everything about one pilgrim, without pending points while the buffer is unavailable. Writes an entry to the
 * audit log; when that fails, the call fails.
 * @throws Refusal 404 for an unknown pilgrim, 503 when that cannot be determined
 */
export async function showUser(
  context: ServiceContext,
  operator: Acting,
  userId: string,
): Promise<UserDetail> {
  const { db, kv } = context
  const buffered = await readPendingOf(kv, userId)
  const pending = buffered ?? []
  const pilgrim = (await foldPending(context, [{ userId, pending }])).get(userId)
  expectKnown(userId, pilgrim !== undefined, buffered && 0)
  const { row, storedPoints } = pilgrim!
  const [{ reachable, checkIns, ...rows }, day] = await Promise.all([
    readUserRows(db, userId),
    summarizeLatestDay(context, userId, pending),
  ])
  await auditLook(context, operator, userId, { action: 'show-user' }, row !== null)
  return {
    ...profileOf(context.event.current, userId, pilgrim!),
    ...rows,
    language: row?.language ?? null,
    consumption: row?.consumption ?? {},
    transport: row?.transport ?? {},
    consent_withdrawn: row?.consentWithdrawn ?? false,
    known_to_others: isClaim(context.config, userId),
    reachable: isLineUserId(userId) && reachable !== false,
    created_at: timeOrNull(row?.createdMs),
    updated_at: timeOrNull(row?.updatedMs),
    stored_points: storedPoints,
    pending: buffered && buffered.length,
    latest_day: day,
    recent_checkins: checkInsOf(checkIns, pending),
  }
}

/** Check-ins of the table and the buffer. One that a flush has stored since the buffer was read is in both. */
function checkInsOf(stored: readonly CheckIn[], buffered: readonly Point[]): UserDetail['recent_checkins'] {
  const known = new Set(stored.map(({ sentMs }) => sentMs))
  const pending = buffered.filter(({ kind, sentMs }) => kind === 'c' && !known.has(sentMs))
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

interface UserRows extends Pick<
  UserDetail,
  | 'role'
  | 'role_assigned_by'
  | 'role_assigned_at'
  | 'reachable_changed_at'
  | 'palanquin'
  | 'palanquin_tracker'
  | 'push_devices'
  | 'consents'
  | 'survey'
  | 'recent_feedback'
  | 'trackers'
  | 'shares'
  | 'named_in'
> {
  /** As reported by LINE; null: not reported. */
  readonly reachable: boolean | null
  /** The latest stored check-ins. */
  readonly checkIns: readonly CheckIn[]
}

/** SQL for a time as the API writes it (`time`), or null. */
const iso = (column: string): string => `to_char(timezone('UTC', ${column}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL for every text in a JSON document, as rows of `t`. */
const textsIn = (column: string): string =>
  `jsonb_path_query(${column}, 'strict $.** ? (@.type() == "string")') AS t`

const listed = (rows: string): string => `(SELECT coalesce(json_agg(l), '[]') FROM (${rows}) l)`

const STATEMENT = `
  SELECT json_build_object(
    'role', r.role, 'role_assigned_by', r.assigned_by, 'role_assigned_at', ${iso('r.assigned_at')},
    'reachable', f.reachable, 'reachable_changed_at', ${iso('f.changed_at')},
    'palanquin', coalesce(p.palanquin, false), 'palanquin_tracker', p.palanquin_tracker,
    'push_devices', (SELECT count(*) FROM push_subscriptions WHERE user_id = u.user_id),
    'checkIns', ${listed(`
      SELECT epoch_ms(sent_at) AS "sentMs", epoch_ms(recorded_at) AS "recordedMs",
             epoch_ms(received_at) AS "receivedMs", lat, lng, mode, in_range AS "inRange"
      FROM gps_points WHERE user_id = u.user_id AND kind = 'c' ORDER BY sent_at DESC LIMIT ${LISTED}`)},
    'consents', ${listed(`
      SELECT agreed, version, ${iso('at')} AS at FROM consents
      WHERE user_id = u.user_id ORDER BY id DESC LIMIT ${LISTED}`)},
    'survey', (
      SELECT json_build_object('revision', revision, 'submitted_at', ${iso('submitted_at')}, 'answers', answers)
      FROM surveys WHERE user_id = u.user_id),
    'recent_feedback', ${listed(`
      SELECT id, category, status, ${iso('created_at')} AS created_at FROM feedback
      WHERE user_id = u.user_id ORDER BY id DESC LIMIT ${LISTED}`)},
    'trackers', ${listed(`
      SELECT id, label, ${iso('created_at')} AS created_at FROM trackers
      WHERE user_id = u.user_id ORDER BY trackers.created_at, id`)},
    'shares', ${listed(`
      SELECT made_by, show_name, ${iso('live_until')} AS live_until, ${iso('created_at')} AS created_at,
             ${iso('expires_at')} AS expires_at
      FROM shares WHERE user_id = u.user_id ORDER BY shares.created_at DESC, id`)},
    'named_in', ${listed(`
      SELECT kind, text, ${iso('at')} AS at FROM (
        SELECT DISTINCT 'message' AS kind, t #>> '{}' AS text, m.created_at AS at
        FROM messages m JOIN message_chunks c ON c.message_id = m.id, ${textsIn('c.body')}
        WHERE m.created_by IS NOT NULL
        UNION ALL SELECT 'note', admin_note, updated_at FROM feedback WHERE user_id IS DISTINCT FROM u.user_id
        UNION ALL SELECT 'log', t #>> '{}', at FROM audit_log, ${textsIn('details')}
      ) written
      -- One character is no name: it would be found everywhere.
      WHERE char_length(p.display_name) > 1 AND strpos(text, p.display_name) > 0
      ORDER BY written.at DESC LIMIT ${LISTED}`)}
  )::text AS found
  FROM (SELECT $1::text AS user_id) u
  LEFT JOIN pilgrims p ON p.user_id = u.user_id
  LEFT JOIN role_assignments r ON r.user_id = u.user_id
  LEFT JOIN followers f ON f.user_id = u.user_id`

/** Reads, in one statement, everything about one pilgrim except their own row and totals. */
async function readUserRows(db: Database, userId: string): Promise<UserRows> {
  const [row] = await db.read(() => db.sql.unsafe<{ found: string }[]>(STATEMENT, [userId]))
  return JSON.parse(row!.found) as UserRows
}

/** Reads, in one statement, everything about one pilgrim except their own row and totals. */
import { time } from '#shared/contracts/fields.ts'
import { LISTED, type UserDetail } from '#shared/contracts/user-detail.ts'
import type { Query } from '#shared/db/db.ts'

/** A stored check-in. Times are epoch milliseconds. */
export interface CheckIn {
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
  readonly push_devices: number
}

export interface UserRows {
  readonly single: Single
  /** The latest stored check-ins. */
  readonly checkIns: readonly CheckIn[]
  readonly lists: Pick<UserDetail, 'consents' | 'survey' | 'recent_feedback' | 'trackers' | 'shares'>
}

interface Row extends Single {
  readonly check_ins: string
  readonly consents: string
  readonly survey: string | null
  readonly feedback: string
  readonly trackers: string
  readonly shares: string
}

/** SQL for a time in epoch milliseconds, or null. */
const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`

const STATEMENT = `
  SELECT r.role, r.assigned_by AS role_by, ${ms('r.assigned_at')} AS role_ms,
         f.reachable, ${ms('f.changed_at')} AS reachable_ms, p.privacy_version, p.consent_withdrawn,
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
    )::text AS shares
  FROM (SELECT $1::text AS user_id) u
  LEFT JOIN pilgrims p ON p.user_id = u.user_id
  LEFT JOIN role_assignments r ON r.user_id = u.user_id
  LEFT JOIN followers f ON f.user_id = u.user_id`

/** Reads the rows. Everything is null or empty for a pilgrim without any. */
export async function readUserRows(query: Query, userId: string): Promise<UserRows> {
  const [row] = await query.unsafe<Row[]>(STATEMENT, [userId])
  const { check_ins, consents, survey, feedback, trackers, shares, ...single } = row!
  type Timed<T, K extends keyof T> = Omit<T, K> & Record<K, number>
  type Lists = UserRows['lists']
  const consentRows = JSON.parse(consents) as Timed<Lists['consents'][number], 'at'>[]
  const feedbackRows = JSON.parse(feedback) as Timed<Lists['recent_feedback'][number], 'created_at'>[]
  const trackerRows = JSON.parse(trackers) as Timed<Lists['trackers'][number], 'created_at'>[]
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
      shares: shareRows.map((one) => ({
        ...one,
        live_until: one.live_until === null ? null : time(one.live_until),
        created_at: time(one.created_at),
        expires_at: time(one.expires_at),
      })),
    },
  }
}

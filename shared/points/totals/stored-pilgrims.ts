/** Reads stored pilgrims in one statement: their rows, their totals, and which of their pending points are stored. */
import type { Point } from '#shared/points/point.ts'
import type { Query } from '#shared/stores/db/db.ts'
import type { FoldState, Totals } from '#shared/core/distance/points-to-distance.ts'
import { fixOf } from './stored-days.ts'

/** A pilgrim to read, with their pending points. */
export interface Asked {
  readonly userId: string
  readonly pending: readonly Point[]
}

/** A pilgrim's own row. Times are epoch milliseconds. */
export interface PilgrimRow {
  readonly displayName: string | null
  readonly pictureUrl: string | null
  readonly language: string | null
  readonly phone: string | null
  readonly surveyCompleted: boolean
  readonly privacyAgreed: boolean
  readonly privacyAgreedMs: number | null
  readonly privacyVersion: string | null
  /** Consent was taken back; never having been asked for it is not that. */
  readonly consentWithdrawn: boolean
  readonly participantStatus: string
  readonly photoCount: number
  readonly consumption: Readonly<Record<string, number>>
  readonly transport: Readonly<Record<string, number>>
  readonly createdMs: number
  readonly updatedMs: number
}

/** The stored data of one pilgrim. */
export interface Stored {
  /** Null for a pilgrim who is unknown or known by points only. */
  readonly pilgrim: PilgrimRow | null
  /** Null for a pilgrim without a stored point. */
  readonly sums: Totals | null
  readonly firstMs: number | null
  readonly lastMs: number | null
  readonly lastDay: { readonly day: string; readonly end: FoldState } | null
  /** The pending points that are already in the table, as buffer fields. */
  readonly known: ReadonlySet<string>
}

/** A row of the statement. The columns of a table without a row for the pilgrim are null. */
type Row = Omit<PilgrimRow, 'consumption' | 'transport' | 'createdMs'> & {
  readonly user_id: string
  readonly consumption: string
  readonly transport: string
  readonly createdMs: number | null
  readonly points: number | null
  readonly checkins: number
  readonly distanceMm: number
  readonly carbonMg: number
  readonly firstMs: number | null
  readonly lastMs: number | null
  readonly day: string | null
  readonly a_lat: number
  readonly a_lng: number
  readonly a_ms: number
  readonly b_lat: number | null
  readonly b_lng: number | null
  readonly b_ms: number | null
  readonly known: readonly string[] | null
}

/** Reads all requested pilgrims, by id, in one snapshot. @param asked each pilgrim once */
export async function readStored(query: Query, asked: readonly Asked[]): Promise<Map<string, Stored>> {
  const rows = await query<Row[]>`
    SELECT u.user_id, p.display_name AS "displayName", p.picture_url AS "pictureUrl", p.language, p.phone,
           p.survey_completed_at IS NOT NULL AS "surveyCompleted", p.privacy_agreed AS "privacyAgreed",
           (extract(epoch FROM p.privacy_agreed_at) * 1000)::float8 AS "privacyAgreedMs",
           p.privacy_version AS "privacyVersion", p.consent_withdrawn AS "consentWithdrawn",
           p.participant_status AS "participantStatus", p.photo_count AS "photoCount",
           p.consumption::text AS consumption, p.transport::text AS transport,
           (extract(epoch FROM p.created_at) * 1000)::float8 AS "createdMs",
           (extract(epoch FROM p.updated_at) * 1000)::float8 AS "updatedMs",
           t.points, t.checkins, t.distance_mm::float8 AS "distanceMm", t.carbon_mg::float8 AS "carbonMg",
           (extract(epoch FROM t.first_seen) * 1000)::float8 AS "firstMs",
           (extract(epoch FROM t.last_seen) * 1000)::float8 AS "lastMs",
           d.day::text AS day, d.anchor_lat AS a_lat, d.anchor_lng AS a_lng,
           (extract(epoch FROM d.anchor_at) * 1000)::float8 AS a_ms, d.before_lat AS b_lat, d.before_lng AS b_lng,
           (extract(epoch FROM d.before_at) * 1000)::float8 AS b_ms, k.known
    FROM unnest(${asked.map(({ userId }) => userId)}::text[]) AS u (user_id)
    LEFT JOIN pilgrims p ON p.user_id = u.user_id
    LEFT JOIN pilgrim_totals t ON t.user_id = u.user_id
    LEFT JOIN LATERAL (
      SELECT * FROM pilgrim_days l WHERE l.user_id = u.user_id ORDER BY l.day DESC LIMIT 1
    ) d ON true
    LEFT JOIN (${knownOf(query, asked)}) k ON k.user_id = u.user_id`
  return new Map(rows.map((row) => [row.user_id, storedOf(row)]))
}

/** Selects the pending points that are in the table, by pilgrim. Without pending points the table is not read. */
function knownOf(query: Query, asked: readonly Asked[]) {
  const users = asked.flatMap(({ userId, pending }) => pending.map(() => userId))
  const points = asked.flatMap(({ pending }) => pending)
  if (points.length === 0) return query`SELECT NULL::text AS user_id, NULL::text[] AS known WHERE false`
  const times = points.map(({ sentMs }) => sentMs)
  const first = times.reduce((a, b) => Math.min(a, b))
  const last = times.reduce((a, b) => Math.max(a, b))
  return query`
    SELECT e.user_id, array_agg(e.kind || e.sent_ms::bigint) AS known
    FROM unnest(${users}::text[], ${points.map(({ kind }) => kind)}::text[], ${times}::float8[])
      AS e (user_id, kind, sent_ms)
    JOIN gps_points g
      ON g.user_id = e.user_id AND g.kind = e.kind AND g.sent_at = to_timestamp(e.sent_ms / 1000)
    -- Bounds over all points, so that the plan contains only their partitions.
    WHERE g.sent_at BETWEEN to_timestamp(${first}::float8 / 1000) AND to_timestamp(${last}::float8 / 1000)
    GROUP BY e.user_id`
}

function storedOf(row: Row): Stored {
  const { createdMs, points, checkins, distanceMm, carbonMg, day } = row
  const anchor = fixOf(row.a_lat, row.a_lng, row.a_ms)
  const before = fixOf(row.b_lat, row.b_lng, row.b_ms)
  return {
    pilgrim: createdMs === null ? null : pilgrimOf(row, createdMs),
    sums: points === null ? null : { points, checkins, distanceMm, carbonMg },
    firstMs: row.firstMs,
    lastMs: row.lastMs,
    lastDay: day === null ? null : { day, end: { anchor, before } },
    known: new Set(row.known),
  }
}

function pilgrimOf(row: Row, createdMs: number): PilgrimRow {
  return {
    displayName: row.displayName,
    pictureUrl: row.pictureUrl,
    language: row.language,
    phone: row.phone,
    surveyCompleted: row.surveyCompleted,
    privacyAgreed: row.privacyAgreed,
    privacyAgreedMs: row.privacyAgreedMs,
    privacyVersion: row.privacyVersion,
    consentWithdrawn: row.consentWithdrawn,
    participantStatus: row.participantStatus,
    photoCount: row.photoCount,
    consumption: JSON.parse(row.consumption) as Record<string, number>,
    transport: JSON.parse(row.transport) as Record<string, number>,
    createdMs,
    updatedMs: row.updatedMs,
  }
}

/**
 * A pilgrim's statistics: what the flush has summed, and what still waits in the buffer, folded onto it. One
 * call of the kv and one statement; days are read only when a pending point is late.
 */
import { fieldOf, type Point, unpack } from '#shared/buffer/point.ts'
import type { Database, Query } from '#shared/db/db.ts'
import type { Entry, Kv } from '#shared/kv/kv.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { byInstant, type FoldPoint, type FoldState, isLate, START } from '#shared/rules/fold.ts'
import { type DayChange, refold } from '#shared/rules/refold.ts'
import { addSums, noSums, type Sums } from '#shared/rules/tally.ts'
import { readDays, readPointsOfDays } from './stored-days.ts'

export interface Statistics extends Sums {
  /** Of points in the area; epoch milliseconds. */
  readonly firstMs: number | null
  readonly lastMs: number | null
}

/** What is stored of one pilgrim, in one snapshot. */
interface Stored {
  /** Null for a pilgrim without a stored point. */
  readonly sums: Sums | null
  readonly firstMs: number | null
  readonly lastMs: number | null
  readonly lastDay: { readonly day: string; readonly end: FoldState } | null
  /** Which of the pending points are in the table already, as buffer fields. */
  readonly known: ReadonlySet<string>
}

/** Null for someone who has neither stored nor pending points. */
export async function readStatistics(
  { db, kv, calendar }: { readonly db: Database; readonly kv: Kv; readonly calendar: Calendar },
  userId: string,
): Promise<Statistics | null> {
  const pending = pendingPoints(await kv.peek(userId))
  const stored = await db.read(() => readStored(db.sql, userId, pending))
  if (stored.sums === null && pending.length === 0) return null
  const added = addedPoints(pending, stored)
  const end = stored.lastDay?.end ?? START
  if (added.length === 0 || !isLate(end, added[0]!.t)) {
    const days = stored.lastDay === null ? [] : [stored.lastDay]
    // Nothing is late, so the plan asks for no day.
    const step = refold(days, added, calendar).next()
    return withDays(stored, added, step.done ? step.value : [])
  }
  return db.read(() => readLate(db, calendar, userId, pending))
}

/** Entries that can not be read are the flush's to set aside. */
function pendingPoints(entries: readonly Entry[]): Point[] {
  return entries.flatMap((entry) => {
    try {
      return [unpack(entry)]
    } catch {
      return []
    }
  })
}

/** Those that count and are not stored yet, in the order of the fold. */
const addedPoints = (pending: readonly Point[], { known }: Stored): FoldPoint[] =>
  pending
    .filter((point) => point.inRange && !known.has(fieldOf(point)))
    .map(({ kind, sentMs, recordedMs, lat, lng, mode }) => ({ kind, sentMs, t: recordedMs, lat, lng, mode }))
    .sort(byInstant)

function withDays(stored: Stored, added: readonly FoldPoint[], days: readonly DayChange[]): Statistics {
  const sums = { ...(stored.sums ?? noSums()) }
  for (const { delta } of days) addSums(sums, delta)
  const first = added[0]?.t ?? Infinity
  const last = added.at(-1)?.t ?? -Infinity
  const firstMs = Math.min(first, stored.firstMs ?? Infinity)
  const lastMs = Math.max(last, stored.lastMs ?? -Infinity)
  return {
    ...sums,
    firstMs: Number.isFinite(firstMs) ? firstMs : null,
    lastMs: Number.isFinite(lastMs) ? lastMs : null,
  }
}

/** Folds late points into their days, all read in one snapshot: a flush may commit between two statements. */
function readLate(
  db: Database,
  calendar: Calendar,
  userId: string,
  pending: readonly Point[],
): Promise<Statistics> {
  return db.sql.begin('isolation level repeatable read read only', async (tx) => {
    const stored = await readStored(tx, userId, pending)
    const added = addedPoints(pending, stored)
    if (added.length === 0) return withDays(stored, added, [])
    const days = await readDays(tx, [{ userId, from: calendar.day(added[0]!.t) }])
    const plan = refold(days.get(userId) ?? [], added, calendar)
    let step = plan.next()
    while (!step.done) {
      const points = await readPointsOfDays(tx, [{ userId, day: step.value }], calendar)
      step = plan.next(points.get(userId) ?? [])
    }
    return withDays(stored, added, step.value)
  })
}

interface Row {
  points: number | null
  checkins: number
  mm: number
  mg: number
  first_ms: number | null
  last_ms: number | null
  day: string | null
  a_lat: number
  a_lng: number
  a_ms: number
  b_lat: number | null
  b_lng: number | null
  b_ms: number | null
  known: string[] | null
}

async function readStored(query: Query, userId: string, pending: readonly Point[]): Promise<Stored> {
  const [row] = await query<[Row]>`
    SELECT t.points, t.checkins, t.distance_mm::float8 AS mm, t.carbon_mg::float8 AS mg,
           (extract(epoch FROM t.first_seen) * 1000)::float8 AS first_ms,
           (extract(epoch FROM t.last_seen) * 1000)::float8 AS last_ms,
           d.day::text AS day, d.anchor_lat AS a_lat, d.anchor_lng AS a_lng,
           (extract(epoch FROM d.anchor_at) * 1000)::float8 AS a_ms, d.before_lat AS b_lat, d.before_lng AS b_lng,
           (extract(epoch FROM d.before_at) * 1000)::float8 AS b_ms,
           (SELECT array_agg(e.kind || e.sent_ms::bigint) FROM unnest(
              ${pending.map(({ kind }) => kind)}::text[], ${pending.map(({ sentMs }) => sentMs)}::float8[]
            ) AS e (kind, sent_ms)
            JOIN gps_points g ON g.user_id = u.user_id AND g.kind = e.kind
              AND g.sent_at = to_timestamp(e.sent_ms / 1000)
           ) AS known
    FROM (SELECT ${userId}::text AS user_id) u
    LEFT JOIN pilgrim_totals t ON t.user_id = u.user_id
    LEFT JOIN LATERAL (
      SELECT * FROM pilgrim_days p WHERE p.user_id = u.user_id ORDER BY p.day DESC LIMIT 1
    ) d ON true`
  const anchor = { lat: row.a_lat, lng: row.a_lng, t: row.a_ms }
  const before = row.b_ms === null ? null : { lat: row.b_lat!, lng: row.b_lng!, t: row.b_ms }
  const { points, checkins } = row
  return {
    sums: points === null ? null : { points, checkins, distanceMm: row.mm, carbonMg: row.mg },
    firstMs: row.first_ms,
    lastMs: row.last_ms,
    lastDay: row.day === null ? null : { day: row.day, end: { anchor, before } },
    known: new Set(row.known),
  }
}

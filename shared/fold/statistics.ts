/**
 * A pilgrim's statistics: what the flush has summed, and what still waits in the buffer, folded onto it. One
 * call of the kv and one statement; days are read only when a pending point is late.
 */
import { unpack } from '#shared/buffer/point.ts'
import type { Database, Query } from '#shared/db/db.ts'
import type { Entry, Kv } from '#shared/kv/kv.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import type { FoldPoint } from '#shared/rules/fold.ts'
import { type DayChange, refold, type StoredDay } from '#shared/rules/refold.ts'
import { addSums, noSums, type Sums } from '#shared/rules/tally.ts'
import { readDays, readPointsOfDays } from './stored-days.ts'

export interface Statistics extends Sums {
  /** Of points in the area; epoch milliseconds. */
  readonly firstMs: number | null
  readonly lastMs: number | null
}

interface Row {
  points: number | null
  checkins: number | null
  mm: number | null
  mg: number | null
  first_ms: number | null
  last_ms: number | null
  day: string | null
  a_lat: number
  a_lng: number
  a_ms: number
  b_lat: number | null
  b_lng: number | null
  b_ms: number | null
  stored: string[] | null
}

const readRow = (query: Query, userId: string, pending: readonly Entry[]) => query<Row[]>`
  SELECT t.points, t.checkins, t.distance_mm::float8 AS mm, t.carbon_mg::float8 AS mg,
         (extract(epoch FROM t.first_seen) * 1000)::float8 AS first_ms,
         (extract(epoch FROM t.last_seen) * 1000)::float8 AS last_ms,
         d.day::text AS day, d.anchor_lat AS a_lat, d.anchor_lng AS a_lng,
         (extract(epoch FROM d.anchor_at) * 1000)::float8 AS a_ms, d.before_lat AS b_lat, d.before_lng AS b_lng,
         (extract(epoch FROM d.before_at) * 1000)::float8 AS b_ms,
         (SELECT array_agg(e.kind || e.sent_ms::bigint) FROM unnest(
            ${pending.map(({ field }) => field[0]!)}::text[], ${pending.map(({ field }) => Number(field.slice(1)))}::float8[]
          ) AS e (kind, sent_ms)
          JOIN gps_points g ON g.user_id = u.user_id AND g.kind = e.kind AND g.sent_at = to_timestamp(e.sent_ms / 1000)
         ) AS stored
  FROM (SELECT ${userId}::text AS user_id) u
  LEFT JOIN pilgrim_totals t ON t.user_id = u.user_id
  LEFT JOIN LATERAL (
    SELECT * FROM pilgrim_days p WHERE p.user_id = u.user_id ORDER BY p.day DESC LIMIT 1
  ) d ON true`

function pendingPoints(entries: readonly Entry[], stored: readonly string[]): FoldPoint[] {
  const known = new Set(stored)
  const points: FoldPoint[] = []
  for (const entry of entries) {
    if (known.has(entry.field)) continue
    const point = unpack(entry)
    if (!point.inRange) continue
    const { kind, sentMs, recordedMs: t, lat, lng, mode } = point
    points.push({ kind, sentMs, t, lat, lng, mode })
  }
  return points
}

/** Null for someone who has neither stored nor pending points. */
export async function readStatistics(
  { db, kv, calendar }: { readonly db: Database; readonly kv: Kv; readonly calendar: Calendar },
  userId: string,
): Promise<Statistics | null> {
  const pending = await kv.peek(userId)
  const [row] = await db.read(() => readRow(db.sql, userId, pending))
  if (row === undefined || (row.points === null && pending.length === 0)) return null
  const sums = noSums()
  addSums(sums, {
    points: row.points ?? 0,
    checkins: row.checkins ?? 0,
    distanceMm: row.mm ?? 0,
    carbonMg: row.mg ?? 0,
  })
  const added = pendingPoints(pending, row.stored ?? [])
  for (const { delta } of await plan(db, calendar, userId, row, added)) addSums(sums, delta)
  const times = added.map(({ t }) => t)
  if (row.first_ms !== null) times.push(row.first_ms)
  if (row.last_ms !== null) times.push(row.last_ms)
  const firstMs = times.reduce((a, b) => Math.min(a, b), Infinity)
  const lastMs = times.reduce((a, b) => Math.max(a, b), -Infinity)
  return { ...sums, firstMs: times.length > 0 ? firstMs : null, lastMs: times.length > 0 ? lastMs : null }
}

async function plan(
  db: Database,
  calendar: Calendar,
  userId: string,
  row: Row,
  added: readonly FoldPoint[],
): Promise<DayChange[]> {
  if (added.length === 0) return []
  const from = calendar.day(added.reduce((first, { t }) => Math.min(first, t), Infinity))
  let stored: StoredDay[] = []
  if (row.day !== null)
    stored =
      from >= row.day
        ? [lastDay(row, row.day)]
        : ((await readDays(db.sql, [{ userId, from }])).get(userId) ?? [])
  const late = refold(stored, added, calendar)
  let step = late.next()
  while (!step.done) {
    // The day before decides where a late day starts; the last day alone does not tell.
    const points = await readPointsOfDays(db.sql, [{ userId, day: step.value }], calendar)
    step = late.next(points.get(userId) ?? [])
  }
  return step.value
}

const lastDay = (row: Row, day: string): StoredDay => ({
  day,
  end: {
    anchor: { lat: row.a_lat, lng: row.a_lng, t: row.a_ms },
    before: row.b_ms === null ? null : { lat: row.b_lat!, lng: row.b_lng!, t: row.b_ms },
  },
})

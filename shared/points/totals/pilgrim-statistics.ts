/**
 * Statistics of pilgrims: the stored totals, with pending points folded onto them. Two calls to the kv and one
 * statement for any number of pilgrims; days are read only for pilgrims with a late pending point.
 */
import { peekWithin } from '#shared/points/pending-points.ts'
import { fieldOf, foldPointOf, type Point, readablePoints } from '#shared/points/point.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import type { KvPoints } from '#shared/stores/kv/kv.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import {
  addTotals,
  byInstant,
  type DayChange,
  type FoldPoint,
  isLate,
  refold,
  START,
  type Totals,
  zeroTotals,
  type FoldState,
} from '#shared/core/distance/points-to-distance.ts'
import { type ShownWalk, walkInOrder } from './points-in-order.ts'
import { readDays, readDayInPages, fixOf } from './stored-days.ts'

export interface Statistics extends Totals {
  /**
   * Times of the first and the last place in the area, epoch milliseconds: `first_seen` and `last_seen` of answers
   * (`shared/contracts/fields.ts`).
   */
  readonly firstMs: number | null
  readonly lastMs: number | null
  /** The distance without late points, as public figures show it for a claim; whole millimetres. */
  readonly shownMm: number
}

export interface Pilgrim {
  /** Null for a pilgrim who is known only from points. */
  readonly row: PilgrimRow | null
  /** Null for a pilgrim without stored or pending points. */
  readonly statistics: Statistics | null
  readonly storedPoints: number
  /** Number of pending points; null: the buffer was unavailable, and the statistics cover stored points only. */
  readonly pending: number | null
}

interface Stores {
  readonly db: Database
  readonly kv: KvPoints
  readonly calendar: Calendar
}

/** Above this many pending points, the result is cached until a point is added or removed. */
export const MANY_PENDING = 1_000

const keepOfMany = createKeeper<Pilgrim | undefined>()

/** Reads pilgrims by id. Unknown pilgrims are left out of the result. @param userIds each once */
export const readPilgrims = async (
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim>> => (await readPeeking(stores, userIds, (read) => read))!

/** Reads pilgrims by id, as `readPilgrims`; null: the buffer is unavailable. */
export const readPilgrimsIfBuffered = (
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim> | null> => readPeeking(stores, userIds, peekWithin)

/**
 * Reads pilgrims even while the kv is unavailable. The result then has stored points only, and null for a pilgrim
 * unknown to the database, because the buffer may have points of theirs.
 */
export async function readPilgrimsDegraded(
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim | null>> {
  const whole = await readPilgrimsIfBuffered(stores, userIds)
  if (whole !== null) return whole
  const pilgrims = await foldPending(
    stores,
    userIds.map((userId) => ({ userId, pending: [] })),
  )
  const stored = (userId: string): Pilgrim | null => {
    const pilgrim = pilgrims.get(userId)
    return pilgrim === undefined ? null : { ...pilgrim, pending: null }
  }
  return new Map(userIds.map((userId) => [userId, stored(userId)]))
}

/** @param peek wraps each reading of the buffer; if it returns null, so does this function */
async function readPeeking(
  stores: Stores,
  userIds: readonly string[],
  peek: <T>(read: Promise<T>) => Promise<T | null>,
): Promise<Map<string, Pilgrim> | null> {
  const { db, kv } = stores
  const counts = await peek(kv.pendingOf(userIds))
  if (counts === null) return null
  const few = userIds.filter((_, i) => counts[i]! <= MANY_PENDING)
  const entries = await peek(kv.peekEach(few))
  if (entries === null) return null
  const pilgrims = await foldPending(
    stores,
    few.map((userId, i) => ({ userId, pending: readablePoints(entries[i]!) })),
  )
  const many = userIds.filter((_, i) => counts[i]! > MANY_PENDING)
  if (many.length === 0) return pilgrims
  // Cached statistics may be some seconds older than the pilgrim's row.
  const rows = await db.read(() =>
    readStored(
      db,
      many.map((userId) => ({ userId, pending: [] })),
    ),
  )
  for (const userId of many) {
    const count = counts[userIds.indexOf(userId)]
    const found = await peek(keepOfMany(db, userId, count, () => readOne(stores, userId)))
    if (found === null) return null
    if (found !== undefined) pilgrims.set(userId, { ...found, row: rows.get(userId)!.pilgrim })
  }
  return pilgrims
}

const readOne = async (stores: Stores, userId: string): Promise<Pilgrim | undefined> =>
  (await foldPending(stores, [{ userId, pending: readablePoints(await stores.kv.peek(userId)) }])).get(userId)

/**
 * Reads pilgrims whose pending points have already been read. Pending points must be read before stored ones: otherwise
 * points that a flush stores in between are missing.
 */
export async function foldPending(
  { db, calendar }: Pick<Stores, 'db' | 'calendar'>,
  asked: readonly Asked[],
): Promise<Map<string, Pilgrim>> {
  if (asked.length === 0) return new Map()
  const stored = await db.read(() => readStored(db, asked))
  const pilgrims = new Map<string, Pilgrim>()
  for (const request of asked) {
    const row = stored.get(request.userId)!
    const hasPoints = row.sums !== null || request.pending.length > 0
    if (!hasPoints && row.pilgrim === null) continue
    const statistics = hasPoints
      ? (foldedOn(row, request.pending, calendar) ??
        (await keepLate(db, request.userId, madeFrom(request, row), () =>
          db.read(() => readLate(db, calendar, request)),
        )))
      : null
    pilgrims.set(request.userId, {
      row: row.pilgrim,
      statistics,
      storedPoints: row.sums?.points ?? 0,
      pending: request.pending.length,
    })
  }
  return pilgrims
}

/** Returns null when a point is late. */
function foldedOn(stored: Stored, pending: readonly Point[], calendar: Calendar): Statistics | null {
  const added = addedPoints(pending, stored)
  if (added.length > 0 && isLate(stored.lastDay?.end ?? START, added[0]!.t)) return null
  const days = stored.lastDay === null ? [] : [stored.lastDay]
  // No point is late, so the refold requests no day.
  const step = refold(days, added, calendar).next()
  return withDays(stored, pending, added, step.done ? step.value : [])
}

const newPoints = (pending: readonly Point[], { known }: Stored): Point[] =>
  pending.filter((point) => point.inRange && !known.has(fieldOf(point)))

/** Pending points that count and are not stored yet, in the order of the fold. */
export const addedPoints = (pending: readonly Point[], stored: Stored): FoldPoint[] =>
  newPoints(pending, stored).map(foldPointOf).sort(byInstant)

/** The stored part of the walk that public figures show, plus the pending points in order. */
function shownMm(stored: Stored, pending: readonly Point[]): number {
  const { distanceMm, carbonMg } = stored.sums ?? zeroTotals()
  const walk = { distanceMm, carbonMg, end: stored.lastDay?.end ?? START }
  return walkInOrder(stored.shown ?? walk, newPoints(pending, stored)).distanceMm
}

function withDays(
  stored: Stored,
  pending: readonly Point[],
  added: readonly FoldPoint[],
  days: readonly DayChange[],
): Statistics {
  const sums = { ...(stored.sums ?? zeroTotals()) }
  for (const { delta } of days) addTotals(sums, delta)
  const first = added.find(isPlace)?.t ?? Infinity
  const last = added.findLast(isPlace)?.t ?? -Infinity
  const firstMs = Math.min(first, stored.firstMs ?? Infinity)
  const lastMs = Math.max(last, stored.lastMs ?? -Infinity)
  return {
    ...sums,
    firstMs: Number.isFinite(firstMs) ? firstMs : null,
    lastMs: Number.isFinite(lastMs) ? lastMs : null,
    shownMm: shownMm(stored, pending),
  }
}

const keepLate = createKeeper<Statistics>()

/** Every change of stored or pending points changes one of these. */
const madeFrom = ({ pending }: Asked, { sums, firstMs, lastMs, lastDay, shown, known }: Stored) => [
  pending,
  sums,
  shown,
  firstMs,
  lastMs,
  lastDay,
  known.size,
]

/** Folds late points into their days. All reads share a snapshot, because a flush may commit between two statements. */
function readLate(db: Database, calendar: Calendar, { userId, pending }: Asked): Promise<Statistics> {
  return db.snapshot(async (tx) => {
    const stored = (await readStored(tx, [{ userId, pending }])).get(userId)!
    const added = addedPoints(pending, stored)
    return withDays(stored, pending, added, await refoldPending(tx, calendar, userId, added))
  })
}

/**
 * The changes to a pilgrim's stored days by pending points.
 * @param tx a snapshot: the days and their points are of one moment
 * @param added in the order of the fold
 */
export async function refoldPending(
  tx: Tx,
  calendar: Calendar,
  userId: string,
  added: readonly FoldPoint[],
): Promise<readonly DayChange[]> {
  if (added.length === 0) return []
  const days = await readDays(tx, [{ userId, from: calendar.day(added[0]!.t) }])
  const plan = refold(days.get(userId) ?? [], added, calendar)
  let step = plan.next()
  while (!step.done) {
    for await (const page of readDayInPages(tx, userId, step.value, calendar)) step = plan.next(page)
  }
  return step.value
}

// Caches expensive statistics of one pilgrim for a moment: those from thousands of pending points, or from late points,
// which fold their whole day again. A client may request a profile at any rate.

/** Bounds how long data of an erased person stay in memory. */
const KEPT_MS = 10_000
const MAX_KEPT = 500

interface Kept<T> {
  /** Key of the inputs of the statistics. */
  readonly made: string
  readonly untilMs: number
  readonly value: Promise<T>
}

type Keep<T> = (db: Database, key: string, made: unknown, read: () => Promise<T>) => Promise<T>

/**
 * @returns a function that reads, or returns the cached result for the same key (a user id and the parameters of the
 *   request) and the same `made`: JSON that changes whenever the answer does
 */
export function createKeeper<T>(): Keep<T> {
  const keptOf = new WeakMap<Database, Map<string, Kept<T>>>()
  return (db, key, madeFrom, read) => {
    const kept = keptOf.get(db) ?? new Map<string, Kept<T>>()
    keptOf.set(db, kept)
    const nowMs = performance.now()
    for (const [oldest, { untilMs }] of kept) {
      if (untilMs > nowMs && kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
    const made = Bun.hash(JSON.stringify(madeFrom)).toString(36)
    const cached = kept.get(key)
    if (cached?.made === made) return cached.value
    const fresh = { made, untilMs: nowMs + KEPT_MS, value: read() }
    kept.delete(key)
    kept.set(key, fresh)
    fresh.value.catch(() => {
      if (kept.get(key) === fresh) kept.delete(key)
    })
    return fresh.value
  }
}

// Reads stored pilgrims in one statement: their rows, their totals, and which of their pending points are stored.

/** A pilgrim to read, with their pending points. */
interface Asked {
  readonly userId: string
  readonly pending: readonly Point[]
}

/** A pilgrim's own row. Times are epoch milliseconds. */
interface PilgrimRow {
  readonly displayName: string | null
  readonly pictureUrl: string | null
  readonly language: string | null
  readonly phone: string | null
  readonly surveyCompleted: boolean
  readonly privacyAgreed: boolean
  readonly privacyAgreedMs: number | null
  readonly privacyVersion: string | null
  /** Consent was withdrawn. False if it was never asked for. */
  readonly consentWithdrawn: boolean
  readonly participantStatus: string
  readonly photoCount: number
  /** The phone that proves the pilgrim's id is the palanquin. */
  readonly palanquin: boolean
  readonly consumption: Readonly<Record<string, number>>
  readonly transport: Readonly<Record<string, number>>
  readonly createdMs: number
  readonly updatedMs: number
}

/** The stored data of one pilgrim. */
interface Stored {
  /** Null for a pilgrim who is unknown or known only from points. */
  readonly pilgrim: PilgrimRow | null
  /** Null for a pilgrim without a stored point. */
  readonly sums: Totals | null
  readonly firstMs: number | null
  readonly lastMs: number | null
  readonly lastDay: { readonly day: string; readonly end: FoldState } | null
  /** The walk of a claim that others see (`shown_walks`); null: none is stored. */
  readonly shown: ShownWalk | null
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
  readonly shown_mm: number | null
  readonly shown_mg: number | null
  readonly sa_lat: number | null
  readonly sa_lng: number | null
  readonly sa_ms: number | null
  readonly sb_lat: number | null
  readonly sb_lng: number | null
  readonly sb_ms: number | null
  readonly known: readonly string[] | null
}

/** Reads all requested pilgrims, by id, in one snapshot. @param asked each pilgrim once */
export async function readStored(tx: Tx, asked: readonly Asked[]): Promise<Map<string, Stored>> {
  const rows = await tx.sql<Row[]>`
    SELECT u.user_id, p.display_name AS "displayName", p.picture_url AS "pictureUrl", p.language, p.phone,
           p.survey_completed_at IS NOT NULL AS "surveyCompleted", p.privacy_agreed AS "privacyAgreed",
           epoch_ms(p.privacy_agreed_at) AS "privacyAgreedMs",
           p.privacy_version AS "privacyVersion", p.consent_withdrawn AS "consentWithdrawn",
           p.participant_status AS "participantStatus", p.photo_count AS "photoCount",
           p.palanquin AND p.palanquin_tracker IS NULL AS palanquin,
           p.consumption::text AS consumption, p.transport::text AS transport,
           epoch_ms(p.created_at) AS "createdMs",
           epoch_ms(p.updated_at) AS "updatedMs",
           t.points, t.checkins, t.distance_mm::float8 AS "distanceMm", t.carbon_mg::float8 AS "carbonMg",
           epoch_ms(t.first_seen) AS "firstMs",
           epoch_ms(t.last_seen) AS "lastMs",
           d.day::text AS day, d.anchor_lat AS a_lat, d.anchor_lng AS a_lng,
           epoch_ms(d.anchor_at) AS a_ms, d.before_lat AS b_lat, d.before_lng AS b_lng,
           epoch_ms(d.before_at) AS b_ms,
           s.distance_mm::float8 AS shown_mm, s.carbon_mg::float8 AS shown_mg,
           s.anchor_lat AS sa_lat, s.anchor_lng AS sa_lng,
           epoch_ms(s.anchor_at) AS sa_ms, s.before_lat AS sb_lat, s.before_lng AS sb_lng,
           epoch_ms(s.before_at) AS sb_ms, k.known
    FROM unnest(${asked.map(({ userId }) => userId)}::text[]) AS u (user_id)
    LEFT JOIN pilgrims p ON p.user_id = u.user_id
    LEFT JOIN pilgrim_totals t ON t.user_id = u.user_id
    LEFT JOIN shown_walks s ON s.user_id = u.user_id AND s.until > now()
    LEFT JOIN LATERAL (
      SELECT * FROM pilgrim_days l WHERE l.user_id = u.user_id ORDER BY l.day DESC LIMIT 1
    ) d ON true
    LEFT JOIN (${knownOf(tx, asked)}) k ON k.user_id = u.user_id`
  return new Map(rows.map(({ user_id, ...row }) => [user_id, storedOf(row)]))
}

/** Selects the pending points that are in the table, by pilgrim. Without pending points the table is not read. */
function knownOf(tx: Tx, asked: readonly Asked[]) {
  const users = asked.flatMap(({ userId, pending }) => pending.map(() => userId))
  const points = asked.flatMap(({ pending }) => pending)
  if (points.length === 0) return tx.sql`SELECT NULL::text AS user_id, NULL::text[] AS known WHERE false`
  const times = points.map(({ sentMs }) => sentMs)
  const first = times.reduce((a, b) => Math.min(a, b))
  const last = times.reduce((a, b) => Math.max(a, b))
  return tx.sql`
    SELECT e.user_id, array_agg(e.kind || e.sent_ms::bigint) AS known
    FROM unnest(${users}::text[], ${points.map(({ kind }) => kind)}::text[], ${times}::float8[])
      AS e (user_id, kind, sent_ms)
    JOIN gps_points g
      ON g.user_id = e.user_id AND g.kind = e.kind AND g.sent_at = from_epoch_ms(e.sent_ms)
    -- Bounds over all points, so that the plan contains only their partitions.
    WHERE g.sent_at BETWEEN from_epoch_ms(${first}) AND from_epoch_ms(${last})
    GROUP BY e.user_id`
}

function storedOf({
  createdMs,
  consumption,
  transport,
  points,
  checkins,
  distanceMm,
  carbonMg,
  firstMs,
  lastMs,
  day,
  a_lat,
  a_lng,
  a_ms,
  b_lat,
  b_lng,
  b_ms,
  shown_mm,
  shown_mg,
  sa_lat,
  sa_lng,
  sa_ms,
  sb_lat,
  sb_lng,
  sb_ms,
  known,
  ...pilgrim
}: Omit<Row, 'user_id'>): Stored {
  return {
    pilgrim:
      createdMs === null
        ? null
        : { ...pilgrim, createdMs, consumption: JSON.parse(consumption), transport: JSON.parse(transport) },
    sums: points === null ? null : { points, checkins, distanceMm, carbonMg },
    firstMs,
    lastMs,
    lastDay:
      day === null
        ? null
        : { day, end: { anchor: fixOf(a_lat, a_lng, a_ms), before: fixOf(b_lat, b_lng, b_ms) } },
    shown:
      shown_mm === null
        ? null
        : {
            distanceMm: shown_mm,
            carbonMg: shown_mg!,
            end: { anchor: fixOf(sa_lat, sa_lng, sa_ms), before: fixOf(sb_lat, sb_lng, sb_ms) },
          },
    known: new Set(known),
  }
}

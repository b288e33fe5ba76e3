/**
 * Statistics of pilgrims: the stored totals, with pending points folded onto them. Two calls to the kv and one statement
 * for any number of pilgrims; days are read only for pilgrims with a late pending point.
 */
import { peekWithin } from '#shared/points/pending-points.ts'
import { fieldOf, foldPointOf, type Point, readablePoints } from '#shared/points/point.ts'
import type { Database, Query } from '#shared/stores/db/db.ts'
import type { Kv, Pending } from '#shared/stores/kv/kv.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
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
} from '#shared/core/distance/points-to-distance.ts'
import { createKeeper } from './keep-statistics.ts'
import { readDays, readPointsOfDays } from './stored-days.ts'
import { type Asked, type PilgrimRow, readStored, type Stored } from './stored-pilgrims.ts'

export interface Statistics extends Totals {
  /**
   * Times of the first and the last point in the area, epoch milliseconds: `first_seen` and `last_seen` of answers
   * (`shared/contracts/fields.ts`).
   */
  readonly firstMs: number | null
  readonly lastMs: number | null
}

/** A known pilgrim. */
export interface Pilgrim {
  /** Null for a pilgrim who is known by points only. */
  readonly row: PilgrimRow | null
  /** Null for a pilgrim without stored or pending points. */
  readonly statistics: Statistics | null
  readonly storedPoints: number
  /** Number of pending points; null: the buffer was unavailable, and the statistics cover stored points only. */
  readonly pending: number | null
}

interface Stores {
  readonly db: Database
  readonly kv: Kv
  readonly calendar: Calendar
}

/** More pending points than these are read and folded once, as long as none comes or goes. */
export const MANY_PENDING = 1_000

const keepOfMany = createKeeper<Pilgrim | undefined>()

/** Reads pilgrims by id. Unknown pilgrims are left out of the result. @param userIds each once */
export const readPilgrims = async (
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim>> => (await readPeeking(stores, userIds, (read) => read))!

/**
 * Reads pilgrims also while the kv is unavailable. The result then has stored points only, and null for a pilgrim whom
 * the database does not know, because the buffer may know them.
 */
export async function readPilgrimsDegraded(
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim | null>> {
  const whole = await readPeeking(stores, userIds, peekWithin)
  if (whole !== null) return whole
  const pilgrims = await foldPending(
    stores,
    userIds.map((userId) => ({ userId, entries: [] })),
  )
  const stored = (userId: string): Pilgrim | null => {
    const pilgrim = pilgrims.get(userId)
    return pilgrim === undefined ? null : { ...pilgrim, pending: null }
  }
  return new Map(userIds.map((userId) => [userId, stored(userId)]))
}

/** @param peek wraps each reading of the buffer; when it gives null, so does this */
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
    few.map((userId, i) => ({ userId, entries: entries[i]! })),
  )
  const many = userIds.filter((_, i) => counts[i]! > MANY_PENDING)
  if (many.length === 0) return pilgrims
  // What is kept may be some seconds old, and the own row newer.
  const rows = await db.read(() =>
    readStored(
      db.sql,
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
  (await foldPending(stores, [{ userId, entries: await stores.kv.peek(userId) }])).get(userId)

/**
 * Reads pilgrims whose pending points have already been read. Pending points must be read before stored ones: otherwise
 * points that a flush stores in between are missing.
 */
export async function foldPending(
  { db, calendar }: Pick<Stores, 'db' | 'calendar'>,
  buffered: readonly Pending[],
): Promise<Map<string, Pilgrim>> {
  if (buffered.length === 0) return new Map()
  const asked = buffered.map(({ userId, entries }): Asked => ({ userId, pending: readablePoints(entries) }))
  const stored = await db.read(() => readStored(db.sql, asked))
  const pilgrims = new Map<string, Pilgrim>()
  for (const one of asked) {
    const mine = stored.get(one.userId)!
    const hasPoints = mine.sums !== null || one.pending.length > 0
    if (!hasPoints && mine.pilgrim === null) continue
    const statistics = hasPoints
      ? (foldedOn(mine, addedPoints(one.pending, mine), calendar) ??
        (await keepLate(db, one.userId, madeFrom(one, mine), () =>
          db.read(() => readLate(db, calendar, one)),
        )))
      : null
    pilgrims.set(one.userId, {
      row: mine.pilgrim,
      statistics,
      storedPoints: mine.sums?.points ?? 0,
      pending: one.pending.length,
    })
  }
  return pilgrims
}

/** Returns null when a point is late. */
function foldedOn(stored: Stored, added: readonly FoldPoint[], calendar: Calendar): Statistics | null {
  if (added.length > 0 && isLate(stored.lastDay?.end ?? START, added[0]!.t)) return null
  const days = stored.lastDay === null ? [] : [stored.lastDay]
  // No point is late, so the refold requests no day.
  const step = refold(days, added, calendar).next()
  return withDays(stored, added, step.done ? step.value : [])
}

/** Pending points that count and are not stored yet, in the order of the fold. */
export const addedPoints = (pending: readonly Point[], { known }: Stored): FoldPoint[] =>
  pending
    .filter((point) => point.inRange && !known.has(fieldOf(point)))
    .map(foldPointOf)
    .sort(byInstant)

function withDays(stored: Stored, added: readonly FoldPoint[], days: readonly DayChange[]): Statistics {
  const sums = { ...(stored.sums ?? zeroTotals()) }
  for (const { delta } of days) addTotals(sums, delta)
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

const keepLate = createKeeper<Statistics>()

/** Every change of stored or pending points changes one of these. */
const madeFrom = ({ pending }: Asked, { sums, firstMs, lastMs, lastDay, known }: Stored) => [
  pending,
  sums,
  firstMs,
  lastMs,
  lastDay,
  known.size,
]

/** Folds late points into their days. All reads share a snapshot, because a flush may commit between two statements. */
function readLate(db: Database, calendar: Calendar, { userId, pending }: Asked): Promise<Statistics> {
  return db.sql.begin('isolation level repeatable read read only', async (tx) => {
    const stored = (await readStored(tx, [{ userId, pending }])).get(userId)!
    const added = addedPoints(pending, stored)
    return withDays(stored, added, await refoldPending(tx, calendar, userId, added))
  })
}

/**
 * The changes of a pilgrim's stored days by pending points.
 * @param tx a snapshot: the days and their points are of one moment
 * @param added in the order of the fold
 */
export async function refoldPending(
  tx: Query,
  calendar: Calendar,
  userId: string,
  added: readonly FoldPoint[],
): Promise<readonly DayChange[]> {
  if (added.length === 0) return []
  const days = await readDays(tx, [{ userId, from: calendar.day(added[0]!.t) }])
  const plan = refold(days.get(userId) ?? [], added, calendar)
  let step = plan.next()
  while (!step.done) {
    const points = await readPointsOfDays(tx, [{ userId, day: step.value }], calendar)
    step = plan.next(points.get(userId) ?? [])
  }
  return step.value
}

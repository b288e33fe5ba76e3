/**
 * Statistics of pilgrims: what the flush has summed, and what still waits in the buffer, folded onto it. One call
 * of the kv and one statement, however many pilgrims; days are read only of those with a late pending point.
 */
import { peekInTime } from '#shared/buffer/peek.ts'
import { fieldOf, type Point, unpack } from '#shared/buffer/point.ts'
import type { Database } from '#shared/db/db.ts'
import type { Entry, Kv, Pending } from '#shared/kv/kv.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { byInstant, type FoldPoint, isLate, START } from '#shared/fold/fold.ts'
import { type DayChange, refold } from '#shared/fold/refold.ts'
import { addSums, zeroSums, type Sums } from '#shared/fold/point-totals.ts'
import { readDays, readPointsOfDays } from './stored-days.ts'
import { type Asked, type PilgrimRow, readStored, type Stored } from './stored-pilgrims.ts'

export interface Statistics extends Sums {
  /** Of points in the area, epoch milliseconds: shown as `first_seen` and `last_seen` (`shared/contracts/first-and-last-seen.ts`). */
  readonly firstMs: number | null
  readonly lastMs: number | null
}

/** Someone of whom something is known. */
export interface Pilgrim {
  /** Null for someone who is known by points only. */
  readonly row: PilgrimRow | null
  /** Null for someone who has neither stored nor pending points. */
  readonly statistics: Statistics | null
  /** How many of the points the flush has stored. */
  readonly storedPoints: number
  /** How many points wait in the buffer; null: it could not be asked, and the statistics are of stored points. */
  readonly pending: number | null
}

interface Stores {
  readonly db: Database
  readonly kv: Kv
  readonly calendar: Calendar
}

/** What is known of some pilgrims, by id; of whom nothing is known is left out. @param userIds each once */
export async function readPilgrims(
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim>> {
  const held = await stores.kv.peekEach(userIds)
  return foldPending(
    stores,
    userIds.map((userId, i) => ({ userId, entries: held[i]! })),
  )
}

/**
 * The same while the kv may be away: everybody then stands in the answer as the database knows them, without what
 * waits, and null says that it knows nothing of someone, who may be known in the buffer.
 */
export async function readPilgrimsDegraded(
  stores: Stores,
  userIds: readonly string[],
): Promise<Map<string, Pilgrim | null>> {
  const held = await peekInTime(stores.kv, userIds)
  const pilgrims = await foldPending(
    stores,
    userIds.map((userId, i) => ({ userId, entries: held?.[i] ?? [] })),
  )
  if (held !== null) return pilgrims
  const stored = (userId: string): Pilgrim | null => {
    const pilgrim = pilgrims.get(userId)
    return pilgrim === undefined ? null : { ...pilgrim, pending: null }
  }
  return new Map(userIds.map((userId) => [userId, stored(userId)]))
}

/** The same, where what waits has been read already: before anything stored is, or a flush hides points. */
export async function foldPending(
  { db, calendar }: Pick<Stores, 'db' | 'calendar'>,
  held: readonly Pending[],
): Promise<Map<string, Pilgrim>> {
  const asked = held.map(({ userId, entries }): Asked => ({ userId, pending: pendingPoints(entries) }))
  const stored = await db.read(() => readStored(db.sql, asked))
  const pilgrims = new Map<string, Pilgrim>()
  for (const one of asked) {
    const mine = stored.get(one.userId)!
    const hasPoints = mine.sums !== null || one.pending.length > 0
    if (!hasPoints && mine.pilgrim === null) continue
    const statistics = hasPoints
      ? (foldedOn(mine, addedPoints(one.pending, mine), calendar) ??
        (await db.read(() => readLate(db, calendar, one))))
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

/** Null where a point is late. */
function foldedOn(stored: Stored, added: readonly FoldPoint[], calendar: Calendar): Statistics | null {
  if (added.length > 0 && isLate(stored.lastDay?.end ?? START, added[0]!.t)) return null
  const days = stored.lastDay === null ? [] : [stored.lastDay]
  // Nothing is late, so the plan asks for no day.
  const step = refold(days, added, calendar).next()
  return withDays(stored, added, step.done ? step.value : [])
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
  const sums = { ...(stored.sums ?? zeroSums()) }
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
function readLate(db: Database, calendar: Calendar, { userId, pending }: Asked): Promise<Statistics> {
  return db.sql.begin('isolation level repeatable read read only', async (tx) => {
    const stored = (await readStored(tx, [{ userId, pending }])).get(userId)!
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

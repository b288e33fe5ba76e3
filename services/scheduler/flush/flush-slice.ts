/** Stores and folds a slice of pending points in one transaction. Refused points become dead letters. */
import type { MachineClock } from '#shared/runtime/clock.ts'
import postgres from 'postgres'
import { type BufferedPoint, unpack } from '#shared/points/point.ts'
import {
  type Database,
  isDatabaseUnavailable,
  isStatementTimeout,
  ValueRefused,
  type Tx,
} from '#shared/stores/db/db.ts'
import { tracedStatements } from '#shared/stores/db/traced-statements.ts'
import { readClearedMs } from '#shared/pilgrims/event-settings.ts'
import { readErasuresOf } from '#shared/pilgrims/person-lock.ts'
import { type Entry, isOfErased } from '#shared/stores/kv/kv.ts'
import { type BufferEpoch, countSlice } from '#shared/points/ledger/counters.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import type { Fix } from '#shared/core/distance/points-to-distance.ts'
import { type DayPoints, foldPoints, latestPositionChanges, type Move, writeTotals } from './update-totals.ts'
import { updateShownWalks } from './update-shown-walks.ts'
import type { Slice } from '#shared/points/pending-points.ts'
import { storeDeadLetter } from './store-dead-letters.ts'
import { byIdentity, type OwnedPoint, storePoints, withoutStoredPoints } from './store-points.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { CellChanges } from '#shared/core/map/cell-counts.ts'

/** @param fresh points stored by this transaction */
async function recordCellChanges(
  tx: Tx,
  fresh: readonly OwnedPoint[],
  moves: readonly Move[],
  calendar: Calendar,
): Promise<void> {
  if (moves.length === 0) return
  const changes = new CellChanges()
  for (const { point } of fresh)
    if (point.inRange && isPlace(point)) changes.addPoint(calendar.hourStart(point.recordedMs), point)
  for (const { from, to } of moves) {
    if (from === to || to === null) continue
    if (from !== null) changes.removePilgrim(calendar.hourStart(from.t), from)
    changes.addPilgrim(calendar.hourStart(to.t), to)
  }
  await tx.sql`INSERT INTO cell_changes (changes) VALUES (decode(${changes.pack()}, 'base64'))`
}

/** The outcome of a slice: each of its points is counted once, except those of pilgrims who could not be stored now. */
interface FlushedSlice {
  readonly stored: number
  readonly duplicates: number
  readonly deadLetters: number
  /** Points of people erased after the points were received, and points of a cleared rehearsal. */
  readonly erased: number
  readonly left: readonly { readonly userId: string; readonly error: unknown }[]
  /** Number of points of each changed day; one entry per part of a day stored in parts. */
  readonly dayPoints: readonly DayPoints[]
}

/** Where the points of a slice are, and how the ledger counts their outcome. */
export interface Source {
  /** Runs after the pilgrims are locked. @returns the points that are still there */
  take(tx: Tx, points: readonly OwnedPoint[]): Promise<readonly OwnedPoint[]>
  count(
    tx: Tx,
    outcome: { readonly stored: number; readonly repeated: number; readonly erased: number },
  ): Promise<void>
  /** Keeps a refused point as a dead letter. @returns how it counts; null if the source no longer had the point */
  refuse(
    letter: Entry & { readonly userId: string },
    error: unknown,
  ): Promise<'deadLetters' | 'erased' | null>
}

const bufferSource = (db: Database, now: MachineClock, slice: BufferEpoch): Source => ({
  take: async (_tx, points) => points,
  count: (tx, outcome) => countSlice(tx, slice, outcome),
  refuse: async (letter, error) =>
    (await storeDeadLetter({ db, now, counters: slice }, letter, error)) ? 'deadLetters' : 'erased',
})

interface Storing {
  readonly db: Database
  readonly calendar: Calendar
  readonly now: MachineClock
  readonly hidesLate: (userId: string) => boolean
  readonly source: Source
  readonly counts: Record<Exclude<keyof FlushedSlice, 'left' | 'dayPoints'>, number>
  readonly dayPoints: DayPoints[]
  readonly left: Map<string, unknown>
}

/** At most this many pilgrims are skipped per slice. If more fail, the cause is not the data, and the slice fails. */
const MAX_LEFT = 20

/**
 * Stores a slice. Resolves when all points are committed, in the table or as dead letters, except those of skipped
 * pilgrims, for whom every statement failed.
 * @param hidesLate as in `FlushContext`
 * @param source default: the buffer
 * @throws when neither points nor pilgrims are the cause; the slice must then stay in the buffer
 */
export async function flushSlice(
  db: Database,
  calendar: Calendar,
  slice: Slice,
  now: MachineClock,
  hidesLate: (userId: string) => boolean = () => false,
  source: Source = bufferSource(db, now, slice),
): Promise<FlushedSlice> {
  const counts = { stored: 0, duplicates: 0, deadLetters: 0, erased: 0 }
  const left = new Map<string, unknown>()
  const dayPoints: DayPoints[] = []
  const storing: Storing = { db, calendar, now, hidesLate, source, counts, dayPoints, left }
  const points: OwnedPoint[] = []
  for (const { userId, entries } of slice.pending)
    for (const entry of entries)
      try {
        points.push({ userId, entry, point: readPoint(entry) })
      } catch (error) {
        await refuse(storing, userId, entry, error)
      }
  await storeOrHalve(storing, points.sort(byIdentity))
  return { ...counts, dayPoints, left: Array.from(left, ([userId, error]) => ({ userId, error })) }
}

async function refuse(
  { source, counts }: Storing,
  userId: string,
  entry: Entry,
  error: unknown,
): Promise<void> {
  const outcome = await source.refuse({ userId, ...entry }, error)
  if (outcome !== null) counts[outcome]++
}

/** The last time of a `Date`. */
const LAST_MS = 8_640_000_000_000_000

/** @throws for an invalid entry, or a time outside the calendar's range */
function readPoint(entry: Entry): BufferedPoint {
  const point = unpack(entry)
  if (Math.abs(point.recordedMs) > LAST_MS) throw new LoggableError('the time is out of range')
  return point
}

async function storeOrHalve(storing: Storing, given: readonly OwnedPoint[]): Promise<void> {
  const { left } = storing
  const points = given.filter(({ userId }) => !left.has(userId))
  const [first] = points
  if (first === undefined) return
  try {
    await store(storing, points)
  } catch (error) {
    const isTooMuch = isStatementTimeout(error)
    if (isDatabaseUnavailable(error) && !isTooMuch) throw error
    const isOnes = points.at(-1)!.userId === first.userId
    if (points.length === 1 && isRefusal(error)) return refuse(storing, first.userId, first.entry, error)
    // Points that take too long, or meet another error, are not refused: they stay pending.
    if (points.length === 1 || (isOnes && !isTooMuch && !isRefusal(error))) {
      if (left.size === MAX_LEFT) throw error
      left.set(first.userId, error)
      return
    }
    const half = Math.ceil(points.length / 2)
    await storeOrHalve(storing, points.slice(0, half))
    await storeOrHalve(storing, points.slice(half))
  }
}

/**
 * Whether a point itself causes the error: a data exception, a constraint, a limit (SQLSTATE 22, 23, 54). A
 * deadlock, a full disk, a missing table or a bug would affect every point.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof ValueRefused || (error instanceof postgres.PostgresError && /^(22|23|54)/.test(error.code))

async function store(
  { db, calendar, now, hidesLate, source, counts, dayPoints }: Storing,
  given: readonly OwnedPoint[],
): Promise<void> {
  const [stored, duplicates, erased, days] = await db.transaction(async (plain) => {
    const tx = tracedStatements(plain)
    const userIds = [...new Set(given.map(({ userId }) => userId))]
    const positions = await lockPilgrims(tx, userIds)
    const points = await source.take(tx, given)
    // After the lock: an erasure is either visible here, or waits for this transaction.
    const remaining = await withoutCleared(tx, await withoutErased(tx, points, userIds))
    await createPilgrims(tx, [...new Set(remaining.map(({ userId }) => userId))], userIds, now())
    const fresh = await withoutStoredPoints(tx, remaining)
    // Before the insert, so that the fold of a late day reads only the points that it does not have yet.
    const changes = await foldPoints(tx, fresh, calendar)
    await storePoints(db, tx, fresh)
    const moves = await latestPositionChanges(tx, changes, positions)
    const claims = changes.filter(({ userId }) => hidesLate(userId))
    await updateShownWalks(tx, fresh, claims)
    const days = await writeTotals(tx, changes, moves, calendar)
    await recordCellChanges(tx, fresh, moves, calendar)
    const stored = fresh.length
    const [repeated, erased] = [remaining.length - stored, points.length - remaining.length]
    await source.count(tx, { stored, repeated, erased })
    return [stored, repeated, erased, days] as const
  })
  counts.stored += stored
  counts.duplicates += duplicates
  counts.erased += erased
  dayPoints.push(...days)
}

/** Locks the pilgrims of a slice in the order of all flushes. @returns their latest positions, where known */
async function lockPilgrims(tx: Tx, userIds: string[]): Promise<Map<string, Fix>> {
  // Existing rows are locked too, although none of their columns is updated.
  await tx.sql`
    INSERT INTO pilgrim_totals (user_id)
    SELECT user_id FROM unnest(${userIds}::text[]) AS u (user_id) ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET user_id = excluded.user_id WHERE false`
  const rows = await tx.sql<(Fix & { user_id: string })[]>`
    SELECT user_id, last_lat AS lat, last_lng AS lng, epoch_ms(last_seen) AS t
    FROM pilgrim_totals WHERE user_id = ANY(${userIds}::text[]) AND last_seen IS NOT NULL`
  return new Map(rows.map(({ user_id, ...fix }) => [user_id, fix]))
}

async function withoutErased(
  tx: Tx,
  points: readonly OwnedPoint[],
  userIds: readonly string[],
): Promise<readonly OwnedPoint[]> {
  const erasures = await readErasuresOf(tx, userIds)
  if (erasures.size === 0) return points
  return points.filter(({ userId, point }) => {
    const erased = erasures.get(userId)
    return erased === undefined || !isOfErased(erased, point)
  })
}

/**
 * Removes points of a cleared rehearsal. A replica that starts while the database does not answer accepts them, and
 * another machine's journal may still have some.
 */
async function withoutCleared(tx: Tx, points: readonly OwnedPoint[]): Promise<readonly OwnedPoint[]> {
  const clearedMs = await readClearedMs(tx)
  return clearedMs === null ? points : points.filter(({ point }) => point.sentMs >= clearedMs)
}

/** Creates new pilgrims. Deletes the lock rows of pilgrims without a remaining point. */
async function createPilgrims(tx: Tx, remaining: string[], locked: string[], nowMs: number): Promise<void> {
  await tx.sql`
    INSERT INTO pilgrims (user_id, created_at, updated_at)
    SELECT user_id, from_epoch_ms(${nowMs}), from_epoch_ms(${nowMs})
    FROM unnest(${remaining}::text[]) AS u (user_id) ORDER BY user_id
    ON CONFLICT DO NOTHING`
  if (remaining.length === locked.length) return
  await tx.sql`
    DELETE FROM pilgrim_totals t WHERE user_id = ANY(${locked}::text[]) AND points = 0
      AND NOT EXISTS (SELECT FROM pilgrims p WHERE p.user_id = t.user_id)`
}

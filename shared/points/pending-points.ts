/**
 * The content of the buffer, for answers and, in slices, for the transactions of a flush; also the time of the last
 * flush.
 */
import { type MachineClock, never, type StartStopwatch } from '#shared/runtime/clock.ts'
import { within } from '#shared/runtime/deadline.ts'
import {
  type Entry,
  isKvUnavailable,
  type Pending,
  type KvKeys,
  type KvPoints,
} from '#shared/stores/kv/kv.ts'
import type { BufferEpoch } from './ledger/counters.ts'
import { type BufferedPoint, readablePoints } from './point.ts'
import type { Database } from '#shared/stores/db/db.ts'

/** The timeout of every other request to the kv; only calls that move thousands of entries have longer ones. */
const TIMEOUT_MS = 800

/** Reads the kv for an answer that is useful without it; null: the kv is unavailable or slow. */
export async function peekWithin<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await within(read, TIMEOUT_MS, () => null)
  } catch (error) {
    if (isKvUnavailable(error)) return null
    throw error
  }
}

/** Pending entries of one pilgrim; null: the buffer is unavailable. */
export const peekPilgrim = (kv: KvPoints, userId: string): Promise<Entry[] | null> =>
  peekWithin(kv.peek(userId))

/** Pending points by pilgrim, each of `userIds` included; null: the buffer is unavailable. */
export async function readPending(
  kv: KvPoints,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly BufferedPoint[]> | null> {
  const entries = await peekWithin(kv.peekEach(userIds))
  return entries && new Map(userIds.map((userId, i) => [userId, readablePoints(entries[i]!)]))
}

/** Pending points of one pilgrim; null: the buffer is unavailable. */
export const readPendingOf = async (kv: KvPoints, userId: string): Promise<readonly BufferedPoint[] | null> =>
  (await readPending(kv, [userId]))?.get(userId) ?? null

/** All pilgrims with pending points; null: the buffer is unavailable. */
export async function pendingUsersWithTimeout(kv: KvPoints): Promise<string[] | null> {
  const partitions = Array.from({ length: kv.partitions }, (_, partition) => kv.pendingUsers(partition))
  return (await peekWithin(Promise.all(partitions)))?.flat() ?? null
}

/** Pilgrims in the first read from the kv; each later read is sized so that its points fill a slice. */
const FIRST_READ = 50
const LONGEST_READ = 1_000

/** Points of one transaction, and the partition and epoch from which they were read. */
export interface Slice extends BufferEpoch {
  readonly pending: readonly Pending[]
}

/** Yields a partition's pending points, longest pending pilgrims first. A pilgrim with many points is split. */
export async function* slices(kv: KvPoints, partition: number, slicePoints: number): AsyncGenerator<Slice> {
  const users = await kv.pendingUsers(partition)
  let pending: Pending[] = []
  let size = 0
  let epoch = ''
  let reading = FIRST_READ
  for (let i = 0; i < users.length;) {
    const batch = users.slice(i, i + reading)
    i += batch.length
    // The epoch is read before the points: points of a new epoch, counted under the old one, would appear as lost.
    const [current, read] = await Promise.all([kv.epoch(partition), kv.drain(partition, batch)])
    if (current !== epoch && pending.length > 0) {
      yield { epoch, partition, pending }
      pending = []
      size = 0
    }
    epoch = current
    let points = 0
    for (const { userId, entries } of read)
      for (const part of parts(entries, slicePoints)) {
        pending.push({ userId, entries: part })
        size += part.length
        points += part.length
        if (size < slicePoints) continue
        yield { epoch, partition, pending }
        pending = []
        size = 0
      }
    const fitting = Math.round((slicePoints * batch.length) / Math.max(points, 1))
    // The size at most doubles: after pilgrims with one point each, the next may have thousands.
    reading = Math.min(Math.max(fitting, 1), 2 * batch.length, LONGEST_READ)
  }
  if (pending.length > 0) yield { epoch, partition, pending }
}

/** Usually one part. An empty buffer is also one part: acknowledging it removes its pilgrim from the pending list. */
function parts(entries: readonly Entry[], slicePoints: number): (readonly Entry[])[] {
  if (entries.length <= slicePoints) return [entries]
  // Sorted by time, so that no part has late points for the parts before it.
  const sorted = [...entries].sort((a, b) => sentMs(a) - sentMs(b))
  const cuts = Math.ceil(sorted.length / slicePoints)
  return Array.from({ length: cuts }, (_, i) => sorted.slice(i * slicePoints, (i + 1) * slicePoints))
}

const sentMs = ({ field }: Entry): number => Number(field.slice(1))

// Time of the last successful flush: Postgres stores it, and a marker in the kv caches it.

export const LAST_FLUSH_KEY = 'last-flush'
/** Specification, "Limits": last-flush marker. */
export const LAST_FLUSH_TTL_MS = 86_400_000

/**
 * Time since which every partition has been flushed without a failed slice, epoch milliseconds; null before the first.
 * A time in the future (a wrong clock) counts only until the next flush.
 */
export async function lastFlushMs(db: Database, partitions: number): Promise<number | null> {
  const [row] = await db.read(
    () => db.sql<{ partitions: number; last_ms: number | null }[]>`
      WITH last AS (
        SELECT (
          SELECT id FROM flushes WHERE partition = p AND succeeded ORDER BY id DESC LIMIT 1
        ) AS id FROM generate_series(0, ${partitions - 1}::int) p
      )
      SELECT count(id)::int AS partitions, (
        SELECT epoch_ms(min(finished_at)) FROM flushes WHERE id >= (SELECT min(id) FROM last)
      ) AS last_ms FROM last`,
  )
  return row === undefined || row.partitions < partitions ? null : row.last_ms
}

/** Reads the marker, or Postgres when there is none. */
async function readStoredFlush(db: Database, kv: KvPoints & KvKeys): Promise<number | null> {
  const marker = await kv.cached(LAST_FLUSH_KEY).catch(() => null)
  return marker === null ? lastFlushMs(db, kv.partitions) : Number(marker)
}

interface Stores {
  readonly db: Database
  readonly kv: KvPoints & KvKeys
  readonly now: MachineClock
}

/** Time of the last successful flush, at most `now()`; null before the first. */
export async function readLastFlush({ db, kv, now }: Stores): Promise<number | null> {
  const storedMs = await readStoredFlush(db, kv)
  return storedMs && Math.min(storedMs, now())
}

/**
 * Creates a reader of the last flush for callers that watch its age. The age rises even if a clock is set back: a flush
 * is at least as old as this process has known of it.
 */
export function createLastFlush({
  db,
  kv,
  now,
  stopwatch,
}: Stores & { readonly stopwatch: StartStopwatch }): () => Promise<number | null> {
  let storedMs: number | null = null
  let known = never
  return async () => {
    const readMs = await readStoredFlush(db, kv)
    if (readMs !== storedMs) known = stopwatch()
    storedMs = readMs
    return readMs && Math.min(readMs, now() - known())
  }
}

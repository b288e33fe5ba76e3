/**
 * The flush: pending points of every partition go to the database, slice by slice, and exactly what was
 * stored leaves the buffer. Killed anywhere it loses and doubles nothing: before a slice's commit nothing
 * happened, after it the next flush finds the points stored and deletes them.
 */
import type { Database } from '#shared/db/db.ts'
import type { Kv, Pending } from '#shared/kv/kv.ts'
import { LAST_FLUSH_KEY, LAST_FLUSH_TTL_MS, lastFlushMs } from '#shared/last-flush.ts'
import { errorFields, type Log } from '#shared/log.ts'
import type { Metrics } from '#shared/metrics.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { flushes } from '#shared/schema/flushing.ts'
import { ensureDayPartitions } from './day-partitions.ts'
import { flushSlice } from './flush-slice.ts'

/** Nobody else flushes the partition for this long; renewed while the flush works. */
const LOCK_MS = 90_000
const RENEW_MS = 30_000
/** Pilgrims read from the buffer in one call. */
const USERS_A_READ = 250
/** Points in one transaction: some more when a pilgrim has many. */
const POINTS_A_SLICE = 5_000
/** Two partitions at a time keep a database of two cores busy. */
const ABREAST = 2
const LOCK_POLL_MS = 500

export interface FlushContext {
  readonly db: Database
  readonly kv: Kv
  readonly calendar: Calendar
  readonly now: () => number
  readonly log: Log
  readonly metrics: Metrics
  readonly retentionMs: number
}

export interface FlushResult {
  readonly stored: number
  readonly duplicates: number
  readonly deadLetters: number
  /** Slices that could not be stored; their points wait for the next flush. */
  readonly failedSlices: number
  /** Partitions that someone else was flushing. */
  readonly skipped: number
}

const NOTHING: FlushResult = { stored: 0, duplicates: 0, deadLetters: 0, failedSlices: 0, skipped: 0 }

const sum = (results: readonly Partial<FlushResult>[]): FlushResult => {
  const total = { ...NOTHING }
  for (const result of results)
    for (const key of Object.keys(total) as (keyof FlushResult)[]) total[key as 'stored'] += result[key] ?? 0
  return total
}

/**
 * Flushes every partition.
 * @param waitMs how long to wait for a partition that someone else is flushing; 0: leave it to them
 */
export async function flush(context: FlushContext, waitMs = 0): Promise<FlushResult> {
  const { db, kv } = context
  const results: FlushResult[] = []
  const partitions = Array.from({ length: kv.partitions }, (_, partition) => partition)
  const worker = async () => {
    for (let next = partitions.shift(); next !== undefined; next = partitions.shift())
      results.push(await flushPartition(context, next, waitMs))
  }
  await Promise.all(Array.from({ length: ABREAST }, worker))
  const flushedMs = await lastFlushMs(db, kv.partitions)
  if (flushedMs !== null) await kv.cache(LAST_FLUSH_KEY, String(flushedMs), LAST_FLUSH_TTL_MS)
  return sum(results)
}

async function takeLock(kv: Kv, name: string, waitMs: number): Promise<string | null> {
  const until = performance.now() + waitMs
  for (;;) {
    const token = await kv.lock(name, LOCK_MS)
    if (token !== null || performance.now() >= until) return token
    await Bun.sleep(LOCK_POLL_MS)
  }
}

async function flushPartition(
  context: FlushContext,
  partition: number,
  waitMs: number,
): Promise<FlushResult> {
  const { kv, log } = context
  const name = `flush:${partition}`
  const token = await takeLock(kv, name, waitMs)
  if (token === null) return { ...NOTHING, skipped: 1 }
  let lost = false
  const renewal = setInterval(() => {
    kv.renewLock(name, token, LOCK_MS).then(
      (ours) => (lost ||= !ours),
      (error: unknown) => log.warn('the flush lock is not renewed', errorFields(error)),
    )
  }, RENEW_MS)
  try {
    return await flushLocked(context, partition, () => lost)
  } catch (error) {
    // Nothing expires while it can not be stored.
    await kv.renew(partition, await kv.pendingUsers(partition), context.retentionMs)
    throw error
  } finally {
    clearInterval(renewal)
    await kv.unlock(name, token)
  }
}

async function flushLocked(
  context: FlushContext,
  partition: number,
  lost: () => boolean,
): Promise<FlushResult> {
  const { db, kv, now, log, metrics } = context
  const startedAt = new Date(now())
  await ensureDayPartitions(db, now(), log)
  const results: Partial<FlushResult>[] = []
  for await (const slice of slices(kv, partition)) {
    // Someone else flushes now; storing on would be safe, but twice the work.
    if (lost()) throw new Error('the flush lock was lost')
    try {
      const result = await flushSlice(db, context.calendar, slice, now)
      await kv.settle(partition, slice)
      results.push(result)
    } catch (error) {
      log.error('a slice could not be flushed; its points wait for the next flush', errorFields(error))
      results.push({ failedSlices: 1 })
      await kv.renew(
        partition,
        slice.map(({ userId }) => userId),
        context.retentionMs,
      )
    }
  }
  const result = sum(results)
  await db.orm.insert(flushes).values({
    partition,
    startedAt,
    finishedAt: new Date(now()),
    stored: result.stored,
    duplicates: result.duplicates,
    deadLetters: result.deadLetters,
    succeeded: result.failedSlices === 0,
  })
  for (const outcome of ['stored', 'duplicates', 'deadLetters', 'failedSlices'] as const)
    metrics.count('flush_points_total', 'What flushes came to, by outcome', { outcome }, result[outcome])
  return result
}

/** The pending points of a partition in slices; a pilgrim with many points is cut. */
async function* slices(kv: Kv, partition: number): AsyncGenerator<Pending[]> {
  const users = await kv.pendingUsers(partition)
  let slice: Pending[] = []
  let size = 0
  for (let i = 0; i < users.length; i += USERS_A_READ)
    for (const pending of await kv.drain(partition, users.slice(i, i + USERS_A_READ))) {
      // An empty buffer still takes its pilgrim off the list.
      for (let from = 0; from === 0 || from < pending.entries.length; from += POINTS_A_SLICE) {
        const entries = pending.entries.slice(from, from + POINTS_A_SLICE)
        slice.push({ userId: pending.userId, entries })
        size += entries.length
        if (size >= POINTS_A_SLICE) {
          yield slice
          slice = []
          size = 0
        }
      }
    }
  if (slice.length > 0) yield slice
}

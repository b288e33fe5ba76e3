/**
 * The flush moves the pending points of every partition to the database, slice by slice, and deletes exactly the stored
 * points from the buffer. A killed flush loses and duplicates nothing: before a slice's commit nothing has changed;
 * after it the next flush finds the points stored and deletes them from the buffer.
 */
import {
  type Slice,
  slices,
  LAST_FLUSH_KEY,
  LAST_FLUSH_TTL_MS,
  lastFlushMs,
} from '#shared/points/pending-points.ts'
import { isDatabaseUnavailable, isStatementTimeout } from '#shared/stores/db/db.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { type FullDay, noteFullDays, POINTS_A_DAY } from '#shared/points/full-days.ts'
import { dropOldPositions } from '#shared/points/old-positions.ts'
import { storeCounters } from '#shared/points/ledger/counters.ts'
import { span } from '#shared/runtime/traces.ts'
import { errorFields, LoggableError } from '#shared/runtime/log.ts'
import { flushes } from '#shared/stores/schema/tables.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import { ensureDayPartitions } from '#shared/stores/db/day-partitions.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { flushSlice } from './flush-slice.ts'
import { storeRequeuedLetters } from './requeued-letters.ts'
import { rollUpCells } from './roll-up-cells.ts'

export interface FlushContext extends Pick<
  ServiceContext,
  'db' | 'kv' | 'calendar' | 'now' | 'log' | 'metrics'
> {
  /** Retention of points in the buffer; renewed when they cannot be stored. */
  readonly retentionMs: number
  /** Lifetime of a partition's lock after its flush has died; renewed while the flush runs. */
  readonly lockMs: number
  /** Points in one transaction. A slice has less than twice as many. */
  readonly slicePoints: number
  /** Whether others see the walk of a pilgrim as that of a claim; default: of nobody. */
  readonly hidesLate?: (userId: string) => boolean
  /** How old points may be when they are accepted (ms). */
  readonly maxAgeMs: number
  /** Points of a pilgrim's day beyond which further track points of that day are rejected. */
  readonly pointsADay?: number
  /** Aborted when the process stops: running slices are finished, the others stay pending. */
  readonly stopping: AbortSignal
}

const POLL_MS = 200
/**
 * A lock that is not renewed for this share of its lifetime (ten seconds) is free: its owner was killed or has lost the
 * kv. If the owner still runs, two concurrent flushes still store nothing twice.
 */
const STALE_SHARE = 1 / 9

/**
 * Acquires a partition's lock and renews it until `release`.
 * @param waitUntil when to stop waiting for the lock, by `performance.now()`
 * @returns null if the lock is still taken then, or the process stops
 */
async function acquireFlushLock(
  { kv, log, lockMs, stopping }: FlushContext,
  partition: number,
  waitUntil: number,
) {
  const name = `flush:${partition}`
  const staleMs = lockMs * STALE_SHARE
  let token = stopping.aborted ? null : await kv.lock(name, lockMs, staleMs)
  while (token === null && !stopping.aborted) {
    const leftMs = waitUntil - performance.now()
    if (leftMs <= 0) return null
    await Bun.sleep(Math.min(POLL_MS, leftMs))
    token = await kv.lock(name, lockMs, staleMs)
  }
  if (token === null) return null
  const acquired = token
  let lost = false
  const renewal = setInterval(() => {
    kv.renewLock(name, acquired, lockMs).then(
      (ours) => (lost ||= !ours),
      (error: unknown) =>
        log.warn('the flush lock could not be renewed', { partition, ...errorFields(error) }),
    )
  }, staleMs / 4)
  return {
    /** Whether another process may flush the partition now. */
    lost: () => lost,
    /** Stops the renewal and releases the lock. Without the kv the lock expires. */
    async release(): Promise<void> {
      clearInterval(renewal)
      await kv
        .unlock(name, acquired)
        .catch((error: unknown) =>
          log.warn('the flush lock could not be released; it expires', { partition, ...errorFields(error) }),
        )
    },
  }
}

type FlushLock = NonNullable<Awaited<ReturnType<typeof acquireFlushLock>>>

/** Concurrent slices: the database stores one, this process folds one, and the kv acknowledges one. */
const CONCURRENT_SLICES = 3

export interface FlushResult {
  /** Points; each is counted in exactly one of the four fields. */
  readonly stored: number
  readonly duplicates: number
  readonly deadLetters: number
  readonly erased: number
  /** Pilgrims and slices that could not be stored, and interrupted partitions. Their points stay pending. */
  readonly failures: number
  /** Partitions that another process flushes, or that were skipped because the process stops. */
  readonly skipped: number
}

type FlushRecord = typeof flushes.$inferInsert

const NOTHING: FlushResult = { stored: 0, duplicates: 0, deadLetters: 0, erased: 0, failures: 0, skipped: 0 }

function sum(results: readonly Partial<FlushResult>[]): FlushResult {
  const total: Record<keyof FlushResult, number> = { ...NOTHING }
  for (const result of results)
    for (const key of Object.keys(total) as (keyof FlushResult)[]) total[key] += result[key] ?? 0
  return total
}

/**
 * Flushes every partition. Does not reject when the database or kv is down: failures are logged and counted.
 * @param waitMs how long to wait in total for partitions that another process flushes; 0 skips them
 */
export async function flush(context: FlushContext, waitMs = 0): Promise<FlushResult> {
  const { db, kv, now, log } = context
  const startedMs = performance.now()
  await ensureDayPartitions(db, now(), log).catch((error: unknown) =>
    // Points of a day without a partition go to the default one.
    log.warn('the daily partitions of points could not be looked at', errorFields(error)),
  )
  const waitUntil = performance.now() + waitMs
  const results: FlushResult[] = []
  const records: FlushRecord[] = []
  // Unlocked partitions come first, so that concurrent schedulers share the partitions.
  for (let partition = 0; partition < kv.partitions; partition++)
    results.push(await flushPartition(context, partition, 0, records))
  if (waitMs > 0)
    for (const [partition, { skipped }] of results.entries())
      if (skipped > 0 && !context.stopping.aborted)
        results[partition] = await flushPartition(context, partition, waitUntil, records)
  const completed = records.length > 0 ? await complete(context, records) : NOTHING
  await publishResults(context, results)
  await dropOldPositions(context).catch((error: unknown) =>
    log.warn('old positions could not be removed from the kv', errorFields(error)),
  )
  const letters = context.stopping.aborted ? NOTHING : await flushLetters(context)
  context.metrics.observe('event_flush_seconds', (performance.now() - startedMs) / 1_000)
  return sum([...results, completed, letters])
}

/** The partition in the record of requeued letters, which come from all partitions. */
const LETTERS = -1

/** Flushes requeued letters, after all that they could delay. */
async function flushLetters(context: FlushContext): Promise<FlushResult> {
  const { now, log, metrics } = context
  const startedAt = new Date(now())
  try {
    const flushed = await storeRequeuedLetters(context)
    if (flushed === null) return NOTHING
    report(metrics, sum([flushed]))
    const { stored, duplicates, deadLetters } = flushed
    const record = {
      partition: LETTERS,
      startedAt,
      finishedAt: new Date(now()),
      stored,
      duplicates,
      deadLetters,
    }
    return sum([flushed, await complete(context, [{ ...record, succeeded: true }])])
  } catch (error) {
    log.error('requeued letters could not be flushed', errorFields(error))
    return { ...NOTHING, failures: 1 }
  }
}

/** Caches the time of the flush, and stores the kv's counters after it. */
async function publishResults({ db, kv, log }: FlushContext, results: readonly FlushResult[]): Promise<void> {
  try {
    const flushedMs = await lastFlushMs(db, kv.partitions)
    if (flushedMs !== null) await kv.cache(LAST_FLUSH_KEY, String(flushedMs), LAST_FLUSH_TTL_MS)
  } catch (error) {
    log.warn('the time of the last flush could not be cached', errorFields(error))
  }
  try {
    const flushedPartitions = results.flatMap(({ failures, skipped }, p) =>
      failures + skipped === 0 ? [p] : [],
    )
    await storeCounters(db, kv, new Set(flushedPartitions))
  } catch (error) {
    log.warn('the counters of the buffer could not be stored', errorFields(error))
  }
}

/** Updates the map. Only then is the flush of a partition recorded. */
async function complete(
  { db, calendar, log, metrics, stopping }: FlushContext,
  records: readonly FlushRecord[],
): Promise<FlushResult> {
  try {
    await rollUpCells({ db, log, metrics }, calendar, stopping)
    if (stopping.aborted) return { ...NOTHING, skipped: records.filter(({ succeeded }) => succeeded).length }
    await db.read(() => db.orm.insert(flushes).values([...records]))
    return NOTHING
  } catch (error) {
    log.error('a flush is stored, but the map is not updated; the next flush updates it', errorFields(error))
    return { ...NOTHING, failures: 1 }
  }
}

async function flushPartition(
  context: FlushContext,
  partition: number,
  waitUntil: number,
  records: FlushRecord[],
): Promise<FlushResult> {
  const done: Partial<FlushResult>[] = []
  try {
    const lock = await acquireFlushLock(context, partition, waitUntil)
    if (lock === null) return { ...NOTHING, skipped: 1 }
    try {
      records.push(await flushLocked(context, partition, lock, done))
    } finally {
      await lock.release()
    }
  } catch (error) {
    context.log.error('a partition could not be flushed; its points stay pending', {
      partition,
      ...errorFields(error),
    })
    done.push({ failures: 1 })
    await renewRetention(context, partition)
  }
  const result = sum(done)
  report(context.metrics, result)
  return result
}

function report(metrics: Metrics, { stored, duplicates, deadLetters, erased, failures }: FlushResult): void {
  const points = { stored, duplicate: duplicates, dead_letter: deadLetters, erased }
  for (const [outcome, count] of Object.entries(points))
    metrics.count('event_flush_points_total', { outcome }, count)
  metrics.count('event_flush_failures_total', {}, failures)
}

/** @param done receives the outcome of each slice, also when the flush is interrupted */
async function flushLocked(
  context: FlushContext,
  partition: number,
  lock: FlushLock,
  done: Partial<FlushResult>[],
): Promise<FlushRecord> {
  const { kv, now, log, maxAgeMs, slicePoints, stopping } = context
  const startedAt = new Date(now())
  const full: FullDay[] = []
  const pending = slices(kv, partition, slicePoints)
  const worker = async () => {
    // A worker that throws ends the iterator, and with it the other workers.
    for await (const slice of pending) {
      // Another process flushes now. Continuing would be safe, but would repeat its work.
      if (lock.lost()) throw new LoggableError('the flush lock was lost')
      if (stopping.aborted) break
      const attributes = { partition, pilgrims: slice.pending.length }
      done.push(await span('flush slice', attributes, () => storeAndAcknowledge(context, slice, full)))
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: CONCURRENT_SLICES }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  if (stopping.aborted) done.push({ skipped: 1 })
  if (full.length > 0)
    await noteFullDays(kv, partition, full, startedAt.getTime(), maxAgeMs).catch((error: unknown) =>
      log.warn('days with too many points could not be noted', { partition, ...errorFields(error) }),
    )
  const { stored, duplicates, deadLetters, failures, skipped } = sum(done)
  return {
    partition,
    startedAt,
    finishedAt: new Date(now()),
    stored,
    duplicates,
    deadLetters,
    succeeded: failures === 0 && skipped === 0,
  }
}

/**
 * @param full receives the days with more than `pointsADay` points of a pilgrim
 * @throws when the database or the kv is down, so that the other slices are not tried
 */
async function storeAndAcknowledge(
  { db, kv, calendar, now, log, retentionMs, hidesLate, pointsADay = POINTS_A_DAY }: FlushContext,
  slice: Slice,
  full: FullDay[],
): Promise<Partial<FlushResult>> {
  const { partition } = slice
  try {
    // Safe to repeat: stored points are recognised as duplicates.
    const { left, dayPoints, ...result } = await db.read(() =>
      flushSlice(db, calendar, slice, now, hidesLate),
    )
    for (const { userId, day, points } of dayPoints) if (points > pointsADay) full.push({ userId, day })
    const isLeft = new Set(left.map(({ userId }) => userId))
    await kv.acknowledge(
      slice.partition,
      slice.pending.filter(({ userId }) => !isLeft.has(userId)),
      slice.epoch,
    )
    for (const { error } of left)
      log.error('points of a pilgrim could not be flushed; they stay pending', {
        partition,
        ...errorFields(error),
      })
    await kv.renew(partition, [...isLeft], retentionMs)
    return { ...result, failures: left.length }
  } catch (error) {
    if ((isDatabaseUnavailable(error) && !isStatementTimeout(error)) || isKvUnavailable(error)) throw error
    log.error('a slice could not be flushed; its points stay pending', { partition, ...errorFields(error) })
    const userIds = slice.pending.map(({ userId }) => userId)
    await kv.renew(partition, userIds, retentionMs)
    return { failures: 1 }
  }
}

/** Renews the retention, so that pending points do not expire while they cannot be stored. */
async function renewRetention({ kv, retentionMs, log }: FlushContext, partition: number): Promise<void> {
  try {
    await kv.renew(partition, await kv.pendingUsers(partition), retentionMs)
  } catch (error) {
    log.warn('the retention of pending points could not be renewed', { partition, ...errorFields(error) })
  }
}

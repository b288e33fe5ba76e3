/**
 * The flush: pending points of every partition go to the database, slice by slice, and exactly what was
 * stored leaves the buffer. Killed anywhere it loses and doubles nothing: before a slice's commit nothing
 * happened, after it the next flush finds the points stored and deletes them.
 */
import { type Slice, slices } from '#shared/buffer/flush-slices.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { LAST_FLUSH_KEY, LAST_FLUSH_TTL_MS, lastFlushMs } from '#shared/buffer/last-flush.ts'
import { storeCounters } from '#shared/ledger/stored-counters.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import { flushes } from '#shared/schema/flushing.ts'
import { ensureDayPartitions } from '../day-partitions.ts'
import { type FlushLock, takeFlushLock } from './flush-lock.ts'
import type { FlushContext } from './flush-context.ts'
import { flushSlice } from './flush-slice.ts'
import { rollUpCells } from './roll-up-cells.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** Slices on their way at a time: while the database stores one, this process folds one, and the kv settles one. */
const ABREAST = 3

export interface FlushResult {
  /** Points, each in one of the four. */
  readonly stored: number
  readonly duplicates: number
  readonly deadLetters: number
  readonly erased: number
  /** Slices that could not be stored, and partitions broken off; their points wait for the next flush. */
  readonly failures: number
  /** Partitions left alone: someone else was flushing them, or the process is to end. */
  readonly skipped: number
}

/** A partition whose flush came to its end. */
type FlushRecord = typeof flushes.$inferInsert

const NOTHING: FlushResult = { stored: 0, duplicates: 0, deadLetters: 0, erased: 0, failures: 0, skipped: 0 }

function sum(results: readonly Partial<FlushResult>[]): FlushResult {
  const total: Record<keyof FlushResult, number> = { ...NOTHING }
  for (const result of results)
    for (const key of Object.keys(total) as (keyof FlushResult)[]) total[key] += result[key] ?? 0
  return total
}

/**
 * Flushes every partition. Never rejects for a database or kv that is away: what could not be done is
 * logged and counted.
 * @param waitMs how long to wait, all in all, for partitions that someone else is flushing; 0: leave them be
 */
export async function flush(context: FlushContext, waitMs = 0): Promise<FlushResult> {
  const { kv } = context
  const waitUntil = performance.now() + waitMs
  const results: FlushResult[] = []
  const records: FlushRecord[] = []
  // First what nobody holds: schedulers that flush at the same time share the partitions.
  for (let partition = 0; partition < kv.partitions; partition++)
    results.push(await flushPartition(context, partition, 0, records))
  if (waitMs > 0)
    for (const [partition, { skipped }] of results.entries())
      if (skipped > 0 && !context.stopping.aborted)
        results[partition] = await flushPartition(context, partition, waitUntil, records)
  const completed = records.length > 0 ? await complete(context, records) : NOTHING
  await tell(context, results)
  return sum([...results, completed])
}

/** Passes on when the flush was, and what the kv's books say after it. */
async function tell({ db, kv, log }: FlushContext, results: readonly FlushResult[]): Promise<void> {
  try {
    const flushedMs = await lastFlushMs(db, kv.partitions)
    if (flushedMs !== null) await kv.cache(LAST_FLUSH_KEY, String(flushedMs), LAST_FLUSH_TTL_MS)
  } catch (error) {
    log.warn('the time of the last flush is not passed on', errorFields(error))
  }
  try {
    const calm = results.flatMap(({ failures, skipped }, p) => (failures + skipped === 0 ? [p] : []))
    await storeCounters(db, kv, new Set(calm))
  } catch (error) {
    log.warn('the books of the buffer are not noted', errorFields(error))
  }
}

/** Brings the map up to what is stored now; only then the partitions are flushed. */
async function complete(
  { db, calendar, log }: FlushContext,
  records: readonly FlushRecord[],
): Promise<FlushResult> {
  try {
    await rollUpCells(db, calendar)
    await db.read(() => db.orm.insert(flushes).values([...records]))
    return NOTHING
  } catch (error) {
    log.error('a flush is stored, but not on the map: the next one brings it there', errorFields(error))
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
    const lock = await takeFlushLock(context, partition, waitUntil)
    if (lock === null) return { ...NOTHING, skipped: 1 }
    try {
      records.push(await flushLocked(context, partition, lock, done))
    } finally {
      await lock.release()
    }
  } catch (error) {
    context.log.error('a partition is not flushed; its points wait for the next flush', {
      partition,
      ...errorFields(error),
    })
    done.push({ failures: 1 })
    await keepPending(context, partition)
  }
  const result = sum(done)
  report(context.metrics, result)
  return result
}

function report(metrics: Metrics, { stored, duplicates, deadLetters, erased, failures }: FlushResult): void {
  const points = { stored, duplicate: duplicates, dead_letter: deadLetters, erased }
  for (const [outcome, count] of Object.entries(points))
    metrics.count('event_flush_points_total', 'Points that left the buffer, by outcome', { outcome }, count)
  metrics.count('event_flush_failures_total', 'Slices and partitions that could not be flushed', {}, failures)
}

/** @param done receives what each slice came to, also when the flush breaks off */
async function flushLocked(
  context: FlushContext,
  partition: number,
  lock: FlushLock,
  done: Partial<FlushResult>[],
): Promise<FlushRecord> {
  const { db, kv, now, log, slicePoints, stopping } = context
  const startedAt = new Date(now())
  await ensureDayPartitions(db, now(), log)
  const pending = slices(kv, partition, slicePoints)
  const worker = async () => {
    // A worker that throws ends the iterator, and so the others, too.
    for await (const slice of pending) {
      // Someone else flushes now; storing on would be safe, but twice the work.
      if (lock.lost()) throw new LoggableError('the flush lock was lost')
      if (stopping.aborted) break
      done.push(await storeAndSettle(context, slice))
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: ABREAST }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  if (stopping.aborted) done.push({ skipped: 1 })
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

/** @throws when the database or the kv is away, so that the other slices need not try */
async function storeAndSettle(
  { db, kv, calendar, now, log, retentionMs }: FlushContext,
  slice: Slice,
): Promise<Partial<FlushResult>> {
  try {
    // Safe to repeat: what is stored by then is told apart.
    const result = await db.read(() => flushSlice(db, calendar, slice, now))
    await kv.settle(slice.partition, slice.pending, slice.epoch)
    return result
  } catch (error) {
    if (isDatabaseUnavailable(error) || isKvUnavailable(error)) throw error
    log.error('a slice is not flushed; its points wait for the next flush', {
      partition: slice.partition,
      ...errorFields(error),
    })
    const userIds = slice.pending.map(({ userId }) => userId)
    await kv.renew(slice.partition, userIds, retentionMs)
    return { failures: 1 }
  }
}

/** Nothing expires while it can not be stored. */
async function keepPending({ kv, retentionMs, log }: FlushContext, partition: number): Promise<void> {
  try {
    await kv.renew(partition, await kv.pendingUsers(partition), retentionMs)
  } catch (error) {
    log.warn('the retention of pending points is not renewed', { partition, ...errorFields(error) })
  }
}

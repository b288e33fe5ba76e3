/** The time of the last successful flush: what changes it, and where it is read. */
import { expect, test } from 'bun:test'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLastFlush, LAST_FLUSH_KEY, lastFlushMs, readLastFlush } from '#shared/points/pending-points.ts'
import { stopwatchBy } from '#tests/helpers/stopwatch.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { deleteExpired } from '#services/scheduler/maintenance.ts'
import { describeFlushHarness, NOON, type FlushHarness } from './flush-harness.ts'
import { walk } from './walks.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The cached time and the stored one, which agree after every flush. */
async function lastFlush({ db, kv }: FlushHarness): Promise<number | null> {
  const truth = await lastFlushMs(db, kv.partitions)
  const marker = await kv.cached(LAST_FLUSH_KEY)
  expect(marker).toBe(truth === null ? null : String(truth))
  return truth
}

/** Enough pilgrims that some are in every partition. */
async function fill(harness: FlushHarness): Promise<void> {
  for (let i = 0; i < 64; i++) await harness.buffer(`pilgrim-${i}`, walk(2))
}

describeFlushHarness('last flush', (harness) => {
  test('there is none before the first flush; an empty flush counts', async () => {
    expect(await lastFlush(harness)).toBeNull()
    expect(await readLastFlush(harness.context())).toBeNull()
    expect(await harness.flush()).toMatchObject({ stored: 0, failures: 0 })
    expect(await lastFlush(harness)).toBe(NOON)
    harness.nowMs += 5 * MINUTE_MS
    await harness.flush()
    expect(await lastFlush(harness)).toBe(NOON + 5 * MINUTE_MS)
  })

  test('is the time at which a flush is complete', async () => {
    await fill(harness)
    const { kv } = harness
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      await kv.acknowledge(...args)
      harness.nowMs = NOON + MINUTE_MS
    }
    await harness.flush({ kv: { ...kv, acknowledge } })
    // With several partitions it is the earliest of their last flushes.
    expect([NOON, NOON + MINUTE_MS]).toContain((await lastFlush(harness))!)
    expect(await harness.db.sql`SELECT FROM flushes WHERE finished_at > started_at`).not.toHaveLength(0)
  })

  test('does not change while another process flushes a partition', async () => {
    await harness.flush()
    const last = harness.kv.partitions - 1
    const token = await harness.kv.lock(`flush:${last}`, 90_000)
    harness.nowMs += 5 * MINUTE_MS
    expect(await harness.flush()).toMatchObject({ skipped: 1, failures: 0 })
    expect(await lastFlush(harness)).toBe(NOON)
    await harness.kv.unlock(`flush:${last}`, token!)
    await harness.flush()
    expect(await lastFlush(harness)).toBe(NOON + 5 * MINUTE_MS)
  })

  test('does not change when a partition fails, and the others are flushed', async () => {
    await harness.flush()
    await fill(harness)
    harness.nowMs += 5 * MINUTE_MS
    const { kv } = harness
    const drain: Kv['drain'] = (partition, users) =>
      partition === 0 ? Promise.reject(new KvUnavailable('gone')) : kv.drain(partition, users)
    const result = await harness.flush({ kv: { ...kv, drain } })
    expect(result).toMatchObject({ failures: 1, skipped: 0 })
    expect(result.stored).toBe(128 - (await harness.pending()).length)
    expect(result.stored > 0).toBe(kv.partitions > 1)
    expect(await lastFlush(harness)).toBe(NOON)
    expect(await harness.flush()).toMatchObject({ stored: 128 - result.stored, failures: 0 })
    expect(await lastFlush(harness)).toBe(NOON + 5 * MINUTE_MS)
  })

  test('does not change when a slice fails, even if a later flush finds nothing else to do', async () => {
    await harness.flush()
    await harness.buffer('anna', walk(2))
    harness.nowMs += 5 * MINUTE_MS
    const { kv } = harness
    const acknowledge: Kv['acknowledge'] = () => Promise.reject(new TypeError('a fault of ours'))
    for (let i = 0; i < 2; i++) {
      expect(await harness.flush({ kv: { ...kv, acknowledge } })).toMatchObject({ failures: 1 })
      expect(await lastFlush(harness)).toBe(NOON)
    }
    expect(await harness.flush()).toMatchObject({ duplicates: 2, failures: 0 })
    expect(await lastFlush(harness)).toBe(NOON + 5 * MINUTE_MS)
  })

  test('there is none while some partitions have never been flushed', async () => {
    await harness.flush()
    expect(await lastFlushMs(harness.db, harness.kv.partitions + 1)).toBeNull()
  })

  test('of a clock that was ahead is corrected by the next flush, and ages from when it is first read', async () => {
    const { nowMs } = harness
    await harness.flush({ now: () => nowMs + 6 * HOUR_MS })
    const age = createLastFlush({ ...harness.context(), stopwatch: stopwatchBy(() => harness.nowMs) })
    expect(await age()).toBe(nowMs)
    expect(await readLastFlush(harness.context())).toBe(nowMs)
    harness.nowMs += HOUR_MS
    expect(await age()).toBe(nowMs)
    // One partition is excluded: the time of its last flush was still in the future.
    const last = harness.kv.partitions - 1
    const token = await harness.kv.lock(`flush:${last}`, 90_000)
    await harness.flush()
    await harness.kv.unlock(`flush:${last}`, token!)
    if (harness.kv.partitions > 1) expect(await age()).toBe(nowMs + HOUR_MS)
    harness.nowMs += HOUR_MS
    await harness.flush()
    expect(await age()).toBe(nowMs + 2 * HOUR_MS)
    expect(await lastFlush(harness)).toBe(nowMs + 2 * HOUR_MS)
  })

  test('ages although the clock of the reader is set back', async () => {
    await harness.flush()
    let aheadMs = 0
    const now = () => harness.nowMs + aheadMs
    const read = createLastFlush({ ...harness.context({ now }), stopwatch: stopwatchBy(() => harness.nowMs) })
    expect(await read()).toBe(NOON)
    aheadMs = -HOUR_MS
    harness.nowMs += MINUTE_MS
    expect(now() - (await read())!).toBe(MINUTE_MS)
  })

  test('is cached for a day, and read from the database after that', async () => {
    const lives: number[] = []
    const { kv } = harness
    const cache: Kv['cache'] = (key, value, ttlMs) => {
      lives.push(ttlMs)
      return kv.cache(key, value, ttlMs)
    }
    await harness.flush({ kv: { ...kv, cache } })
    expect(lives).toEqual([86_400_000])
    await kv.forget(LAST_FLUSH_KEY)
    expect(await readLastFlush({ ...harness.context(), kv })).toBe(NOON)
  })

  test('old records are deleted, and the time of the last success stays', async () => {
    const MONTH_MS = 30 * 86_400_000
    const last = harness.kv.partitions - 1
    await harness.flush()
    harness.nowMs += MINUTE_MS
    await harness.flush()
    const before = await lastFlush(harness)
    harness.nowMs += MONTH_MS
    const token = await harness.kv.lock(`flush:${last}`, 90_000)
    await harness.flush()
    await harness.kv.unlock(`flush:${last}`, token!)
    const at = (ms: number) => new Date(harness.nowMs - ms).toISOString()
    await harness.db.sql`
      INSERT INTO line_events (webhook_event_id, received_at)
      VALUES ('old', ${at(MONTH_MS + 1)}::timestamptz), ('young', ${at(MONTH_MS - 1)}::timestamptz)`
    await harness.db.sql`
      INSERT INTO outbox (id, subject, payload, created_at) VALUES
        (1001, 'x', '{"text": "never handled"}', ${at(MONTH_MS + 1)}::timestamptz),
        (1002, 'x', '{}', ${at(MONTH_MS + 1)}::timestamptz), (1003, 'x', '{}', ${at(MONTH_MS - 1)}::timestamptz)`
    await harness.db.sql`
      INSERT INTO handled (event_id, subscriber, handled_at)
      SELECT id, 's', ${at(MONTH_MS + 1)}::timestamptz FROM outbox WHERE id IN (1002, 1003)`
    // Records that cannot be deleted do not block others.
    const context = harness.context()
    await harness.db.sql`ALTER TABLE shares RENAME TO elsewhere`
    try {
      await deleteExpired(harness.db, harness.nowMs + 1, context)
    } finally {
      await harness.db.sql`ALTER TABLE elsewhere RENAME TO shares`
    }
    expect(await context.metrics.page()).toMatch(/queue="expired records".*\} 2/)
    expect(await lastFlushMs(harness.db, harness.kv.partitions)).toBe(before)
    // The locked partition still has its last success; the others have only today's.
    expect(await harness.db.sql`SELECT FROM flushes`).toHaveLength(harness.kv.partitions)
    const ids = await harness.db.sql<{ id: string }[]>`SELECT webhook_event_id AS id FROM line_events`
    expect(ids.map(({ id }) => id)).toEqual(['young'])
    const events = await harness.db.sql<{ id: number }[]>`SELECT id FROM outbox`
    expect(events.map(({ id }) => id)).toEqual([1003])
    // While an event exists, its record of being handled stays.
    const marks = await harness.db.sql<{ id: number }[]>`SELECT event_id AS id FROM handled`
    expect(marks.map(({ id }) => id)).toEqual([1003])
    await harness.db.sql`TRUNCATE line_events, outbox, handled`
  })

  test('can be read without the database, and without the kv', async () => {
    await harness.flush()
    const nowhere = freePort()
    const db = await openDatabase({ url: `postgres://127.0.0.1:${nowhere}/none`, dir: '' })
    const kv = await openKv({
      url: `redis://127.0.0.1:${nowhere}`,
      partitions: 1,
      path: '',
      onError: () => undefined,
    })
    try {
      expect(await readLastFlush({ ...harness.context(), db })).toBe(NOON)
      expect(
        await readLastFlush({ ...harness.context(), kv: { ...kv, partitions: harness.kv.partitions } }),
      ).toBe(NOON)
    } finally {
      await Promise.all([db.close(), kv.close()])
    }
  })
})

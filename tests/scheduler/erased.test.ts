/** A flush that runs during an erasure does not store the pilgrim again. */
import { expect, test } from 'bun:test'
import { noteCleared } from '#services/admin/event/set-event.ts'
import { readClearedMs } from '#shared/pilgrims/event-settings.ts'
import { beginAnew } from '#shared/pilgrims/person-lock.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { flushSlice } from '#services/scheduler/flush/flush-slice.ts'
import { type Pending, userHash } from '#shared/stores/kv/kv.ts'
import { expectProjections } from './projections.ts'
import { describeFlushHarness, type FlushHarness } from './flush-harness.ts'
import { walk } from './walks.ts'

/** Points of some pilgrims that a flush has read and not yet stored. */
const drained = async (harness: FlushHarness): Promise<Pending[]> => {
  const slices = Array.from({ length: harness.kv.partitions }, async (_, partition) =>
    harness.kv.drain(partition, await harness.kv.pendingUsers(partition)),
  )
  return (await Promise.all(slices)).flat()
}

const record = (harness: FlushHarness, userId: string, generation: number, stands: boolean) =>
  harness.db.sql`
    INSERT INTO erasures (user_hash, generation, erased_at, stands)
    VALUES (${userHash(userId)}, ${generation}, to_timestamp(${harness.nowMs}::float8 / 1000), ${stands})`

const erase = async (
  harness: FlushHarness,
  userId: string,
  generation: number,
  stands: boolean,
): Promise<void> => {
  await record(harness, userId, generation, stands)
  await harness.kv.erase(userId, { generation, erasedMs: harness.nowMs, stands })
}

const pilgrims = async (harness: FlushHarness): Promise<string[]> =>
  (
    await harness.db.sql<{ user_id: string }[]>`
    SELECT user_id FROM pilgrims UNION SELECT user_id FROM pilgrim_totals ORDER BY 1`
  ).map((row) => row.user_id)

describeFlushHarness('erased pilgrims', (harness) => {
  test('points that were read before are dropped and counted, and create no pilgrim', async () => {
    await harness.db.sql`TRUNCATE erasures`
    await harness.buffer('gone', walk(10))
    await harness.buffer('stays', walk(10))
    const slice = { epoch: 'one', partition: 0, pending: await drained(harness) }
    await erase(harness, 'gone', 1, true)
    expect(await flushSlice(harness.db, harness.calendar, slice, () => harness.nowMs)).toMatchObject({
      stored: 10,
      duplicates: 0,
      deadLetters: 0,
      erased: 10,
      left: [],
    })
    // Only the slice: a whole flush updates the map.
    await harness.flush()
    expect(await pilgrims(harness)).toEqual(['stays'])
    await expectProjections(harness.db, harness.calendar)
  })

  test('points that a kv without the erasure admitted are stored if they came after it, and it does not stand', async () => {
    await harness.db.sql`TRUNCATE erasures`
    const received = (atMs: number) =>
      walk(3, harness.nowMs).map((point, i) => ({ ...point, receivedMs: atMs + i }))
    await harness.buffer('again', [
      ...received(harness.nowMs - 10),
      ...received(harness.nowMs + 1).map((point) => ({ ...point, sentMs: point.sentMs + 1 })),
    ])
    await harness.buffer('gone', received(harness.nowMs + 1))
    await record(harness, 'again', 1, false)
    await record(harness, 'gone', 1, true)
    expect(await harness.flush()).toMatchObject({ stored: 3, erased: 6 })
    expect(await pilgrims(harness)).toEqual(['again'])
  })

  test('the clocks of replicas may differ by half the time until the new consent', async () => {
    await harness.db.sql`TRUNCATE erasures`
    await record(harness, 'again', 1, true)
    await harness.db.transaction((tx) => beginAnew(tx, 'again', harness.nowMs + 60_000))
    const received = (count: number, atMs: number) => walk(count, atMs, { receivedMs: atMs })
    // Before the erasure, by a clock that is fast; and after the consent, by a slow one.
    await harness.buffer('again', [
      ...received(3, harness.nowMs + 25_000),
      ...received(5, harness.nowMs + 35_000),
    ])
    expect(await harness.flush()).toMatchObject({ stored: 5, erased: 3 })
  })

  test('later points are stored and belong to a new person', async () => {
    await harness.db.sql`TRUNCATE erasures`
    await erase(harness, 'again', 2, false)
    await harness.buffer(
      'again',
      walk(5, harness.nowMs + 3_600_000).map((point) => ({
        ...point,
        receivedMs: harness.nowMs + 3_600_001,
      })),
    )
    expect(await harness.flush()).toMatchObject({ stored: 5, erased: 0 })
    expect(await pilgrims(harness)).toEqual(['again'])
    await expectProjections(harness.db, harness.calendar)
  })

  test('points of a cleared rehearsal, which were accepted while the database did not answer, are dropped and counted', async () => {
    await harness.db.sql`TRUNCATE erasures`
    const clearedMs = harness.nowMs - 3_600_000
    const set = (version: number, clearedAt: number | null) => harness.db.sql`
      INSERT INTO event_settings (version, part, value, changed_at)
      VALUES (${version}, 'rehearsal', jsonb_build_object('on', false, 'cleared_at', ${clearedAt === null ? null : new Date(clearedAt).toISOString()}::text), now())`
    await set(1, null)
    await set(2, clearedMs)
    await harness.buffer('rehearsed', walk(10, clearedMs - 300_000))
    // The clock of this machine is behind.
    harness.nowMs = clearedMs - 60_000
    expect(await harness.flush()).toMatchObject({ stored: 5, erased: 5 })
    // A clearing in the future was set by a wrong clock.
    await set(3, Date.now() + 86_400_000)
    await harness.buffer('walks', walk(10, clearedMs - 300_000))
    expect(await harness.flush()).toMatchObject({ stored: 10, erased: 0 })
    const ahead = Date.now() + 86_400_000
    await harness.db.transaction((tx) => noteCleared(tx, { config: readConfig({}) }, ahead))
    expect(await harness.db.transaction(readClearedMs)).toBeLessThan(ahead - 80_000_000)
    await harness.db.sql`TRUNCATE event_settings`
    await expectProjections(harness.db, harness.calendar)
  })
})

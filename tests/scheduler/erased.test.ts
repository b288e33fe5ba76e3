/** A flush that runs during an erasure does not store the pilgrim again. */
import { expect, test } from 'bun:test'
import { flushSlice } from '#services/scheduler/flush/flush-slice.ts'
import { type Pending, userHash } from '#shared/kv/kv.ts'
import { expectProjections } from './projections.ts'
import { describeRigs, type Rig } from './flush-harness.ts'
import { walk } from './walks.ts'

/** Points of some pilgrims that a flush has read and not yet stored. */
const drained = async (rig: Rig): Promise<Pending[]> => {
  const slices = Array.from({ length: rig.kv.partitions }, async (_, partition) =>
    rig.kv.drain(partition, await rig.kv.pendingUsers(partition)),
  )
  return (await Promise.all(slices)).flat()
}

const erase = async (rig: Rig, userId: string, generation: number): Promise<void> => {
  await rig.db.sql`
    INSERT INTO erasures (user_hash, generation, erased_at)
    VALUES (${userHash(userId)}, ${generation}, to_timestamp(${rig.nowMs}::float8 / 1000))
    ON CONFLICT (user_hash) DO UPDATE SET generation = excluded.generation`
  await rig.kv.erase(userId, { generation, erasedMs: rig.nowMs })
}

const pilgrims = async (rig: Rig): Promise<string[]> =>
  (
    await rig.db.sql<{ user_id: string }[]>`
    SELECT user_id FROM pilgrims UNION SELECT user_id FROM pilgrim_totals ORDER BY 1`
  ).map((row) => row.user_id)

describeRigs('erased pilgrims', (rig) => {
  test('points that were read before are dropped and counted, and create no pilgrim', async () => {
    await rig.db.sql`TRUNCATE erasures`
    await rig.buffer('gone', walk(10))
    await rig.buffer('stays', walk(10))
    const slice = { epoch: 'one', partition: 0, pending: await drained(rig) }
    await erase(rig, 'gone', 1)
    expect(await flushSlice(rig.db, rig.calendar, slice, () => rig.nowMs)).toEqual({
      stored: 10,
      duplicates: 0,
      deadLetters: 0,
      erased: 10,
    })
    // Only the slice: the map is updated by a whole flush.
    await rig.flush()
    expect(await pilgrims(rig)).toEqual(['stays'])
    await expectProjections(rig.db, rig.calendar)
  })

  test('later points are stored and belong to a new person', async () => {
    await rig.db.sql`TRUNCATE erasures`
    await erase(rig, 'again', 2)
    await rig.buffer(
      'again',
      walk(5, rig.nowMs + 3_600_000).map((point) => ({ ...point, receivedMs: rig.nowMs + 3_600_001 })),
    )
    expect(await rig.flush()).toMatchObject({ stored: 5, erased: 0 })
    expect(await pilgrims(rig)).toEqual(['again'])
    await expectProjections(rig.db, rig.calendar)
  })
})

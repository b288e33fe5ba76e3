/** Operators list, requeue and drop dead letters. */
import { expect, test } from 'bun:test'
import {
  listDeadLetters,
  readDeadLetter,
  dropDeadLetter,
  requeueDeadLetter,
} from '#services/admin/ledger/manage-dead-letters.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { type Kv, KvUnavailable, userHash } from '#shared/stores/kv/kv.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeFlushHarness, NOON, type FlushHarness } from '#tests/scheduler/flush-harness.ts'

const OPERATOR: Acting = { role: 'owner', level: 3, name: 'test', fingerprint: 'test', requestId: 'r' }
const contextOf = (harness: FlushHarness, kv: Kv = harness.kv) =>
  ({ ...harness.context({ kv }), config: readConfig({}) }) as unknown as ServiceContext
const replay = (harness: FlushHarness, id: number, kv?: Kv) =>
  requeueDeadLetter(contextOf(harness, kv), OPERATOR, id)

/** Points that a table rejects because of a constraint to the northern hemisphere. */
async function refuse(harness: FlushHarness, userId: string, count: number): Promise<number[]> {
  await harness.db.sql`TRUNCATE erasures, audit_log`
  await harness.db.sql`ALTER TABLE gps_points ADD CONSTRAINT north CHECK (lat > 0)`
  await harness.bufferEntries(
    userId,
    Array.from({ length: count }, (_, i) => ({
      field: `t${NOON + i * 60_000}`,
      value: `[0,${NOON},-1,120,1]`,
    })),
  )
  await harness.flush()
  const rows = await harness.db.sql<{ id: number }[]>`SELECT id FROM dead_letters ORDER BY id`
  return rows.map(({ id }) => id)
}
const accept = (harness: FlushHarness) =>
  harness.db.sql`ALTER TABLE gps_points DROP CONSTRAINT IF EXISTS north`
const points = async (harness: FlushHarness) => {
  const { received, stored, deadLetter, erased, duplicate, rejected, lost, inFlight } = await readLedger(
    harness.db,
    harness.kv,
  )
  return { received, stored, deadLetter, erased, duplicate, rejected, lost, inFlight }
}
const NONE = { stored: 0, deadLetter: 0, erased: 0, duplicate: 0, rejected: {}, lost: 0, inFlight: 0 }
const audited = async (harness: FlushHarness) =>
  (await harness.db.sql<{ action: string }[]>`SELECT action FROM audit_log ORDER BY id`).map(
    ({ action }) => action,
  )

describeFlushHarness('dead letters', (harness) => {
  test('are listed in pages, and shown one by one', async () => {
    const ids = await refuse(harness, 'anna', 3)
    await accept(harness)
    const context = contextOf(harness)
    const first = await listDeadLetters(context, { limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual([ids[2]!, ids[1]!])
    const rest = await listDeadLetters(context, { limit: 2, cursor: first.next_cursor! })
    expect(rest).toMatchObject({ items: [{ id: ids[0] }], next_cursor: null })
    expect(await readDeadLetter(context, ids[0]!)).toEqual({
      id: ids[0]!,
      userId: 'anna',
      field: `t${NOON}`,
      value: `[0,${NOON},-1,120,1]`,
      reason: expect.stringContaining('north') as string,
      refusals: 1,
      refused_at: new Date(NOON).toISOString(),
    })
    expect((await rejection(readDeadLetter(context, 0))) as Refusal).toMatchObject({ httpStatus: 404 })
  })

  test('are requeued and stored; refused again, they are dead letters again', async () => {
    const [one, two] = await refuse(harness, 'anna', 2)
    expect(await replay(harness, one!)).toEqual({ id: one!, outcome: 'replayed' })
    expect(await harness.pending()).toHaveLength(1)
    await harness.flush()
    expect(await points(harness)).toEqual({ ...NONE, received: 2, deadLetter: 2 })
    await accept(harness)
    const [, again] = (await listDeadLetters(contextOf(harness), { limit: 5 })).items
    expect(again!.id).toBe(two!)
    for (const { id } of (await listDeadLetters(contextOf(harness), { limit: 5 })).items)
      await replay(harness, id)
    await harness.flush()
    expect(await points(harness)).toEqual({ ...NONE, received: 2, stored: 2 })
    expect(await audited(harness)).toEqual(Array<string>(3).fill('replay-dead-letter'))
  })

  test('stay when the flush refuses them while they are requeued, or when the buffer cannot store them', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    const away: Kv = { ...harness.kv, restore: () => Promise.reject(new KvUnavailable('away')) }
    expect(await rejection(replay(harness, id!, away))).toBeInstanceOf(KvUnavailable)
    const flushedAtOnce: Kv = {
      ...harness.kv,
      async restore(...args) {
        const restored = await harness.kv.restore(...args)
        await harness.flush()
        return restored
      },
    }
    expect(await replay(harness, id!, flushedAtOnce)).toEqual({ id: id!, outcome: 'refused' })
    await accept(harness)
    expect(await readDeadLetter(contextOf(harness), id!)).toMatchObject({ refusals: 2 })
    expect(await points(harness)).toEqual({ ...NONE, received: 2, deadLetter: 1, duplicate: 1 })
  })

  test('of a pilgrim erased since are dropped as erased', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    const at = new Date(NOON).toISOString()
    await harness.db.sql`
      INSERT INTO erasures (user_hash, generation, erased_at) VALUES (${userHash('anna')}, 1, ${at}::timestamptz)`
    expect(await replay(harness, id!)).toEqual({ id: id!, outcome: 'erased' })
    expect(await harness.pending()).toEqual([])
    expect(await points(harness)).toEqual({ ...NONE, received: 1, erased: 1 })
    await harness.db.sql`TRUNCATE erasures`
  })

  test('are dropped permanently, and counted', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    const drop = () => dropDeadLetter(contextOf(harness), OPERATOR, id!)
    expect(await drop()).toEqual({ id: id! })
    expect((await rejection(drop())) as Refusal).toMatchObject({ httpStatus: 404 })
    expect(await points(harness)).toEqual({ ...NONE, received: 1, rejected: { 'dropped-letter': 1 } })
    expect(await audited(harness)).toEqual(['drop-dead-letter'])
  })
})

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
import { KvUnavailable, userHash } from '#shared/stores/kv/kv.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeFlushHarness, NOON, type FlushHarness } from '#tests/scheduler/flush-harness.ts'
import { expectProjections } from '#tests/scheduler/projections.ts'
import { point } from '#tests/scheduler/walks.ts'

const OPERATOR: Acting = { role: 'owner', level: 3, name: 'test', fingerprint: 'test', requestId: 'r' }
const contextOf = (harness: FlushHarness) =>
  ({ ...harness.context(), config: readConfig({}) }) as unknown as ServiceContext
const replay = (harness: FlushHarness, id: number) => requeueDeadLetter(contextOf(harness), OPERATOR, id)

/** Points that a table rejects because of a constraint to the northern hemisphere. */
async function refuse(
  harness: FlushHarness,
  userId: string,
  count: number,
  options?: Parameters<FlushHarness['flush']>[0],
): Promise<number[]> {
  await harness.db.sql`TRUNCATE erasures, audit_log`
  await harness.db.sql`ALTER TABLE gps_points ADD CONSTRAINT north CHECK (lat > 0)`
  await harness.bufferEntries(
    userId,
    Array.from({ length: count }, (_, i) => ({
      field: `t${NOON + i * 60_000}`,
      value: `[0,${NOON},-1,120,1]`,
    })),
  )
  await harness.flush(options)
  const rows = await harness.db.sql<{ id: number }[]>`SELECT id FROM dead_letters ORDER BY id`
  return rows.map(({ id }) => id)
}
const accept = (harness: FlushHarness) =>
  harness.db.sql`ALTER TABLE gps_points DROP CONSTRAINT IF EXISTS north`
const points = async (harness: FlushHarness) => {
  const { losses: _losses, journaled: _journaled, ...ledger } = await readLedger(harness.db, harness.kv)
  return ledger
}
const NONE = {
  stored: 0,
  pending: 0,
  deadLetter: 0,
  erased: 0,
  duplicate: 0,
  rejected: {},
  lost: 0,
  inFlight: 0,
}
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
      requeued: false,
    })
    expect((await rejection(readDeadLetter(context, 0))) as Refusal).toMatchObject({ httpStatus: 404 })
  })

  test('stay in the list while requeued; the flush stores them, or refuses them again', async () => {
    const [one, two] = await refuse(harness, 'anna', 2)
    expect(await replay(harness, one!)).toEqual({ id: one!, outcome: 'replayed' })
    expect(await points(harness)).toEqual({ ...NONE, received: 2, deadLetter: 2 })
    const { items } = await listDeadLetters(contextOf(harness), { limit: 5 })
    expect(items.map(({ id, requeued }) => [id, requeued])).toEqual([
      [two!, false],
      [one!, true],
    ])
    expect(await harness.flush()).toMatchObject({ deadLetters: 1, failures: 0 })
    expect(await points(harness)).toEqual({ ...NONE, received: 2, deadLetter: 2 })
    expect(await readDeadLetter(contextOf(harness), one!)).toMatchObject({ refusals: 2, requeued: false })
    await accept(harness)
    for (const id of [one!, two!]) await replay(harness, id)
    expect(await harness.flush()).toMatchObject({ stored: 2, failures: 0 })
    expect(await points(harness)).toEqual({ ...NONE, received: 2, stored: 2 })
    expect(await audited(harness)).toEqual(Array<string>(3).fill('replay-dead-letter'))
    await expectProjections(harness.db, harness.calendar)
  })

  test('that can be neither stored nor refused follow all other points, and are tried once', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    await replay(harness, id!)
    await harness.buffer('ben', [point({ lat: 24 })])
    // What a statement that takes too long reports, for anna alone.
    await harness.db.sql.unsafe(`
      CREATE FUNCTION too_long() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'too long' USING ERRCODE = 'query_canceled'; END $$;
      CREATE TRIGGER too_long BEFORE INSERT ON gps_points FOR EACH ROW WHEN (NEW.user_id = 'anna')
        EXECUTE FUNCTION too_long()`)
    try {
      expect(await harness.flush()).toMatchObject({ stored: 1, deadLetters: 1, failures: 0 })
      expect(await readDeadLetter(contextOf(harness), id!)).toMatchObject({
        reason: expect.stringContaining('too long') as string,
        refusals: 2,
        requeued: false,
      })
      expect(await harness.flush()).toMatchObject({ stored: 0, deadLetters: 0, failures: 0 })
    } finally {
      await harness.db.sql.unsafe('DROP FUNCTION too_long CASCADE')
    }
  })

  test('can be dropped while they are requeued', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    await replay(harness, id!)
    await dropDeadLetter(contextOf(harness), OPERATOR, id!)
    expect(await harness.flush()).toMatchObject({ stored: 0, failures: 0 })
    expect(await points(harness)).toEqual({ ...NONE, received: 1, rejected: { 'dropped-letter': 1 } })
  })

  test('that a killed flush left in the buffer, too, are stored and counted once', async () => {
    const acknowledge = () => Promise.reject(new KvUnavailable('away'))
    const [id] = await refuse(harness, 'anna', 1, { kv: { ...harness.kv, acknowledge } })
    await accept(harness)
    await replay(harness, id!)
    expect(await harness.flush()).toMatchObject({ stored: 1, duplicates: 0, failures: 0 })
    expect(await points(harness)).toEqual({ ...NONE, received: 1, stored: 1 })
  })

  test.each(['requeued', 'dropped'])(
    'that arrived again and are then %s show no lost point',
    async (action) => {
      const [id] = await refuse(harness, 'anna', 1)
      await accept(harness)
      await harness.bufferEntries('anna', [{ field: `t${NOON}`, value: `[0,${NOON},-1,120,1]` }])
      if (action === 'requeued') await replay(harness, id!)
      else await dropDeadLetter(contextOf(harness), OPERATOR, id!)
      await harness.flush()
      expect(await points(harness)).toMatchObject({
        received: 2,
        duplicate: 1,
        pending: 0,
        lost: 0,
        inFlight: 0,
      })
    },
  )

  test('that arrive again while they are requeued show no lost point', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    await replay(harness, id!)
    await harness.bufferEntries('anna', [{ field: `t${NOON}`, value: `[0,${NOON},-1,120,1]` }])
    expect(await harness.flush()).toMatchObject({ stored: 1, duplicates: 1, failures: 0 })
    expect(await points(harness)).toEqual({ ...NONE, received: 2, stored: 1, duplicate: 1 })
  })

  test('whose point is stored already are duplicates', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    await harness.bufferEntries('anna', [{ field: `t${NOON}`, value: `[0,${NOON},-2,120,1]` }])
    await harness.flush()
    await replay(harness, id!)
    expect(await harness.flush()).toMatchObject({ stored: 0, duplicates: 1 })
    expect(await points(harness)).toEqual({ ...NONE, received: 2, stored: 1, duplicate: 1 })
  })

  test('that are no points stay', async () => {
    const { db } = harness
    const [letter] = await db.sql<{ id: number }[]>`
      INSERT INTO dead_letters (user_id, field, value, reason, created_at)
      VALUES ('an na', 't1', 'x', 'r', now()) RETURNING id`
    expect((await rejection(replay(harness, letter!.id))) as Refusal).toMatchObject({ httpStatus: 409 })
  })

  test('of a pilgrim erased since are dropped as erased', async () => {
    const [id] = await refuse(harness, 'anna', 1)
    await accept(harness)
    const at = new Date(NOON).toISOString()
    await harness.db.sql`
      INSERT INTO erasures (user_hash, generation, erased_at) VALUES (${userHash('anna')}, 1, ${at}::timestamptz)`
    expect(await replay(harness, id!)).toEqual({ id: id!, outcome: 'erased' })
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

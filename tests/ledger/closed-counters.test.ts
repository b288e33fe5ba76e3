/** The ledger of an ended epoch, of a slice that is stored while it is read, and of a store without any point. */
import { expect, test } from 'bun:test'
import { openDatabase } from '#shared/db/open-database.ts'
import { openKv } from '#shared/kv/open-kv.ts'
import { balance } from '#shared/ledger/ledger.ts'
import { storeCounters } from '#shared/ledger/stored-counters.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'

const STORED = {
  epoch: 'gone',
  partition: 0,
  stored: 5,
  dead_letters: 0,
  repeated: 0,
  erased: 2,
  excess: 0,
  duplicate: 4,
  dropped: 3,
  erased_pending: 0,
}
const ledgerOf = (acknowledged: number) =>
  balance(
    [],
    {
      stored: [STORED],
      callers: [{ epoch: 'gone', partition: 0, caller: 'a', acknowledged, lost: 0 }],
      counts: { 'rejected:too-old': 6, duplicate: 1, journaled: 2 },
      letters: 0,
    },
    [],
  )

test('every received point is in one figure, also dropped points of erased pilgrims', () => {
  expect(ledgerOf(7)).toEqual({
    received: 23,
    stored: 5,
    duplicate: 5,
    rejected: { 'too-old': 6 },
    pending: 0,
    journaled: 2,
    deadLetter: 0,
    erased: 5,
    lost: 0,
    inFlight: 0,
    losses: [],
  })
})

test('points that an ended epoch confirmed and that were not stored are lost', () => {
  const { received, lost, inFlight, losses } = ledgerOf(9)
  expect({ received, lost, inFlight }).toEqual({ received: 25, lost: 2, inFlight: 0 })
  expect(losses).toEqual([{ epoch: 'gone', partition: 0, points: 2 }])
})

test('a slice that is stored and acknowledged while the ledger is read is not lost', () => {
  const counters = (settled: number) => ({
    ...{ epoch: 'now', admitted: 6, checkins: 0, settled, duplicate: 0, dropped: 0, erased: 0, expired: 0 },
    callers: {},
  })
  const stored = { ...STORED, epoch: 'now', stored: 4, erased: 0, duplicate: 0, dropped: 0 }
  // Postgres was read before the slice's commit, the kv for the second time after its acknowledgement.
  const rows = { stored: [stored], callers: [], counts: null, letters: 0 }
  const { received, pending, lost, inFlight } = balance([counters(4)], rows, [counters(6)])
  expect({ received, pending, lost, inFlight }).toEqual({ received: 6, pending: 0, lost: 0, inFlight: 2 })
})

describeOnServers('a store that nothing has reached yet', () => {
  test('adds no row of counters', async () => {
    const database = await openTestDatabase()
    const db = await openDatabase({ url: database.url, dir: '' })
    const url = await testRedisUrl()
    const kv = await openKv({ url, partitions: 2, path: '', onError: () => undefined })
    await storeCounters(db, kv)
    expect(await db.sql`SELECT FROM ledger_counters`).toHaveLength(0)
    await Promise.all([kv.close(), db.close()])
    await database.drop()
  })
})

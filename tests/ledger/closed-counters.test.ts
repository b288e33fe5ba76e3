/** The ledger of an ended epoch, of a slice stored during the read, and of a store without points. */
import { expect, test } from 'bun:test'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { balance, statesOf } from '#shared/points/ledger/ledger.ts'
import { storeCounters } from '#shared/points/ledger/counters.ts'
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
const ledgerOf = (acknowledged: number, counts: Readonly<Record<string, number>> = {}) =>
  balance(
    [],
    {
      stored: [STORED],
      callers: [{ epoch: 'gone', partition: 0, caller: 'a', acknowledged, lost: 0 }],
      counts: { 'rejected:too-old': 6, duplicate: 1, journaled: 2, ...counts },
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

test('a loss is not hidden by more points that were restored to another epoch or partition', () => {
  const { lost, losses, received, inFlight } = ledgerOf(9, { 'redone:0:other': 5, 'redone:1:gone': 5 })
  expect({ lost, received, inFlight }).toEqual({ lost: 2, received: 25, inFlight: 0 })
  expect(losses).toEqual([{ epoch: 'gone', partition: 0, points: 2 }])
  const restored = ledgerOf(9, { 'redone:0:gone': 1 })
  expect(restored).toMatchObject({ lost: 1, received: 24, inFlight: 0 })
})

test('a slice that is stored and acknowledged while the ledger is read is not lost', () => {
  const counters = (settled: number) => ({
    epoch: 'now',
    admitted: 6,
    checkins: 0,
    settled,
    duplicate: 0,
    dropped: 0,
    erased: 0,
    expired: 0,
    callers: {},
  })
  const stored = { ...STORED, epoch: 'now', stored: 4, erased: 0, duplicate: 0, dropped: 0 }
  // Postgres was read before the slice's commit, the kv again after its acknowledgement.
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

/** Every counter has a distinct value, so that each sign in the arithmetic shows. */
test.each([
  // [excess, duplicate, dead letters, erased, lost]
  [3, 26, 7, 55, 44],
  [30, 18, 7, 36, 71],
  [50, 15, 7, 19, 91],
])(
  'an excess of %d points in an ended epoch is taken from repeated, erased and requeued ones, in this order',
  (excess, duplicate, deadLetter, erased, lost) => {
    const row = { ...STORED, dead_letters: 7, repeated: 11, erased: 13, excess, duplicate: 17 }
    const ledger = balance(
      [],
      {
        stored: [{ ...row, dropped: 19, erased_pending: 23 }],
        callers: [{ epoch: 'gone', partition: 0, caller: 'a', acknowledged: 100, lost: 0 }],
        counts: { 'rejected:too-old': 6, duplicate: 1, journaled: 2 },
        letters: 7,
      },
      [],
    )
    expect(ledger).toMatchObject({ received: 145, stored: 5, duplicate, deadLetter, erased, lost })
    expect(ledger).toMatchObject({ pending: 0, journaled: 2, inFlight: 0 })
  },
)

test('the figures of the epoch that the store is in', () => {
  const counters = (settled: number) => ({
    epoch: 'now',
    admitted: 200,
    checkins: 0,
    settled,
    duplicate: 9,
    dropped: 8,
    erased: 6,
    expired: 4,
    callers: {
      a: 50,
      b: 20,
    },
  })
  const row = { ...STORED, epoch: 'now', stored: 60, dead_letters: 10, repeated: 12, erased: 14, excess: 6 }
  const caller = { epoch: 'now', partition: 0 }
  const rows = {
    stored: [row],
    // The store has 50 of the 55 points that it confirmed to a; c has detected 3 of its own as missing.
    callers: [
      { ...caller, caller: 'a', acknowledged: 55, lost: 2 },
      { ...caller, caller: 'c', acknowledged: 0, lost: 3 },
    ],
    counts: {
      'letters-dropped': 1,
      'letters-replayed': 2,
      'letters-stored': 21,
      'letters-duplicate': 22,
      'points-erased': 5,
      'letters-erased': 3,
    },
    letters: 7,
  }
  const ledger = balance([counters(90)], rows, [counters(100)])
  expect(ledger).toEqual({
    received: 223,
    stored: 76,
    duplicate: 37,
    rejected: { 'dropped-letter': 1 },
    pending: 90,
    journaled: 0,
    deadLetter: 7,
    erased: 36,
    lost: 12,
    inFlight: -36,
    losses: [{ epoch: 'now', partition: 0, points: 12 }],
  })
  // Points that left the store during the read are not counted twice.
  const fresh = balance([counters(90)], { ...rows, stored: [{ ...row, excess: 0 }] }, [counters(100)])
  expect(fresh).toMatchObject({ duplicate: 43, inFlight: -42, lost: 12 })
})

test('flat figures name each reason of a rejection, and only counts', () => {
  expect(statesOf(ledgerOf(9))).toEqual({
    received: 25,
    stored: 5,
    duplicate: 5,
    pending: 0,
    journaled: 2,
    deadLetter: 0,
    erased: 5,
    lost: 2,
    inFlight: 0,
    'rejected_too-old': 6,
  })
})

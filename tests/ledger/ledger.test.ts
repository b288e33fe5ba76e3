/** The ledger at rest: each point is in exactly one figure. */
import { expect, test } from 'bun:test'
import { openProcessCounters, type ProcessCounters } from '#shared/points/ledger/counters.ts'
import { type Ledger, readLedger } from '#shared/points/ledger/ledger.ts'
import { createLog } from '#shared/runtime/log.ts'
import { describeFlushHarness, NOON, type FlushHarness } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'

const countersOf = (harness: FlushHarness): ProcessCounters =>
  openProcessCounters({
    kv: harness.kv,
    db: harness.db,
    log: createLog({}, () => undefined),
    journalPath: null,
    journaled: () => 0,
  })

/** The figures that are not 0. */
async function columns(harness: FlushHarness): Promise<Partial<Ledger>> {
  const { losses: _, ...ledger } = await readLedger(harness.db, harness.kv)
  return Object.fromEntries(
    Object.entries(ledger).filter(([name, points]) =>
      name === 'rejected' ? Object.keys(points as object).length > 0 : points !== 0,
    ),
  )
}

describeFlushHarness('the ledger', (harness) => {
  test('it is empty before the first point', async () => {
    expect(await columns(harness)).toEqual({})
  })

  test('it counts points in the buffer and then in the table', async () => {
    await harness.buffer('anna', walk(10))
    await harness.buffer('anna', walk(12))
    expect(await columns(harness)).toEqual({ received: 22, pending: 12, duplicate: 10 })
    await harness.flush()
    expect(await columns(harness)).toEqual({ received: 22, stored: 12, duplicate: 10 })
    // Duplicates of points that only the table has.
    await harness.buffer('anna', walk(5))
    await harness.flush()
    expect(await columns(harness)).toEqual({ received: 27, stored: 12, duplicate: 15 })
  })

  test('a slice that is stored and not acknowledged is counted once, after any number of flushes', async () => {
    await harness.buffer('anna', walk(10))
    await harness.flush()
    await harness.buffer('anna', walk(14))
    for (let i = 0; i < 3; i++)
      await harness.flush({ kv: { ...harness.kv, acknowledge: async () => undefined } })
    await harness.flush()
    expect(await columns(harness)).toEqual({ received: 24, stored: 14, duplicate: 10 })
  })

  test('a dead letter is counted once, after any number of refusals', async () => {
    await harness.buffer('anna', walk(3))
    await harness.bufferEntries('anna', [{ field: `t${NOON - 1}`, value: 'nonsense' }])
    await harness.flush({ kv: { ...harness.kv, acknowledge: async () => undefined } })
    await harness.flush()
    expect(await columns(harness)).toEqual({ received: 4, stored: 3, deadLetter: 1 })
  })

  test('refused points are counted by reason', async () => {
    const counters = countersOf(harness)
    counters.count('rejected:too-old', 2)
    counters.count('rejected:paused', 3)
    counters.count('rejected:too-old', 5)
    counters.count('duplicate', 1)
    await counters.sync()
    await counters.sync()
    expect(await columns(harness)).toEqual({
      received: 11,
      duplicate: 1,
      rejected: { 'too-old': 7, paused: 3 },
    })
    await counters.stop()
  })

  test('is read again when the store changes its epoch meanwhile, three times at most', async () => {
    const readsOf = async (changes: number): Promise<number> => {
      let reads = 0
      const counters = async () => {
        const epoch = `epoch ${Math.min(reads++, changes)}`
        return (await harness.kv.counters()).map((one) => ({ ...one, epoch }))
      }
      await readLedger(harness.db, { ...harness.kv, counters })
      return reads
    }
    expect([await readsOf(0), await readsOf(1), await readsOf(Infinity)]).toEqual([2, 4, 6])
  })
})

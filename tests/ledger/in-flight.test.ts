/** The ledger during a flush: known duplicates stay duplicates. */
import { expect, test } from 'bun:test'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { describeFlushHarness } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'

describeFlushHarness('the ledger during a flush', (harness) => {
  test('a slice that is flushed between its readings leaves the duplicates alone', async () => {
    await harness.buffer('anna', walk(10))
    await harness.flush()
    await harness.buffer('anna', walk(10))
    await harness.flush()
    await harness.buffer('bert', walk(7))
    const atRest = await readLedger(harness.db, harness.kv)
    expect(atRest).toMatchObject({ received: 27, stored: 10, duplicate: 10, pending: 7, inFlight: 0 })
    let reads = 0
    const counters = async () => {
      const read = await harness.kv.counters()
      // Committed and acknowledged after the first read of the kv, before that of Postgres.
      if (reads++ === 0) await harness.flush()
      return read
    }
    const during = await readLedger(harness.db, { ...harness.kv, counters })
    expect(during).toMatchObject({ received: 27, stored: 17, duplicate: 10, pending: 0, inFlight: 0 })
  })
})

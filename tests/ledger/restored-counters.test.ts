/**
 * The counters of a store that was restored from a backup: points pending then do not count as lost in the
 * old epoch.
 */
import { expect, test } from 'bun:test'
import type { PartitionCounters } from '#shared/stores/kv/kv.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { closeRestoredCounters } from '#shared/points/ledger/counters.ts'
import { describeFlushHarness } from '#tests/scheduler/flush-harness.ts'

describeFlushHarness('closed counters', (harness) => {
  test('count as confirmed what has left the buffer, and as lost what had expired or was lost before', async () => {
    const { sql } = harness.db
    // Every counter has a distinct value, so that each sign in the arithmetic shows.
    await sql`
      INSERT INTO ledger_counters (epoch, partition, stored, dead_letters, repeated, erased, excess)
      VALUES ('gone', 0, 5, 7, 11, 13, 3)`
    await sql`
      INSERT INTO ledger_callers (epoch, partition, caller, acknowledged, lost) VALUES ('gone', 0, 'a', 90, 2)`
    const closed: PartitionCounters = {
      epoch: 'gone',
      admitted: 88,
      checkins: 0,
      settled: 33,
      duplicate: 17,
      dropped: 19,
      erased: 23,
      expired: 4,
      callers: { a: 88 },
    }
    // A second restore of the same backup changes nothing.
    for (let i = 0; i < 2; i++) {
      await closeRestoredCounters(harness.db, [closed])
      const [row] = await sql`SELECT acknowledged::int FROM ledger_callers WHERE caller = 'restore'`
      // 5 + 7 + 23 + (11 + 13 - 3) have left the buffer, 90 - 2 were confirmed, 4 expired.
      expect(row).toEqual({ acknowledged: -28 })
      expect((await readLedger(harness.db, harness.kv)).losses).toEqual([
        { epoch: 'gone', partition: 0, points: 6 },
      ])
    }
  })
})

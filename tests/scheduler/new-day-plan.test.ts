/** What a flush reads of a new day, for which the planner has no statistics. */
import { expect, test } from 'bun:test'
import { until } from '#tests/helpers/wait.ts'
import { describeFlushOnServers, NOON } from './flush-harness.ts'
import { point } from './walks.ts'

const PILGRIMS = 300
const MINUTE_MS = 60_000

describeFlushOnServers('a day that has just begun', (harness) => {
  test('is read by its index, and not scanned for each slice', async () => {
    const walk = async (minutes: readonly number[]) => {
      for (let i = 0; i < PILGRIMS; i++)
        await harness.buffer(
          `pilgrim-${i}`,
          minutes.map((minute) => point({ sentMs: NOON + minute * MINUTE_MS })),
        )
      await harness.flush({ slicePoints: 200 })
    }
    const reads = async () => {
      const [row] = await harness.db.sql<[{ scanned: number; looked_up: number }]>`
        SELECT seq_tup_read::int AS scanned, idx_scan::int AS looked_up
        FROM pg_stat_user_tables WHERE relname = 'gps_points_20260412'`
      return row
    }
    await harness.flush()
    await harness.db.sql`ALTER TABLE gps_points_20260412 SET (autovacuum_enabled = false)`
    await walk(Array.from({ length: 20 }, (_, i) => 2 * i + 1))
    // New points between those, and one before all of them, so that every pilgrim's day is folded again.
    await walk([0, 2, 41])
    // Once for the stored points, and once for their day. A connection reports its statistics within 10 s.
    await until(async () => (await reads()).looked_up >= 2 * PILGRIMS, 'the statistics of the connections', {
      timeoutMs: 30_000,
    })
    expect((await reads()).scanned).toBeLessThan(20 * PILGRIMS)
  })
})

/** Tracking and the flush on real servers; tracking reaches its kv through a proxy. */
import { readMetric } from '#tests/helpers/metrics.ts'
import { expect } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { openTcpProxy, type TcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { until } from '#tests/helpers/wait.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { startService } from '#tests/helpers/test-stack-real.ts'
import type { Sent } from './phones.ts'

const SETTLE_MS = 30_000

export interface TrackingHarness {
  readonly redis: Server
  /** Between tracking and its kv; the flush connects directly. */
  readonly network: TcpProxy
  /** A process of tracking; all share one directory of journals. */
  startTracking(): Promise<Server>
  /**
   * Waits until nothing is pending. Then expects that everything sent was finally answered with 202 and is stored
   * once, and that only the last process's journal is left.
   */
  expectStoredOnce(sent: readonly Sent[], tracking: Server): Promise<void>
  close(): Promise<void>
}

export async function openTrackingHarness(): Promise<TrackingHarness> {
  const [database, redis, data] = await Promise.all([
    openTestDatabase(),
    startRedis(),
    newDirectory('tracking-harness'),
  ])
  const network = await openTcpProxy(redis.port)
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  const env = { ...SETTINGS, DATABASE_URL: database.url, EVENT_DATA_DIR: data }
  const scheduler = await startService('scheduler', { ...env, REDIS_URL: redis.url })
  return {
    redis,
    network,
    startTracking: () => startService('tracking', { ...env, REDIS_URL: `redis://127.0.0.1:${network.port}` }),
    async expectStoredOnce(sent, tracking) {
      await untilZero(tracking, 'event_journal_check_ins', 'the recovery of the journal')
      await untilZero(scheduler, 'event_buffer_pilgrims', 'the buffer to be flushed')
      // A journal and SQLite's files beside it have the same name up to the first dot.
      const journals = readdirSync(join(data, 'journal')).map((file) => file.split('.')[0])
      expect(new Set(journals).size).toBe(1)
      expect(sent.filter(({ statuses }) => statuses.at(-1) !== 202)).toEqual([])
      expect(await storedOtherwise(sql, sent)).toEqual([])
      expect(await sql`SELECT reason FROM dead_letters`).toBeEmpty()
    },
    async close() {
      await Promise.all([scheduler.close(), network.close()])
      await Promise.all([redis.close(), sql.end()])
      await database.drop()
    },
  }
}

async function untilZero(service: Server, gauge: string, what: string): Promise<void> {
  const isZero = async () => (await readMetric(service, gauge)) === 0
  await until(isZero, what, { timeoutMs: SETTLE_MS })
}

/** Pilgrims without exactly one check-in and one track point in the table and one check-in in the totals. */
async function storedOtherwise(sql: postgres.Sql, sent: readonly Sent[]): Promise<string[]> {
  const users = sent.map(({ userId }) => userId)
  const rows = await sql<{ user_id: string; kinds: string; checkins: number }[]>`
    SELECT t.user_id, t.checkins, string_agg(g.kind, '' ORDER BY g.kind) AS kinds
    FROM pilgrim_totals t JOIN gps_points g USING (user_id)
    WHERE t.user_id = ANY(${users}) GROUP BY t.user_id, t.checkins`
  const right = new Set(
    rows.filter(({ kinds, checkins }) => kinds === 'ct' && checkins === 1).map((row) => row.user_id),
  )
  return users.filter((userId) => !right.has(userId))
}

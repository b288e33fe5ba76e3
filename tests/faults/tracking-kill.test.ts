/**
 * Tracking is killed at random moments under a stream of check-ins: while it runs, while it starts, while the kv is
 * healthy, slow, or stopped. Every check-in that was answered 202 is stored, once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Environment } from '#shared/config.ts'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openTcpProxy, type TcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { until } from '#tests/helpers/wait.ts'
import { SETTINGS } from '#tests/helpers/world.ts'
import { forgetTornFlush, startService } from '#tests/helpers/world-real.ts'
import { type Phones, startPhones } from './phones.ts'

const KILLS = 4
/** Check-ins of each of the three streams, at most. */
const CHECK_INS = 1_500
const TEST_MS = 60_000
const SETTLE_MS = 30_000

/** Repeats a run: TEST_SEED=… bun run test tracking-kill */
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Mulberry32: the same numbers from the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

describeOnServers('kill -9 of tracking', () => {
  const random = randomFrom(SEED)
  const between = (from: number, to: number) => from + random() * (to - from)
  let database: TestDatabase
  let redis: Server
  let proxy: TcpProxy
  let env: Environment
  let sql: postgres.Sql
  let scheduler: Server

  beforeAll(async () => {
    console.log(`TEST_SEED=${SEED}`)
    ;[database, redis] = await Promise.all([openTestDatabase(), startRedis()])
    proxy = await openTcpProxy(redis.port)
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    env = { ...SETTINGS, DATABASE_URL: database.url, EVENT_DATA_DIR: await newDirectory('kill') }
    scheduler = await startService('scheduler', { ...env, REDIS_URL: redis.url })
  }, TEST_MS)
  afterAll(async () => {
    await scheduler.close()
    await proxy.close()
    await redis.close()
    await sql.end()
    await database.drop()
  }, TEST_MS)

  /**
   * Kills a replica at random moments, the last time for good: then another one takes over.
   * @param startMs how long a start takes at most; without a kv it waits for one
   * @param trouble what happens to the kv before each kill
   */
  async function killing(
    name: string,
    startMs: number,
    trouble: (kill: number) => Promise<void>,
  ): Promise<{ phones: Phones; survivor: Server }> {
    const settings = { ...env, REDIS_URL: `redis://127.0.0.1:${proxy.port}` }
    const replica = await startService('tracking', settings)
    let { url } = replica
    const phones = startPhones(name, () => url, CHECK_INS)
    for (let kill = 1; kill <= KILLS; kill++) {
      await Bun.sleep(between(50, 800))
      await trouble(kill)
      await Bun.sleep(between(0, 800))
      await replica.stop('SIGKILL')
      if (random() < 0.5) {
        // Once more while it starts, perhaps while it takes over what the last one left.
        const starting = replica.restart().catch(() => undefined)
        await Bun.sleep(between(0, startMs))
        await replica.stop('SIGKILL')
        await starting
      }
      if (kill < KILLS) await replica.restart()
    }
    await replica.close()
    const survivor = await startService('tracking', settings)
    url = survivor.url
    await Bun.sleep(between(0, 500))
    return { phones, survivor }
  }

  const metric = async (server: Server, name: string): Promise<number> => {
    const page = await (await fetch(`${server.url}/metrics`)).text()
    return Number(new RegExp(`^${name}(?:{.*})? (\\d+)$`, 'm').exec(page)?.[1])
  }

  /** Waits until nothing is on its way, then counts. */
  async function expectStoredOnce({ sent }: Phones, survivor: Server): Promise<void> {
    await until(async () => (await metric(survivor, 'journal_entries')) === 0, {
      timeoutMs: SETTLE_MS,
      what: 'the journal to be brought to the kv',
    })
    await until(async () => (await metric(scheduler, 'buffer_users')) === 0, {
      timeoutMs: SETTLE_MS,
      what: 'the buffer to be flushed',
    })
    // A journal and what SQLite keeps beside it have one name up to the first dot: the survivor's is left.
    const journals = readdirSync(join(env.EVENT_DATA_DIR!, 'journal')).map((file) => file.split('.')[0])
    expect(new Set(journals).size).toBe(1)

    const users = sent.map(({ userId }) => userId)
    const rows = await sql<{ user_id: string; points: string[]; checkins: number }[]>`
      SELECT t.user_id, t.checkins, (SELECT array_agg(g.kind ORDER BY g.kind) FROM gps_points g WHERE g.user_id = t.user_id) AS points
      FROM pilgrim_totals t WHERE t.user_id = ANY(${users})`
    const stored = new Map(rows.map((row) => [row.user_id, row]))
    const wrong = sent.filter(({ userId, statuses }) => {
      const row = stored.get(userId)
      return statuses.at(-1) !== 202 || row?.checkins !== 1 || row.points.join() !== 'c,t'
    })
    expect(wrong).toEqual([])
    expect(await sql`SELECT reason FROM dead_letters`).toBeEmpty()
    // The stream was worth it: some answers were lost, and hundreds came.
    expect(sent.length).toBeGreaterThan(200)
    expect(sent.filter(({ statuses }) => statuses.includes(0)).length).toBeGreaterThan(0)
  }

  const finish = async ({ phones, survivor }: { phones: Phones; survivor: Server }) => {
    await phones.stop()
    await expectStoredOnce(phones, survivor)
    await survivor.close()
  }

  test(
    'kv healthy: every 202 is stored once',
    async () => {
      await finish(await killing('healthy', 1_000, async () => undefined))
    },
    TEST_MS,
  )

  test(
    'kv two seconds late, on the way there or back: every 202 is stored once',
    async () => {
      const killed = await killing('slow', 3_500, async () => {
        const toServerMs = [0, 1_000, 2_000][Math.floor(random() * 3)]!
        proxy.set({ kind: 'slow', toServerMs, toClientMs: 2_000 - toServerMs })
      })
      proxy.set({ kind: 'clear' })
      await finish(killed)
    },
    TEST_MS,
  )

  test(
    'kv stopped: every 202 is stored once',
    async () => {
      const killed = await killing('stopped', 3_500, async (kill) => {
        // Twice it goes down under the stream; in between and afterwards it is down.
        if (kill % 2 === 0) return
        if (kill > 1) await redis.restart()
        // What it is asked while it hangs is lost with it.
        redis.pause()
        await Bun.sleep(between(300, 1_500))
        await redis.stop('SIGKILL')
      })
      await redis.restart()
      await forgetTornFlush(redis.url)
      await finish(killed)
    },
    TEST_MS,
  )
})

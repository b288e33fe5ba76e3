/**
 * Tracking is killed at random moments under a stream of check-ins: while it runs or starts, and while the kv
 * is healthy, slow or stopped. Every check-in with a 202 is stored once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { createClient, type Input } from '#shared/client/index.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { readMetric } from '#tests/helpers/metrics.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openTcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { startService } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'

const KILLS = 4
/** Maximum number of check-ins of each of the three streams. */
const CHECK_INS = 4_000
const TEST_MS = 60_000
const SETTLE_MS = 30_000

/** Repeats a run: TEST_SEED=… bun run test tracking-kill */
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** One check-in of a pilgrim, with a track point. */
interface Sent {
  readonly userId: string
  /** Statuses of the responses, in order; 0: none. */
  readonly statuses: number[]
}

interface Phones {
  /** All that has been sent so far. */
  readonly sent: readonly Sent[]
  /** Starts no new check-in; resolves when each has a 202. */
  stop(): Promise<void>
}

const CLIENTS = 8
const BETWEEN_MS = 40
const TIMEOUT_MS = 10_000

/** A stream of check-ins as phones send them: a request without success is repeated. @param urlNow returns the current URL of tracking */
function startPhones(name: string, urlNow: () => string): Phones {
  const sent: Sent[] = []
  let going = true

  const client = createClient({
    baseUrl: '',
    timeoutMs: TIMEOUT_MS,
    // A killed process closes its connections, so each request gets a new one.
    fetch: (path, init) => fetch(urlNow() + path, { ...init, keepalive: false }),
  })
  /** The status of the response; 0 if the process was killed during the request, whose outcome is unknown. */
  const checkIn = async (given: Input<'checkIn'>): Promise<number> => {
    const answer = await client.checkIn(given)
    return answer.ok ? answer.status : answer.error.status
  }

  const phone = async () => {
    while (going && sent.length < CHECK_INS) {
      const one: Sent = { userId: `${name}-${sent.length}`, statuses: [] }
      sent.push(one)
      const timestamp = Date.now() - 60_000
      const place = { lat: 24.15, lng: 120.67 }
      const track_points = [{ ...place, timestamp: timestamp - 60_000 }]
      const given = { user_id: one.userId, ...place, timestamp, track_points }
      do {
        one.statuses.push(await checkIn(given))
        await Bun.sleep(BETWEEN_MS)
      } while (one.statuses.at(-1) !== 202)
    }
  }

  const phones = Array.from({ length: CLIENTS }, phone)
  return {
    sent,
    async stop() {
      going = false
      await Promise.all(phones)
    },
  }
}

type Harness = Awaited<ReturnType<typeof openHarness>>

/** Tracking and the flush on real servers; tracking reaches its kv through a proxy, the flush directly. */
async function openHarness() {
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
    /** A process of tracking; all share one directory of journals. */
    startTracking: () => startService('tracking', { ...env, REDIS_URL: `redis://127.0.0.1:${network.port}` }),
    /**
     * Waits until nothing is pending. Then expects that everything sent was finally answered with 202 and is stored
     * once, and that only the last process's journal is left.
     */
    async expectStoredOnce(sent: readonly Sent[], tracking: Server) {
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

/** Resources of one test, because the tests run concurrently: they mostly wait. */
interface Own {
  readonly harness: Harness
  readonly random: () => number
  readonly between: (from: number, to: number) => number
}
const TESTS = ['healthy', 'slow', 'stopped'] as const

describeOnServers('kill -9 of tracking', () => {
  const own = new Map<(typeof TESTS)[number], Own>()
  beforeAll(async () => {
    console.log(`TEST_SEED=${SEED}`)
    await Promise.all(
      TESTS.map(async (name, i) => {
        const harness = await openHarness()
        const random = createRandom(SEED + i)
        own.set(name, { harness, random, between: (from, to) => from + random() * (to - from) })
      }),
    )
  }, TEST_MS)
  afterAll(() => Promise.all([...own.values()].map(({ harness }) => harness.close())), TEST_MS)

  /**
   * Kills a replica at random moments, finally without a restart: another one then takes over.
   * @param startMs maximum duration of a start; without a kv it waits for one
   * @param trouble called before each kill, to break the kv
   */
  async function killing(
    name: (typeof TESTS)[number],
    startMs: number,
    trouble: (kill: number) => Promise<void>,
  ): Promise<{ harness: Harness; phones: Phones; survivor: Server }> {
    const { harness, random, between } = own.get(name)!
    const replica = await harness.startTracking()
    let { url } = replica
    const phones = startPhones(name, () => url)
    for (let kill = 1; kill <= KILLS; kill++) {
      await Bun.sleep(between(50, 800))
      await trouble(kill)
      await Bun.sleep(between(0, 800))
      await replica.stop('SIGKILL')
      if (random() < 0.5) {
        // Once more during the start, which may be during journal recovery.
        const starting = replica.restart().catch(() => undefined)
        await Bun.sleep(between(0, startMs))
        await replica.stop('SIGKILL')
        await starting
      }
      if (kill < KILLS) await replica.restart()
    }
    await replica.close()
    const survivor = await harness.startTracking()
    url = survivor.url
    await Bun.sleep(between(0, 500))
    return { harness, phones, survivor }
  }

  const finish = async ({ harness, phones, survivor }: Awaited<ReturnType<typeof killing>>) => {
    // Hundreds of check-ins, however slow the machine is, and some lost responses.
    await until(() => phones.sent.length > 200, 'hundreds of check-ins')
    await phones.stop()
    await harness.expectStoredOnce(phones.sent, survivor)
    await survivor.close()
    expect(phones.sent.filter(({ statuses }) => statuses.includes(0)).length).toBeGreaterThan(0)
  }

  test.concurrent(
    'kv healthy: every 202 is stored once',
    async () => {
      await finish(await killing('healthy', 1_000, async () => undefined))
    },
    TEST_MS,
  )

  test.concurrent(
    'kv two seconds late, on the way there or back: every 202 is stored once',
    async () => {
      const { harness, random } = own.get('slow')!
      const killed = await killing('slow', 3_500, async () => {
        const toServerMs = [0, 1_000, 2_000][Math.floor(random() * 3)]!
        harness.network.set({ kind: 'slow', toServerMs, toClientMs: 2_000 - toServerMs })
      })
      harness.network.set({ kind: 'clear' })
      await finish(killed)
    },
    TEST_MS,
  )

  test.concurrent(
    'kv stopped: every 202 is stored once',
    async () => {
      const { harness, between } = own.get('stopped')!
      const { redis } = harness
      const killed = await killing('stopped', 3_500, async (kill) => {
        // The kv stops twice during the stream and is down afterwards.
        if (kill % 2 === 0) return
        if (kill > 1) await redis.restart()
        // Requests to the frozen process are lost with it.
        redis.pause()
        await Bun.sleep(between(300, 1_500))
        await redis.stop('SIGKILL')
      })
      await redis.restart()
      await finish(killed)
    },
    TEST_MS,
  )
})

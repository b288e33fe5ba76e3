/** Alerts to the owner, on real stores that are stopped, with a simulated clock. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { hostname } from 'node:os'
import { createHealth } from '#services/admin/lifecycle/health.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { time } from '#shared/contracts/fields.ts'
import { decide, createAlertWatch, createIncidentStore } from '#shared/service/alerts/when-to-alert.ts'
import { LAST_FLUSH_KEY, LAST_FLUSH_TTL_MS } from '#shared/points/pending-points.ts'
import { readClocks, startHeartbeat } from '#shared/service/heartbeat.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { type Server, startNats, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Minutes around each moment at which an alert is due. */
const EIGHT_HOURS = [0, 1, 9, 10, 11, 25, 39, 40, 41, 70, 99, 100, 101, 219, 220, 221, 459, 460, 461, 479]
const START = Date.parse('2026-04-12T00:00:00Z')
const OWNER = lineUser(0xb055)

describeOnServers('alerts', () => {
  const line = startLineServer()
  let stores: { postgres: Server; redis: Server; nats: Server }
  let parts: ServiceParts
  let ports: ServiceParts['ports']
  let clockMs = START
  const said: { minute: number; text: string }[] = []

  /** A watcher, as each of the two services runs it. */
  const watcher = (name: string) => createAlertWatch(parts.context(name))

  beforeAll(async () => {
    const [postgres, redis, nats] = await Promise.all([startPostgres(), startRedis(), startNats()])
    stores = { postgres, redis, nats }
    const { migrate } = await import('#shared/stores/db/migrate.ts')
    await migrate(postgres.url)
    const settings = {
      ...SETTINGS,
      ...lineSettings(line),
      EVENT_ALERT_USER_ID: OWNER,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      NATS_URL: nats.url,
    }
    parts = await openServiceParts(settings, { now: () => clockMs })
    ;({ ports } = parts)
    await ports.db.probe()
  })
  afterAll(async () => {
    await parts?.close()
    await Promise.all(Object.values(stores).map((server) => server.close()))
    await line.stop()
  })
  beforeEach(async () => {
    clockMs = START
    said.length = 0
    line.mishap = () => 'none'
    const reports = ServiceName.options.map((name) => `heartbeat:${name}`)
    for (const key of ['alert-state', 'first-start', ...reports]) await ports.kv.forget(key)
    await flushedAt(START)
  })

  const flushedAt = (ms: number) => ports.kv.cache(LAST_FLUSH_KEY, String(ms), LAST_FLUSH_TTL_MS)
  let heard = line.sent.length
  /** Runs every watcher at each of these minutes. */
  const lookAt = async (at: readonly number[], watchers: readonly { look(): Promise<void> }[]) => {
    heard = line.sent.length
    for (const minute of at) {
      clockMs = START + minute * MINUTE
      await Promise.all(watchers.map((watch) => watch.look()))
      for (const { messages } of line.sent.slice(heard))
        said.push({ minute, text: messages[0]!.text as string })
      heard = line.sent.length
    }
  }
  const minutes = () => said.map(({ minute }) => minute)
  const postgresBack = async () => {
    await stores.postgres.restart()
    await until(() => ports.db.probe().then(() => true), 'the pool to recover')
  }

  test('an outage of Postgres for eight hours alerts after 0, 10, 40, 100, 220, 460 min, and once at recovery', async () => {
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    await stores.postgres.stop()
    await lookAt(EIGHT_HOURS, watchers)
    expect(minutes()).toEqual([0, 10, 40, 100, 220, 460])
    expect(said[0]!.text).toContain('database does not answer')
    expect(said[0]!.text).not.toContain('flush')
    expect(said[2]!.text).toContain('No successful flush for 40 min')
    await postgresBack()
    await flushedAt(clockMs)
    await lookAt([480, 481, 482, 500], watchers)
    expect(minutes().slice(6)).toEqual([481])
    expect(said[6]!.text).toContain('All is well')
    // Alerts of the outage are recorded after it, in order.
    const told = async () =>
      (await ports.db.sql`SELECT FROM messages WHERE cause = 'alert' AND state = 'sent'`).length
    await until(async () => (await told()) === 7, 'the record of each message')
  }, 120_000)

  test('a failure after the kv has lost the incident is alerted, also by a watcher that had not stored it', async () => {
    const [one, other] = [parts.context('scheduler'), parts.context('line-bot')].map(createIncidentStore)
    const failing = {
      id: 'i',
      openedMs: START,
      alerts: 1,
      lastAlertMs: START,
      failures: 1,
      calmSinceMs: null,
    }
    await one!.remember({ ...failing, mildSinceMs: null })
    clockMs = START + MINUTE
    await other!.remember({ ...failing, mildSinceMs: clockMs })
    await one!.recall()
    await ports.kv.forget('alert-state')
    const lost = [{ key: 'lost', failure: true, text: 'lost' }] as const
    expect(decide(await one!.recall(), lost, START + 3 * MINUTE, 'j').say).toBe('alert')
  })

  test('a watcher whose clock is a day ahead, and is set right, changes neither the alerts nor the recovery', async () => {
    const DAY = 1_440 * MINUTE
    let aheadMs = DAY
    const context = { ...parts.context('scheduler'), now: () => clockMs + aheadMs }
    const wrong = createAlertWatch(context, () => Date.now() + aheadMs)
    const watchers = [watcher('line-bot'), wrong]
    await stores.postgres.stop()
    await lookAt([0, 1], [wrong])
    await lookAt([9, 10, 11, 39], watchers)
    aheadMs = 0
    await lookAt([40, 41, 99, 100], watchers)
    expect(minutes()).toEqual([0, 10, 40, 100])
    await postgresBack()
    await flushedAt(clockMs)
    aheadMs = DAY
    await lookAt([101], [wrong])
    aheadMs = 0
    await lookAt([102, 103], watchers)
    expect(minutes().slice(4)).toEqual([102])
    expect(said[4]!.text).toContain('All is well')
  }, 120_000)

  test('the alerts are the same when the scheduler dies in the middle', async () => {
    const [scheduler, bot] = [watcher('scheduler'), watcher('line-bot')]
    await stores.postgres.stop()
    await lookAt(EIGHT_HOURS.slice(0, 5), [scheduler, bot])
    await lookAt(EIGHT_HOURS.slice(5), [bot])
    expect(minutes()).toEqual([0, 10, 40, 100, 220, 460])
    await postgresBack()
    await flushedAt(clockMs)
    await lookAt([480, 481, 482, 500], [watcher('line-bot')])
    expect(minutes().slice(6)).toEqual([481])
  }, 120_000)

  test('an outage of both Postgres and NATS alerts', async () => {
    const bot = watcher('line-bot')
    await Promise.all([stores.postgres.stop(), stores.nats.stop()])
    await lookAt([0, 5, 10, 20, 40], [bot])
    expect(minutes()).toEqual([0, 10, 40])
    await stores.nats.restart()
    await postgresBack()
  })

  test('an outage of everything, the kv included, still alerts', async () => {
    const bot = watcher('line-bot')
    await Promise.all([stores.postgres.stop(), stores.redis.stop()])
    await lookAt([0, 5, 10, 30, 40], [bot])
    expect(minutes()).toEqual([0, 10, 40])
    await stores.redis.restart()
    await until(() => ports.kv.probe().then(() => true), 'the kv to be back')
    await postgresBack()
    await flushedAt(clockMs)
    await lookAt([50, 60, 70], [bot])
    expect(minutes()).toEqual([0, 10, 40, 60])
    expect(said[3]!.text).toContain('All is well')
  }, 90_000)

  test('a flush that stops alerts after 30 min, and so does one that never ran', async () => {
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    await lookAt([1, 29, 30, 31, 32, 41], watchers)
    expect(minutes()).toEqual([31, 41])
    expect(said[0]!.text).toContain('No successful flush for 31 min')
    await ports.kv.forget(LAST_FLUSH_KEY)
    await ports.kv.forget('alert-state')
    clockMs = START
    said.length = 0
    await lookAt([0, 30, 31, 35], [watcher('scheduler')])
    expect(minutes()).toEqual([31])
  })

  test('a flush by a clock six hours ahead alerts after 30 min, and health shows no flush of the future', async () => {
    const context = parts.context('admin')
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    const health = createHealth(context)
    await flushedAt(START + 6 * HOUR)
    await lookAt([0], watchers)
    expect((await health()).last_flush).toBe(time(START))
    await lookAt([30, 31, 41], watchers)
    expect(minutes()).toEqual([31, 41])
    expect(said[0]!.text).toContain('No successful flush for 31 min')
    expect((await health()).last_flush).toBe(time(START))
    clockMs += MINUTE
    await flushedAt(clockMs)
    expect((await health()).last_flush).toBe(time(clockMs))
  })

  test('an alert during an outage of LINE is sent once, as soon as LINE is back', async () => {
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    await stores.postgres.stop()
    line.mishap = () => 'before'
    await lookAt([0, 1, 3], watchers)
    expect(said).toEqual([])
    line.mishap = () => 'none'
    await lookAt([4, 5, 13, 14], watchers)
    expect(minutes()).toEqual([4, 14])
    await postgresBack()
  })

  test('an alert that LINE accepts without an answer reaches the owner once', async () => {
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    await stores.postgres.stop()
    line.mishap = () => 'after'
    await lookAt([0, 1, 2], watchers)
    line.mishap = () => 'none'
    await lookAt([3, 4], watchers)
    expect(minutes()).toEqual([0])
    await postgresBack()
  })

  test('two watchers that disagree send the same alert with the same key', async () => {
    const before = line.sent.length
    await Promise.all([watcher('scheduler').look(), watcher('line-bot').look()])
    expect(line.sent.length).toBe(before)
    await stores.postgres.stop()
    await Promise.all([watcher('scheduler').look(), watcher('line-bot').look()])
    expect(line.sent.length).toBe(before + 1)
    await postgresBack()
  })

  test('a loss during a warning alerts immediately, so does a later failure, and the schedule continues', async () => {
    const bot = watcher('line-bot')
    await ports.db.sql`INSERT INTO dead_letters (user_id, field, value, reason, created_at)
      VALUES ('u', 'c1', 'x', 'test', ${new Date(START).toISOString()}::timestamptz)`
    await lookAt([0, 1], [bot])
    expect(said.map(({ text }) => text)).toEqual([expect.stringContaining('1 points could not be stored')])
    await ports.db.sql`INSERT INTO ledger_losses (at, epoch, partition, points)
      VALUES (${new Date(START + 4 * MINUTE).toISOString()}::timestamptz, 'e', 0, 3)`
    await lookAt([4, 5, 7, 8], [bot])
    expect(said[1]!.text).toContain('3 points are lost')
    await stores.postgres.stop()
    await lookAt([9, 10, 12], [bot])
    expect(minutes()).toEqual([0, 4, 9, 10])
    expect(said[2]!.text).toContain('database')
    await postgresBack()
    await ports.db.sql`DELETE FROM dead_letters`
    await ports.db.sql`DELETE FROM ledger_losses`
  })

  test('a state of alerts that cannot be read stops no alert', async () => {
    await ports.kv.cache('alert-state', 'damaged {', 60 * MINUTE)
    await lookAt([31, 32], [watcher('scheduler'), watcher('linebot')])
    expect(minutes()).toEqual([31])
    expect(said[0]!.text).toContain('No successful flush for 31 min')
  })

  test('lost points alert', async () => {
    const at = new Date(START).toISOString()
    await ports.db.sql`INSERT INTO ledger_losses (at, epoch, partition, points)
      VALUES (${at}::timestamptz, 'e', 0, 9), (${at}::timestamptz, 'e', 1, 5), (${at}::timestamptz, 'e', 0, -2)`
    await lookAt([0, 1], [watcher('line-bot')])
    expect(said.map(({ text }) => text)).toEqual([expect.stringContaining('12 points are lost')])
    await ports.db.sql`DELETE FROM ledger_losses`
  })

  test.each([
    ['6 minutes', 6 * MINUTE, 360],
    ['a day', 1_440 * MINUTE, 86_400],
  ])(
    'a process whose clock is %s ahead or behind is named, also after a jump (long)',
    async (_name, ms, seconds) => {
      const skewed = (service: string, port: number, aheadMs: () => number) =>
        startHeartbeat({ kv: ports.kv, now: () => Date.now() + aheadMs() }, [service], port)
      let aheadMs = ms
      const stop = [skewed('tracking', 1, () => aheadMs), skewed('admin', 2, () => 0)]
      const clocks = async () => (await readClocks(ports.kv, ['tracking', 'admin'])).map((one) => one.aheadMs)
      const known = (what: string, is: (ahead: number[]) => boolean) =>
        until(async () => is(await clocks()), what)
      const bot = watcher('line-bot')
      await known('two clocks', (ahead) => ahead.length === 2)
      await lookAt([0], [bot])
      const name = `tracking (${hostname()}:1)`
      expect(said.map(({ text }) => text)).toEqual([
        expect.stringContaining(`The clock of ${name} is ${seconds} s ahead of that of Redis`),
      ])
      expect(said[0]!.text).not.toContain('admin')
      aheadMs = -ms
      await known('the jump', (ahead) => ahead.includes(Math.min(...ahead, -5_001)))
      await lookAt([10], [bot])
      expect(said[1]!.text).toContain(`The clock of ${name} is ${seconds} s behind that of Redis`)
      // A difference of at most five seconds is not reported.
      aheadMs = 4_000
      await known('the right clock', (ahead) => ahead.every((one) => Math.abs(one) <= 5_000))
      await lookAt([11, 12], [bot])
      expect(said[2]!.text).toContain('All is well')
      for (const one of stop) one()
      await known('no clock', (ahead) => ahead.length === 0)
    },
    90_000,
  )

  test('many points of the future are the phones’ clocks; few are not told', async () => {
    const count = (name: string, points: number) =>
      ports.db.sql`INSERT INTO ledger_counts (caller, name, points) VALUES ('tracking', ${name}, ${points})
        ON CONFLICT (caller, name) DO UPDATE SET points = ledger_counts.points + excluded.points`
    // Events before the first check are not reported.
    const span = Math.floor((await ports.kv.clock()) / (10 * MINUTE))
    for (const one of [span - 1, span]) await ports.kv.forget(`early-points:${one}`)
    await count('rejected:in-the-future', 500)
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    await lookAt([0], watchers)
    await count('rejected:in-the-future', 99)
    await lookAt([1], watchers)
    await count('rejected:in-the-future', 1)
    await count('rejected:too-old', 1_901)
    await lookAt([2], watchers)
    expect(said).toEqual([])
    await count('rejected:in-the-future', 40)
    await lookAt([3, 4], watchers)
    expect(said.map(({ text }) => text)).toEqual([
      expect.stringContaining('Phones: the time of 7 % of all points lies in the future'),
    ])
    await ports.db.sql`DELETE FROM ledger_counts`
  })

  test('the quota alerts at 80 and at 95 %, each once a month', async () => {
    const watchers = [watcher('scheduler'), watcher('line-bot')]
    line.quota = 1_000
    line.used = 790
    await lookAt([0, 5, 10], watchers)
    expect(said).toEqual([])
    line.used = 800
    await lookAt([15, 20, 25], watchers)
    line.used = 960
    await flushedAt(clockMs)
    await lookAt([35, 40], watchers)
    expect(said.map(({ text }) => /已使用 (\d+) %/.exec(text)?.[1])).toEqual(['80', '96'])
    line.quota = null
  })

  test('a notice whose watcher dies in the call is sent by another one', async () => {
    const context = parts.context('scheduler')
    // Its time passes a thousand times as fast, and it holds no lock of its own.
    const kv: typeof context.kv = {
      ...context.kv,
      cacheOnce: (key, value, ttlMs) => context.kv.cacheOnce(key, value, ttlMs / 1_000),
      lock: async () => '',
    }
    clockMs = START + 40 * 24 * HOUR
    await flushedAt(clockMs)
    line.quota = 1_000
    line.used = 800
    const before = line.sent.length
    const called = Promise.withResolvers<void>()
    line.mishap = (path) => {
      if (!path.endsWith('/push')) return 'none'
      called.resolve()
      return 'hung'
    }
    const dying = createAlertWatch({ ...context, kv }).look()
    await called.promise
    line.mishap = () => 'none'
    await Bun.sleep(200)
    await watcher('line-bot').look()
    expect(line.sent.slice(before)).toHaveLength(1)
    line.quota = null
    await dying
  }, 60_000)
})

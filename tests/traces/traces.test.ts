/** Traces as a collector receives them from real services, and a failing collector disturbs nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { readConfig } from '#shared/runtime/config/config.ts'
import { createLog } from '#shared/runtime/log.ts'
import { currentSpan, span, startTraces } from '#shared/runtime/traces.ts'
import type { ServiceName } from '#shared/contracts/endpoint.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { newDirectory, runCommand, type Server } from '#tests/helpers/process.ts'
import { freePort, startNats } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { admin, SETTINGS } from '#tests/helpers/test-stack.ts'
import { startService } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Received, startCollector } from './collector.ts'

const USER = 'pilgrim-who-is-traced'
const [LAT, LNG] = [23.456789, 120.345678]
const KEY = 'a-key-of-a-tracker-that-is-secret'
const log = createLog({}, () => undefined)
const logOf = ({ dir }: Server): string => readFileSync(join(dir, 'server.log'), 'utf8')
const namesOf = (spans: readonly Received[]) => spans.map(({ name }) => name)

describeOnServers('traces', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>
  let sql: postgres.Sql
  let nats: Server
  let redisUrl: string
  beforeAll(async () => {
    ;[database, nats, redisUrl] = await Promise.all([openTestDatabase(), startNats(), testRedisUrl()])
    sql = postgres(database.url, { max: 1 })
  })
  afterAll(async () => {
    await sql?.end()
    await Promise.all([database?.drop(), nats?.close()])
  })

  const start = async (name: ServiceName, endpoint: string, flushSeconds = 600) =>
    startService(name, {
      ...SETTINGS,
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      NATS_URL: nats.url,
      EVENT_DATA_DIR: await newDirectory('traces'),
      EVENT_FLUSH_SECONDS: String(flushSeconds),
      EVENT_LIMIT_CHECKIN: '1000',
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_TRACES_SAMPLER_ARG: '1',
    })
  const checkIn = ({ url }: Server, userId: string, atMs = Date.now()) =>
    fetch(`${url}/api/event/checkin`, {
      method: 'POST',
      body: JSON.stringify({ user_id: userId, lat: LAT, lng: LNG, timestamp: atMs }),
    })
  const storedOf = async (userId: string): Promise<number> => {
    const [row] = await sql`SELECT count(*)::int AS count FROM gps_points WHERE user_id = ${userId}`
    return row!.count as number
  }

  test('a check-in is request, batch and kv; a flush on demand is one trace over NATS; nothing in it is personal', async () => {
    const collector = startCollector()
    // Otherwise the scheduler starts with its own flush, which may take the point.
    await sql`INSERT INTO flushes (partition, started_at, finished_at, stored, duplicates, dead_letters, succeeded)
      VALUES (0, now(), now(), 0, 0, 0, true)`
    const [tracking, adminService, scheduler] = await Promise.all(
      (['tracking', 'admin', 'scheduler'] as const).map((name) => start(name, collector.url)),
    )
    expect((await checkIn(tracking!, USER)).status).toBe(202)
    const tracker = `${tracking!.url}/api/event/ingest/${KEY}/owntracks`
    expect((await fetch(tracker, { method: 'POST', body: '{"_type":"location"}' })).status).toBe(404)
    const flushed = await fetch(`${adminService!.url}/api/event/admin/flush`, {
      method: 'POST',
      headers: admin('owner'),
    })
    expect(flushed.ok).toBe(true)
    await until(async () => (await storedOf(USER)) === 1, 'the point')
    // A process that stops sends the rest.
    await Promise.all([tracking, adminService, scheduler].map((server) => server!.close()))
    expect(collector.refused).toEqual([])

    const { spans } = collector
    const childrenOf = (parent: Received) =>
      spans.filter((one) => one.parentSpanId === parent.spanId && one.traceId === parent.traceId)
    const only = (found: readonly Received[], name: string): Received => {
      expect(namesOf(found)).toContain(name)
      return found.find((one) => one.name === name)!
    }
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)

    const request = only(roots, 'POST /api/event/checkin')
    expect(request.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 202 } })
    const batch = only(childrenOf(request), 'admission batch')
    only(childrenOf(batch), 'kv admit')
    only(roots, 'POST /api/event/ingest/:key/owntracks')

    const asked = only(roots, 'POST /api/event/admin/flush')
    const announced = only(childrenOf(asked), 'announce event')
    const handled = only(childrenOf(announced), 'handle event')
    expect([announced.service, handled.service]).toEqual(['admin', 'scheduler'])
    const flush = only(childrenOf(handled), 'flush')
    const slice = only(childrenOf(flush), 'flush slice')
    expect(namesOf(childrenOf(slice))).toEqual(
      expect.arrayContaining(['INSERT pilgrim_totals', 'SELECT erasures', 'INSERT pilgrims']),
    )

    const token = 'token-of-owner'
    for (const personal of [USER, String(LAT), String(LNG), '23.45', '120.34', KEY, token, '127.0.0.1'])
      expect({ personal, isTold: collector.text().includes(personal) }).toEqual({ personal, isTold: false })
    await collector.stop()
  })

  test('a collector that is down, never answers or refuses delays nothing and loses no check-in (long)', async () => {
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const refusing = Bun.serve({ port: 0, fetch: () => new Response(LAT.toString(), { status: 400 }) })
    const urlOf = (port: number | undefined) => `http://127.0.0.1:${port}`
    const scheduler = await start('scheduler', urlOf(silent.port), 1)
    const startMs = Date.now() - 3_600_000
    const walk = async (how: string, port: number | undefined) => {
      const tracking = await start('tracking', urlOf(port))
      const userId = `pilgrim-${how.replaceAll(' ', '-')}`
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, i) => checkIn(tracking, userId, startMs + i * 1_000)),
      )
      expect({ how, all202: answers.every(({ status }) => status === 202) }).toEqual({ how, all202: true })
      // 300 check-ins exceed one message to the collector, so it is contacted at once.
      if (how !== 'never answers')
        await until(
          () => logOf(tracking).includes('the collector does not take traces'),
          `the log to tell that it ${how}`,
        )
      expect(logOf(tracking)).not.toContain(String(LAT))
      const stoppedMs = performance.now()
      await tracking.close()
      expect({ how, inTime: performance.now() - stoppedMs < 15_000 }).toEqual({ how, inTime: true })
      const isStored = async () => (await storedOf(userId)) === 300
      await until(isStored, `the points of a collector that ${how}`, { timeoutMs: 30_000 })
    }
    await Promise.all([
      walk('is down', freePort()),
      walk('never answers', silent.port),
      walk('refuses', refusing.port),
    ])
    await scheduler.close()
    silent.stop(true)
    await refusing.stop(true)
  }, 90_000)
})

describe('in one process', () => {
  const traces = (endpoint: string, share: string) =>
    readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share }).traces

  test('a share of the traces is sent, each of them whole; an error ends its span, and tells no message', async () => {
    const collector = startCollector()
    const stop = await startTraces(traces(collector.url, '0.5'), 'sampled', log)
    for (let i = 0; i < 400; i++) await span('outer', {}, async () => span('inner', { i }, () => i))
    const failing = span('failing', {}, async () => {
      throw new RangeError(USER)
    })
    expect(await failing.catch((error: unknown) => error)).toBeInstanceOf(RangeError)
    await stop()
    const outer = collector.spans.filter(({ name }) => name === 'outer')
    expect(outer.length).toBeGreaterThan(120)
    expect(outer.length).toBeLessThan(280)
    const ids = outer.map(({ spanId }) => spanId).toSorted()
    const inner = collector.spans.filter(({ name }) => name === 'inner')
    expect(inner.map(({ parentSpanId }) => parentSpanId!).toSorted()).toEqual(ids)
    expect(collector.text()).not.toContain(USER)
    expect(collector.refused).toEqual([])
    await collector.stop()
  })

  test('a batch is of the first request that is sampled, and linked with the others', async () => {
    const collector = startCollector()
    const stop = await startTraces(traces(collector.url, '1'), 'batched', log)
    const origins = ['one', 'other'].map((name) => span(name, {}, currentSpan))
    span(
      'batch',
      {},
      () => undefined,
      () => [undefined, ...origins],
    )
    await stop()
    const [one, other] = ['one', 'other'].map((name) => collector.spans.find((made) => made.name === name)!)
    const batch = collector.spans.find(({ name }) => name === 'batch')!
    expect(batch.parentSpanId).toBe(one!.spanId)
    expect(batch.links.map(({ spanId }) => spanId)).toEqual([other!.spanId])
    await collector.stop()
  })

  test.each([
    { endpoint: '', isLoaded: false },
    { endpoint: 'http://127.0.0.1:9', isLoaded: true },
  ])('with the endpoint "$endpoint" its packages are loaded: $isLoaded', async ({ endpoint, isLoaded }) => {
    const script = `
      await import('#services/tracking/app.ts')
      await import('#services/scheduler/app.ts')
      const { startTraces } = await import('#shared/runtime/traces.ts')
      await startTraces({ endpoint: '${endpoint}', share: 1 }, 'test', { warn: () => undefined })
      console.log(Object.keys(require.cache).filter((name) => name.includes('@opentelemetry')).length)
      process.exit(0)`
    const { out } = await runCommand([process.execPath, '-e', script])
    expect(Number(out) > 0).toBe(isLoaded)
  })
})

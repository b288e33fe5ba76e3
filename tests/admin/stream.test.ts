/**
 * The stream in one process: its cost does not depend on the number of readers, and polling stops with the
 * last of them.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { createStream, type Stream } from '#services/admin/stream/stream.ts'
import { startWatch } from '#services/admin/stream/watch.ts'
import { createIncidentStore } from '#shared/service/alerts/when-to-alert.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { createLog } from '#shared/runtime/log.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { contextOf, openPorts, type Ports } from '#shared/service/service.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { testRedisUrl } from '#tests/helpers/database.ts'
import { type EventStream, readEvents } from '#tests/helpers/event-stream.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, admit, checkin, onError, rules } from '#tests/kv/drivers.ts'

let dir: string
let ports: Ports
let context: ServiceContext
let stopping: AbortController
/** Reads of the kv's counters, and connections whose idle timeout was shortened. */
let looks = 0
let cut = 0
const faults: string[] = []

beforeAll(async () => {
  dir = await newDirectory('stream')
  await copyMigratedDatabase(dir)
  const log = createLog({}, (line) => void faults.push(line))
  ports = await openPorts(readConfig({ EVENT_DATA_DIR: dir }), log, Date.now, migrateDatabase)
  await activate(ports.kv)
})
afterAll(async () => {
  await ports?.close()
  await rm(dir, { recursive: true, force: true })
})
beforeEach(() => {
  stopping = new AbortController()
  looks = 0
  cut = 0
  const log = createLog({}, (line) => void faults.push(line))
  const counters = () => {
    looks++
    return ports.kv.counters()
  }
  context = {
    ...contextOf(ports, 'admin', log, {
      tls: false,
      addressOf: () => 'test',
      stopping: stopping.signal,
      idleAfter: (_request, seconds) => void (cut += seconds === 0 ? 0 : 1),
    }),
    kv: { ...ports.kv, counters },
  }
})

const ask = (headers: Record<string, string> = {}) => new Request('http://test/stream', { headers })
const listen = (stream: Stream, zoom = 10): EventStream => readEvents(stream.open(ask(), zoom).body!)
const allHave = (readers: readonly EventStream[], name: 'snapshot' | 'counts') =>
  until(() => readers.every((one) => one.all(name).length > 0), `${name} for everyone`)

test('two hundred readers share one poll of the stores, and polling stops when they have left', async () => {
  const stream = createStream(context, { heartbeatMs: 20 })
  const readers = Array.from({ length: 200 }, (_, i) => listen(stream, 6 + (i % 13)))
  await allHave(readers, 'snapshot')
  const before = looks
  await admit(ports.kv, checkin({ userId: 'walker' }))
  await allHave(readers, 'counts')
  expect(looks - before).toBeLessThan(5)
  expect(new Set(readers.map((one) => JSON.stringify(one.all('counts')[0]))).size).toBe(1)
  for (const [i, reader] of readers.entries()) {
    await reader.next('cells')
    expect(reader.all('cells').map(({ zoom }) => zoom)).toContain(6 + (i % 13))
    expect(reader.heartbeats).toBeGreaterThan(0)
  }
  for (const reader of readers) reader.close()
  await until(() => stream.size() === 0, 'all to have left')
  // A poll in progress has ended by then.
  await Bun.sleep(100)
  const after = looks
  await Bun.sleep(1_500)
  expect(looks).toBe(after)
  // Polling starts again with the next reader.
  const next = listen(stream)
  await next.next('snapshot')
  expect(looks).toBeGreaterThan(after)
  next.close()
})

test('a client that does not read is disconnected, and the others are not affected', async () => {
  const stream = createStream(context, { heartbeatMs: 1 })
  const frozen = stream.open(ask(), 10)
  const reader = listen(stream)
  await reader.next('snapshot')
  expect(stream.size()).toBe(2)
  // Four-byte heartbeats would take too long to fill a quarter of a megabyte.
  const message = 'm'.repeat(120_000)
  for (let i = 1; i <= 3; i++) {
    await createIncidentStore(context).remember({
      id: `${i}${message}`,
      openedMs: 0,
      alerts: 1,
      lastAlertMs: 0,
      failures: 1,
      mildSinceMs: null,
      calmSinceMs: null,
    })
    await reader.next('alert', ({ incident }) => incident.id.startsWith(`${i}m`))
  }
  expect(stream.size()).toBe(1)
  expect(cut).toBe(1)
  // Queued events can still be read before the stream ends.
  const late = readEvents(frozen.body!)
  await until(() => late.ended, 'the end')
  expect(late.all('snapshot')).toHaveLength(1)
  expect(reader.ended).toBe(false)
  reader.close()
})

test('an incident is sent when it opens, changes and recovers', async () => {
  const told = createIncidentStore(context)
  await told.remember(null)
  const stream = createStream(context)
  const reader = listen(stream)
  expect(await reader.next('snapshot')).toMatchObject({ incident: null })
  const incident = {
    id: 'i',
    openedMs: 0,
    alerts: 1,
    lastAlertMs: 0,
    failures: 1,
    mildSinceMs: null,
    calmSinceMs: null,
  }
  await told.remember(incident)
  const seen = { id: 'i', opened_at: '1970-01-01T00:00:00.000Z', failure: true }
  expect(await reader.next('alert')).toEqual({ state: 'opened', incident: { ...seen, alerts: 1 } })
  await told.remember({ ...incident, alerts: 2 })
  expect(await reader.next('alert', ({ state }) => state === 'changed')).toMatchObject({
    incident: { alerts: 2 },
  })
  await told.remember(null)
  await reader.next('alert', ({ state }) => state === 'recovered')
  expect(reader.all('alert')).toHaveLength(3)
  reader.close()
})

test('the number of streams is bounded, and a stop ends all of them immediately', async () => {
  const stream = createStream(context, { maxReaders: 3 })
  const readers = Array.from({ length: 3 }, () => listen(stream))
  await allHave(readers, 'snapshot')
  const refused = (): unknown => {
    try {
      return stream.open(ask(), 10)
    } catch (error) {
      return error
    }
  }
  expect(refused()).toMatchObject({ httpStatus: 503, headers: { 'Retry-After': '30' } })
  readers[0]!.close()
  await until(() => stream.size() === 2, 'one to have left')
  readers.push(listen(stream))
  await readers.at(-1)!.next('snapshot')
  stopping.abort()
  await until(() => readers.slice(1).every((one) => one.ended), 'the ends')
  expect(stream.size()).toBe(0)
  expect(refused()).toBeInstanceOf(Refusal)
})

test.skipIf(embeddedOnly)(
  'a cursor never includes more than was sent, however many positions a partition has',
  async () => {
    const kv = await openKv({ url: await testRedisUrl(), partitions: 2, path: '', onError })
    const told = new Set<string>()
    const looks: { cursorMs: number; told: ReadonlySet<string> }[] = []
    const watch = startWatch(
      { ...context, kv },
      {
        event: () => undefined,
        moved(positions) {
          for (const { userId } of positions) told.add(userId)
          looks.push({ cursorMs: watch.cursor.movedMs, told: new Set(told) })
        },
      },
    )
    await watch.ready
    // By the store's clock, which may differ from this process's.
    expect(watch.cursor.movedMs).toBeWithin((await kv.clock()) - 5_000, (await kv.clock()) + 1)
    const crowd = (n: number) => Array.from({ length: n }, () => checkin({ entries: [] }))
    for (let i = 0; i < 30; i++) await kv.restore(0, crowd(400), rules())
    await kv.restore(1, crowd(1), rules())
    const all = (await Promise.all([kv.moved(0, 0, 20_000), kv.moved(1, 0, 20_000)])).flat()
    expect(all).toHaveLength(12_001)
    await until(() => told.size === all.length, 'all to be told')
    expect(looks.length).toBeGreaterThan(2)
    for (const look of looks)
      expect(all.filter((one) => one.movedMs < look.cursorMs && !look.told.has(one.userId))).toBeEmpty()
    // Positions of one millisecond get distinct times, so the clock must reach the last of them.
    const last = Math.max(...all.map(({ movedMs }) => movedMs))
    await until(() => watch.cursor.movedMs === last, 'the cursor to come to the last position')
    watch.stop()
    await kv.close()
  },
)

test('the stream is silent while the kv is unavailable, and then continues', async () => {
  let away = true
  const { KvUnavailable } = await import('#shared/stores/kv/kv.ts')
  const counters = async () => {
    if (away) throw new KvUnavailable('away')
    return ports.kv.counters()
  }
  const stream = createStream({ ...context, kv: { ...ports.kv, counters } })
  const reader = listen(stream)
  expect(await reader.next('snapshot')).toMatchObject({ counts: null, status: { status: 'active' } })
  away = false
  await reader.next('counts')
  reader.close()
  expect(faults.filter((line) => line.includes('"error"'))).toEqual([])
})

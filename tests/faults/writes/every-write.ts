/**
 * Every endpoint that writes, according to the contracts, with a request that succeeds: its example in the
 * API document. The services run in the process of the test, on real stores behind proxies, without their
 * background tasks, so that each command to a store belongs to the request.
 */
import { expect } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import Redis from 'ioredis'
import { createAdmin } from '#services/admin/app.ts'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { createLineBot } from '#services/line-bot/app.ts'
import { createScheduler } from '#services/scheduler/app.ts'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import type { Endpoint, ServiceName } from '#shared/contracts/endpoint.ts'
import { mendKvCopies } from '#shared/pilgrims/kv-copies.ts'
import { storeKnownKey, trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import { fingerprintOf, hashOf } from '#shared/service/security/admin-auth.ts'
import { PRICES } from '#shared/service/security/request-prices.ts'
import type { Service } from '#shared/service/context.ts'
import { cardKey } from '#shared/stores/objects/pictures.ts'
import { png } from '#tests/feedback-media/pictures.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { newPushKeys } from '#tests/helpers/push-service.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'
import { type Server, startNats } from '#tests/helpers/servers.ts'
import { type LinkCondition, openTcpProxy, type TcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { admit, checkin } from '#tests/kv/drivers.ts'
import { failingObjects } from './failing-objects.ts'
import { openFullDisk } from './full-disk.ts'

export const WRITES: readonly Endpoint[] = ENDPOINTS.filter(
  ({ id, method }) => method !== 'GET' || Object.hasOwn(PRICES, id),
)

/** The pilgrim of the examples. */
export const PILGRIM = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
const FOLLOWER = 'U11111111111111111111111111111111'
const UUIDS = {
  tracker: '3b8f0a1c-4a8e-4c6b-9d59-7d0f3c520b2e',
  emergency: '6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c',
  subscription: '0c6b1f0a-1d2e-4a5b-8c7d-9e0f1a2b3c4d',
} as const
const LINK = 'aLinkOfALostPhone0000000'
const KEY = 'k'.repeat(32)
const MADE_TOKEN = 'made-token-of-the-examples'
/** Endpoints whose response waits for a flush. */
const DEMAND_FLUSH: readonly string[] = ['endActivity', 'forceFlush']
const OWNER = { 'X-Admin-Token': 'token-of-owner-0' }

const PARAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  revokeTracker: { id: UUIDS.tracker },
  revokeTrackerOfUser: { id: UUIDS.tracker },
  unsubscribeFromPush: { id: UUIDS.subscription },
  changeShare: { id: LINK },
  revokeShare: { id: LINK },
  viewShare: { id: LINK },
  revokeToken: { fingerprint: fingerprintOf(MADE_TOKEN) },
  confirmEmergency: { id: UUIDS.emergency },
  requeueDeadLetter: { id: '1' },
  dropDeadLetter: { id: '1' },
  updateFeedback: { id: '1' },
}

/** Content of each store before a request: something of every kind that an endpoint changes or deletes. */
const ROWS = `
  INSERT INTO pilgrims (user_id, display_name, phone, privacy_agreed, created_at, updated_at)
    VALUES ('${PILGRIM}', 'Lin', '0912345678', true, now(), now()), ('${FOLLOWER}', 'Mei', NULL, true, now(), now());
  INSERT INTO activity VALUES (1, 'active', 1, NULL, now(), NULL);
  INSERT INTO dead_letters (user_id, field, value, reason, created_at)
    VALUES ('${PILGRIM}', 't' || (extract(epoch FROM now()) * 1000 - 7200000)::bigint, '[0,' || (extract(epoch FROM now()) * 1000)::bigint || ',24.1481,120.6731,1]', 'x', now());
  INSERT INTO trackers VALUES ('${UUIDS.tracker}', '${PILGRIM}', '${trackerKeyHash(KEY)}', 'phone', now());
  INSERT INTO shares (id, user_id, made_by, show_name, created_at, expires_at)
    VALUES ('${LINK}', '${PILGRIM}', 'pilgrim', false, now(), now() + interval '1 day');
  INSERT INTO emergencies (id, user_id, source, sent_at, first_press_at, last_press_at, presses, raised_at)
    VALUES ('${UUIDS.emergency}', '${PILGRIM}', 'app', now(), now(), now(), 1, now());
  INSERT INTO followers VALUES ('${FOLLOWER}', true, now(), NULL);
  INSERT INTO push_subscriptions VALUES ('${UUIDS.subscription}', '${PILGRIM}', 'https://127.0.0.1:9/x', 'p', 'a', now());
  INSERT INTO feedback (user_id, category, description, status, created_at, updated_at)
    VALUES ('${PILGRIM}', 'route', 'x', 'new', now(), now());
  INSERT INTO surveys VALUES ('${PILGRIM}', '{"q1": "a"}', 1, now());
  INSERT INTO admin_tokens VALUES ('${fingerprintOf(MADE_TOKEN)}', '${hashOf(MADE_TOKEN)}', 'made', 'volunteer', now(), 'owner0');`

/** Tables that others change during a request: records of work, and the ledger, which counts commands. */
const OTHERS_TABLES = /^(ledger_|flushes|handled)/
/**
 * Keys that others change: windows of rate limits, the ledger, and caches, since a revoked key makes every
 * replica ask Postgres.
 */
const OTHERS_KEYS = /^(limit:|lock:|partitions|cache:|\{gps:\d+\}:(win:|ledger|probe))/

/** Objects that wait for Postgres, where they become rows. */
const SPOOLED = /^(emergencies|webhooks)\//

/** Replaces ids and times, which differ between runs. */
const plain = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+(?:\+[\d:]+|Z)?/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'UUID')
    .replaceAll(/\b[0-9a-f]{32,64}\b/g, 'HASH')
    .replaceAll(/\d{12,}/g, 'MS')
    .replaceAll(/"(id|fingerprint|hash|request_id|link)": ?"?[\w-]+"?/g, '"$1":ID')

/** Content of the stores, by place. */
export type Snapshot = Readonly<Record<string, readonly string[]>>

/** The differences, by place: lines only in the first, and only in the second. */
export function differences(one: Snapshot, other: Snapshot): string[] {
  const places = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...places].flatMap((place) => {
    const [before, after] = [one[place] ?? [], other[place] ?? []]
    return [
      ...before.filter((line) => !after.includes(line)).map((line) => `- ${place}: ${line}`),
      ...after.filter((line) => !before.includes(line)).map((line) => `+ ${place}: ${line}`),
      ...(before.length === after.length ? [] : [`${place}: ${before.length} → ${after.length}`]),
    ]
  })
}

export const STORES = ['postgres', 'disk', 'redis', 'nats', 'objects'] as const
export type StoreName = (typeof STORES)[number]

/** Makes a store fail. */
interface Failing {
  /** Steps since the last `set`. */
  readonly messages: number | Promise<number>
  set(condition: LinkCondition): void | Promise<void>
}

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[]
  readonly requestBody?: {
    readonly content: Record<
      string,
      { readonly examples?: { readonly example: { readonly value: unknown } } }
    >
  }
}

export interface EveryWrite {
  readonly proxies: Readonly<Record<StoreName, Failing>>
  readonly redis: Redis
  readonly parts: ServiceParts
  /** Fills all stores as before the endpoint's request. If it demands a flush, a scheduler runs. */
  reset(endpoint?: Endpoint): Promise<void>
  /** Ends all faults. */
  mend(): Promise<void>
  /** Sends the endpoint's request. @param body overrides fields of the example */
  send(endpoint: Endpoint, body?: object): Promise<Response>
  /** Sends it. @returns the snapshots before and after it, once its background work is done */
  watch(endpoint: Endpoint, body?: object): Promise<readonly [Snapshot, Snapshot]>
  snapshot(): Promise<Snapshot>
  /** Runs the background tasks of the endpoint's service, until `isDone`. */
  settle(endpoint: Endpoint, isDone: () => Promise<boolean>): Promise<boolean>
  close(): Promise<void>
}

const CREATE = {
  tracking: createTracking,
  'survey-profile': createSurveyProfile,
  'feedback-media': createFeedbackMedia,
  admin: createAdmin,
  'line-bot': createLineBot,
} satisfies Partial<Record<ServiceName, unknown>>
type Served = keyof typeof CREATE

const behind = (url: string, { port }: TcpProxy): string => {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
const portOf = (url: string): number => Number(new URL(url).port)

/** @param redisServer a separate server, otherwise the shared one */
export async function openEveryWrite(redisServer?: Server): Promise<EveryWrite> {
  const [database, redisUrl, nats] = await Promise.all([
    openTestDatabase(),
    redisServer?.url ?? testRedisUrl(),
    startNats(),
  ])
  const [postgres, redisProxy, natsProxy] = await Promise.all(
    [database.url, redisUrl, nats.url].map((url) => openTcpProxy(portOf(url))),
  )
  const links = { postgres: postgres!, redis: redisProxy!, nats: natsProxy! }
  const dir = await newDirectory('every-write')
  const settings = {
    ...SETTINGS,
    ...newPushKeys(),
    EVENT_DATA_DIR: dir,
    EVENT_FLUSH_SECONDS: '86400',
    EVENT_LIMIT_ADDRESS_WRITE: '1000000',
    EVENT_LIMIT_ADMIN: '1000000',
  }
  const parts = await openServiceParts({
    ...settings,
    DATABASE_URL: behind(database.url, links.postgres),
    REDIS_URL: behind(redisUrl, links.redis),
    NATS_URL: behind(nats.url, links.nats),
  })
  const failing = failingObjects(parts.ports.objects)
  // The test's own access and the scheduler are not disturbed by faults.
  const others = await openServiceParts({
    ...settings,
    EVENT_DATA_DIR: await newDirectory('others'),
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    NATS_URL: nats.url,
  })
  const { db, kv, objects } = others.ports
  const redis = new Redis(redisUrl)

  const services = new Map<Served, Service>()
  const serviceOf = (name: Served): Service =>
    services.getOrInsertComputed(name, () => CREATE[name]({ ...parts.context(name), objects: failing.store }))
  const documented = await serviceOf('admin').fetch(new Request('http://localhost/api/event/openapi.json'))
  const { paths } = (await documented.json()) as { paths: Record<string, Record<string, Operation>> }
  const operations = new Map(
    Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((one) => [one.operationId, one] as const),
    ),
  )
  const tables = (
    await db.sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`
  ).map(({ name }) => name)
  const proxies = { ...links, disk: await openFullDisk(db, tables), objects: failing.proxy }
  const kept = tables.filter((name) => !OTHERS_TABLES.test(name))
  // The first settings are written by a background task.
  const some = (name: string) => (name === 'event_settings' ? 'WHERE changed_by IS NOT NULL' : '')
  const rowsOf = kept.map(
    (name) => `SELECT '${name}' AS name, row_to_json(t)::text AS row FROM ${name} t ${some(name)}`,
  )
  const sequences = (
    await db.sql<{ name: string }[]>`
      SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public'`
  ).map(({ name }) => `ALTER SEQUENCE ${name} RESTART;`)
  const empty = tables.map((name) => `DELETE FROM ${name};`).join('') + sequences.join('')
  let stopScheduler = async (): Promise<void> => undefined
  async function startScheduler(): Promise<void> {
    const context = others.context('scheduler')
    const scheduler = createScheduler(context)
    await scheduler.start()
    stopScheduler = async () => {
      await scheduler.stop()
      await context.outbox.stop()
      stopScheduler = async () => undefined
    }
    // It flushes when it starts.
    await until(async () => (await db.sql`SELECT FROM flushes`).length > 0, 'the first flush')
  }

  const everyWrite: EveryWrite = {
    proxies,
    redis,
    parts,
    async reset(endpoint) {
      await stopScheduler()
      await everyWrite.mend()
      // Otherwise a journal of an earlier request would be stored by this service.
      await services.get('tracking')?.stop()
      services.delete('tracking')
      await rm(join(dir, 'journal'), { recursive: true, force: true })
      await db.read(() => db.sql.unsafe(empty + ROWS))
      await redis.flushdb()
      for await (const key of objects.list('')) await objects.delete(key)
      for await (const key of parts.ports.objects.list('')) await parts.ports.objects.delete(key)
      await kv.setStatus({ status: 'active', version: 1, message: null })
      await admit(kv, checkin({ userId: PILGRIM, position: { t: Date.now(), lat: 24.15, lng: 120.67 } }))
      await storeKnownKey(kv, trackerKeyHash(KEY), { userId: PILGRIM, checkedMs: Date.now() })
      await parts.ports.objects.put(cardKey(PILGRIM), png(8, 8), { contentType: 'image/png' })
      if (endpoint !== undefined && DEMAND_FLUSH.includes(endpoint.id)) await startScheduler()
    },
    async mend() {
      const { ended } = links.postgres
      for (const proxy of Object.values(proxies)) await proxy.set({ kind: 'clear' })
      const isUp = () =>
        Promise.all([parts.ports.db.probe(), parts.ports.kv.probe()]).then(
          () => parts.ports.bus.connected(),
          () => false,
        )
      await until(isUp, 'the stores behind the proxies', { everyMs: 10 })
      // It may still be executing commands sent before the connection ended.
      const ofEnded = () => db.sql`SELECT FROM pg_stat_activity WHERE client_port = ANY(${[...ended]}::int[])`
      await until(async () => (await ofEnded()).length === 0, 'Postgres to end these connections')
    },
    async send(endpoint, changes) {
      const { parameters, requestBody } = operations.get(endpoint.id)!
      const given = { ...PARAMS[endpoint.id], key: KEY }
      const query = new URLSearchParams()
      let path = endpoint.path
      for (const { name, in: place, example } of parameters) {
        const value = String((given as Record<string, string>)[name] ?? example)
        if (place === 'path') path = path.replace(`:${name}`, value)
        if (place === 'query' && example !== undefined) query.set(name, value)
      }
      const content = requestBody?.content ?? {}
      const json = content['application/json']?.examples?.example.value as object | undefined
      const form = content['application/x-www-form-urlencoded']?.examples?.example.value
      const body =
        endpoint.id === 'uploadScreenshot'
          ? png(8, 8)
          : json !== undefined
            ? JSON.stringify({ ...json, ...changes })
            : form !== undefined
              ? new URLSearchParams(form as Record<string, string>)
              : null
      const request = new Request(`http://localhost${path}${query.size > 0 ? `?${query}` : ''}`, {
        method: endpoint.method,
        headers: {
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...(endpoint.access === 'public' ? {} : OWNER),
        },
        ...(body !== null && { body }),
      })
      return serviceOf(endpoint.service as Served).fetch(request)
    },
    async snapshot() {
      const found: Record<string, string[]> = {}
      const add = (place: string, text: string) => void (found[place] ??= []).push(plain(text))
      const rows = await db.sql.unsafe<{ name: string; row: string }[]>(rowsOf.join(' UNION ALL '))
      for (const { name, row } of rows) add(name, row)
      for (const key of await redis.keys('*')) {
        if (OTHERS_KEYS.test(key)) continue
        const type = await redis.type(key)
        const value =
          type === 'hash'
            ? Object.entries(await redis.hgetall(key)).sort(([a], [b]) => (a < b ? -1 : 1))
            : type === 'set'
              ? (await redis.smembers(key)).sort()
              : type === 'zset'
                ? await redis.zrange(key, 0, '-1')
                : await redis.get(key)
        add(`redis ${plain(key)}`, JSON.stringify(value))
      }
      for await (const key of parts.ports.objects.list('')) if (!SPOOLED.test(key)) add('objects', key)
      for (const list of Object.values(found)) list.sort()
      return found
    },
    async watch(endpoint, changes) {
      const before = await everyWrite.snapshot()
      const answer = await everyWrite.send(endpoint, changes)
      const text = await answer.text()
      expect({ status: answer.status, text: answer.ok ? '' : text }).toEqual({
        status: answer.status,
        text: '',
      })
      let after = await everyWrite.snapshot()
      const rests = async () => {
        const last = after
        await Bun.sleep(100)
        return differences(last, (after = await everyWrite.snapshot())).length === 0
      }
      await until(rests, 'the stores to rest')
      return [before, after]
    },
    async settle({ service: name }, isDone) {
      const service = serviceOf(name as Served)
      await service.start()
      const done = await until(
        async () => {
          await mendKvCopies(others.context('mend'))
          return isDone()
        },
        'the background tasks',
        { timeoutMs: 8_000, everyMs: 100 },
      ).then(
        () => true,
        () => false,
      )
      await service.stop()
      services.delete(name as Served)
      return done
    },
    async close() {
      await stopScheduler()
      for (const service of services.values()) await service.stop()
      redis.disconnect()
      await parts.close()
      await others.close()
      await Promise.all([...Object.values(links).map((proxy) => proxy.close()), nats.close()])
      await database.drop()
      await rm(dir, { recursive: true, force: true })
    },
  }
  return everyWrite
}

/**
 * The system under test: six services (tracking twice) behind Caddy, with its own Postgres, Redis, NATS and stand-in
 * for LINE. Some services reach some stores through a TCP proxy, a link that a fault can cut.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Environment } from '#shared/runtime/config/config.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { migrate } from '#shared/stores/db/migrate.ts'
import { lineSettings, type LineServer, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type Server, startNats, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { mountSmallDisk, type SmallDisk } from '#tests/helpers/small-disk.ts'
import { openTcpProxy, type TcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { type OwnedTestStack, openTestStackOn } from '#tests/helpers/test-stack-real.ts'
import { type Clocks, openClocks } from './clocks.ts'

export type Store = 'postgres' | 'redis' | 'nats'
export type Part = ServiceName | 'tracking-2' | Store | 'caddy'

export const SERVICES: readonly Part[] = [...ServiceName.options, 'tracking-2']
export const PARTS: readonly Part[] = [...SERVICES, 'postgres', 'redis', 'nats', 'caddy']

/** Connections through a proxy; all others are direct. */
const LINKS = [
  ['tracking-2', 'redis'],
  ['tracking-2', 'postgres'],
  ['scheduler', 'redis'],
  ['scheduler', 'postgres'],
  ['admin', 'redis'],
  ['survey-profile', 'postgres'],
  ['line-bot', 'postgres'],
  ['line-bot', 'nats'],
] as const satisfies readonly (readonly [Part, Store])[]
export type Link = `${(typeof LINKS)[number][0]}→${Store}`

const SETTING: Record<Store, string> = {
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
  nats: 'NATS_URL',
}
const REDIS_DISK_KIB = 131_072
const JOURNAL_DISK_KIB = 8_192

/** The recipient of alerts. */
export const OWNER = lineUser(0x0a11)
/** The recipients of messages about pauses. */
export const VOLUNTEERS = [1, 2, 3].map((n) => lineUser(0x0b00 + n))

/** Stores that are clusters of servers. */
export interface ClusterStores {
  readonly nats: readonly Server[]
  /** kill -9 of Postgres's primary, then promotion of its standby, as an operator does it. */
  promote(): Promise<void>
  /** Makes the killed primary a standby of the new one. */
  follow(): Promise<void>
}

export interface TestSystem {
  readonly stack: OwnedTestStack
  readonly line: LineServer
  readonly sql: postgres.Sql
  /** Null where small disks cannot be mounted. */
  readonly redisDisk: SmallDisk | null
  readonly journalDisk: SmallDisk | null
  /** Null where clocks cannot be set. */
  readonly clocks: Clocks | null
  /** Null if each store is one server. */
  readonly cluster: ClusterStores | null
  part(name: Part): Server
  link(name: Link): TcpProxy
  close(): Promise<void>
}

const partOf = (name: ServiceName, replica: number): Part =>
  name === 'tracking' && replica === 1 ? 'tracking-2' : name

/**
 * Opens the system. If a start fails, closes what is open.
 * @param more settings that override the defaults
 */
export async function openTestSystem(more: Environment = {}): Promise<TestSystem> {
  await using opening = new AsyncDisposableStack()
  const system = await openParts(opening, more)
  const opened = opening.move()
  return { ...system, close: () => opened.disposeAsync() }
}

async function openParts(
  opening: AsyncDisposableStack,
  more: Environment,
): Promise<Omit<TestSystem, 'close'>> {
  const disk = async (kib: number) => {
    const mounted = await mountSmallDisk(kib)
    if (mounted !== null) opening.defer(() => mounted.unmount())
    return mounted
  }
  const [redisDisk, journalDisk, clocks] = [
    await disk(REDIS_DISK_KIB),
    await disk(JOURNAL_DISK_KIB),
    await openClocks(),
  ]
  opening.defer(() => clocks?.close())
  const stores = await startStores(opening, redisDisk, clocks)
  const line = startLineServer()
  opening.defer(() => line.stop())
  const links = new Map<string, TcpProxy>()
  for (const [from, to] of LINKS) links.set(`${from}→${to}`, opening.use(await openTcpProxy(stores[to].port)))
  await migrate(stores.postgres.url)
  const sql = postgres(stores.postgres.url, { max: 2, idle_timeout: 5, onnotice: () => undefined })
  opening.defer(() => sql.end({ timeout: 1 }))

  const settingsOf = (name: ServiceName, replica: number): Environment => {
    const part = partOf(name, replica)
    const env: Record<string, string | undefined> = { ...clocks?.env(part) }
    if (name === 'tracking' && journalDisk !== null) env.EVENT_DATA_DIR = journalDisk.dir
    for (const [from, to] of LINKS)
      if (from === part) {
        const url = new URL(stores[to].url)
        url.port = `${links.get(`${from}→${to}`)!.port}`
        env[SETTING[to]] = url.href
      }
    return env
  }
  const settings = { ...lineSettings(line), EVENT_ALERT_USER_ID: OWNER, EVENT_LIMIT_ADMIN: '10000', ...more }
  const urls = { databaseUrl: stores.postgres.url, redisUrl: stores.redis.url, natsUrl: stores.nats.url }
  const opened = await openTestStackOn({ settings, settingsOf }, { ...urls, close: async () => undefined })
  opening.defer(() => opened.close())
  const stack: OwnedTestStack = Object.assign(opened, stores)
  const part = (name: Part): Server => {
    if (name === 'caddy') return stack.caddy
    if (name === 'postgres' || name === 'redis' || name === 'nats') return stores[name]
    return name === 'tracking-2' ? stack.service('tracking', 1) : stack.service(name)
  }
  const link = (name: Link) => {
    const found = links.get(name)
    if (found === undefined) throw new Error(`there is no link ${name}`)
    return found
  }
  return { stack, line, sql, redisDisk, journalDisk, clocks, cluster: null, part, link }
}

async function startStores(
  opening: AsyncDisposableStack,
  disk: SmallDisk | null,
  clocks: Clocks | null,
): Promise<Record<Store, Server>> {
  const dir = disk === null ? await newDirectory('redis') : join(disk.dir, 'redis')
  await mkdir(dir, { recursive: true })
  // Redis rewrites its append-only file long before the file fills the small disk.
  const args = ['--auto-aof-rewrite-min-size', '16mb']
  return {
    postgres: opening.use(await startPostgres({ env: clocks?.env('postgres') ?? {} })),
    redis: opening.use(await startRedis({ dir, args })),
    nats: opening.use(await startNats()),
  }
}

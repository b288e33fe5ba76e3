/**
 * The real test stack: the services behind Caddy, on Postgres, Redis and NATS. They run in one process, or each in its
 * own if a test asks for one of them.
 */
import { readMetric } from './metrics.ts'
import { existsSync, linkSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildPages, siteKey } from '#proxy/pages/build/build-pages.ts'
import { mapTilesOf } from '#proxy/pages/build/map-tiles.ts'
import { writeSite } from '#proxy/pages/build/write-site.ts'
import { type Environment, readConfig } from '#shared/runtime/config/config.ts'
import { firstEvent } from '#shared/pilgrims/event-settings.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { openTestDatabase, testRedisUrl } from './database.ts'
import { described } from './openapi-check.ts'
import { newDirectory, type Server, startServer } from './process.ts'
import { freePort, startCaddy, startNats, startPostgres, startRedis } from './servers.ts'
import { until } from './wait.ts'
import { checkIn, errorLinesIn, healthOf, newPilgrimId, SETTINGS, type TestStack } from './test-stack.ts'

const RECOVERY_MS = 30_000
const ROOT = join(import.meta.dir, '../..')

export interface RealTestStack extends TestStack {
  readonly kind: 'real'
  /** Processes of a service: kill -9, freeze, restart. */
  service(name: ServiceName, replica?: number): Server
  /** The URLs of a service's processes, without Caddy. */
  urlsOf(name: ServiceName): string[]
  readonly caddy: Server
  readonly databaseUrl: string
  readonly redisUrl: string
  /** The settings of all its services. */
  readonly settings: Environment
  /** The folder from which Caddy serves the pages. Stacks of the same event share it. */
  readonly pagesDirectory: string
}

/** A test stack with its own stores, which a test may stop. */
export interface OwnedTestStack extends RealTestStack {
  readonly postgres: Server
  readonly redis: Server
  readonly nats: Server
}

/** The stores of a test stack. */
export interface Stores {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly natsUrl: string
  close(): Promise<void>
}

export interface RealOptions {
  readonly settings?: Environment
  /** Settings of one process; they override those of all. */
  readonly settingsOf?: (name: ServiceName, replica: number) => Environment
  /** The services with their own process, which can be stopped (default: all). The others share one. */
  readonly apart?: readonly ServiceName[]
  /** The separate services that run as two processes behind Caddy (default: tracking). */
  readonly doubled?: readonly ServiceName[]
  /** The checkout whose services run, each in its own process (default: this one). */
  readonly root?: string
  /** Additional arguments of stores that the test stack starts itself. */
  readonly postgresArgs?: readonly string[]
  readonly redisArgs?: readonly string[]
  /** Changes the text of the Caddyfile (default: unchanged). */
  readonly changeCaddyfile?: (written: string) => string
}

/** Opens a test stack on the run's Postgres and Redis, with its own database, logical Redis database and NATS. */
export async function openRealTestStack(options: RealOptions = {}): Promise<RealTestStack> {
  const [database, redisUrl, nats] = await Promise.all([openTestDatabase(), testRedisUrl(), startNats()])
  return openTestStackOn(options, {
    databaseUrl: database.url,
    redisUrl,
    natsUrl: nats.url,
    close: async () => void (await Promise.all([database.drop(), nats.close()])),
  })
}

/** Opens a test stack on its own servers. */
export async function openOwnedTestStack(options: RealOptions = {}): Promise<OwnedTestStack> {
  const { migrate } = await import('#shared/stores/db/migrate.ts')
  const [postgres, redis, nats] = await Promise.all([
    startPostgres({ args: options.postgresArgs ?? [] }),
    startRedis({ args: options.redisArgs ?? [] }),
    startNats(),
  ])
  const close = async () => {
    await Promise.all([postgres.close(), redis.close(), nats.close()])
  }
  await migrate(postgres.url)
  const stores = { databaseUrl: postgres.url, redisUrl: redis.url, natsUrl: nats.url, close }
  return Object.assign(await openTestStackOn(options, stores), { postgres, redis, nats })
}

/** Opens a test stack on migrated stores. Closing the stack closes them. */
export async function openTestStackOn(
  {
    settings = {},
    settingsOf = () => ({}),
    apart = ServiceName.options,
    doubled = ['tracking'],
    root,
    changeCaddyfile,
  }: RealOptions,
  stores: Stores,
): Promise<RealTestStack> {
  const [data, map] = await Promise.all([newDirectory('stack'), newDirectory('map')])
  const env = {
    ...SETTINGS,
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    NATS_URL: stores.natsUrl,
    EVENT_DATA_DIR: data,
    EVENT_MAP_DIR: map,
    ...settings,
  }
  const isApart = (name: ServiceName) => apart.includes(name)
  const placesOf = (names: readonly ServiceName[], replica: number) =>
    names.map((name) => ({ name, replica, port: freePort() }))
  const places = [...placesOf(ServiceName.options, 0), ...placesOf(doubled.filter(isApart), 1)]
  const together = places.filter(({ name }) => !isApart(name))
  const startEach = (replica: number) =>
    Promise.all(
      places.map(async (place) =>
        place.replica === replica && isApart(place.name)
          ? startService(place.name, { ...env, ...settingsOf(place.name, replica) }, root, place.port)
          : undefined,
      ),
    )
  const startAll = async () => {
    const [one, first] = await Promise.all([
      together.length > 0 ? startServices(env, together) : undefined,
      startEach(0),
    ])
    // Sequential: more processes at once start more slowly than each may.
    const second = await startEach(1)
    return places.map((_, i) => first[i] ?? second[i] ?? one!)
  }
  const address = (name: ServiceName) =>
    places
      .filter((place) => place.name === name)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(' ')
  const serve = async (pagesDirectory: string) =>
    startCaddy({
      caddyfile: await caddyfileBy(changeCaddyfile),
      env: {
        PAGES_DIR: pagesDirectory,
        MAP_DIR: map,
        PRIMARY_HOST: 'localhost',
        ALIAS_HOST: '127.0.0.1',
        UPSTREAM_DISCOVERY: 'list',
        TRACKING_UPSTREAM: address('tracking'),
        SURVEY_PROFILE_UPSTREAM: address('survey-profile'),
        FEEDBACK_MEDIA_UPSTREAM: address('feedback-media'),
        ADMIN_UPSTREAM: address('admin'),
        LINE_BOT_UPSTREAM: address('line-bot'),
      },
    })
  const pages = builtPages(env)
  const [started, pagesDirectory, caddy] = await Promise.all([startAll(), pages, pages.then(serve)])
  const processes = [...new Set(started)]
  const service = (name: ServiceName, replica = 0): Server => {
    const found = started[places.findIndex((place) => place.name === name && place.replica === replica)]
    if (found === undefined) throw new Error(`no ${replica + 1}. process of ${name}`)
    return found
  }
  const ca = readFileSync(caddy.rootCertificate, 'utf8')
  return {
    kind: 'real',
    port: caddy.port,
    ca,
    databaseUrl: stores.databaseUrl,
    redisUrl: stores.redisUrl,
    settings: env,
    pagesDirectory,
    service,
    urlsOf: (name) =>
      places.filter((place) => place.name === name).map(({ port }) => `http://127.0.0.1:${port}`),
    caddy,
    fetch: async (path, init, host = 'localhost') =>
      described(
        path,
        init?.method ?? 'GET',
        await fetch(`https://${host}:${caddy.port}${path}`, { ...init, tls: { ca } }),
      ),
    complaints: () =>
      processes.flatMap(({ dir }) => errorLinesIn(readFileSync(join(dir, 'server.log'), 'utf8'))),
    async close() {
      await Promise.all([caddy, ...processes].map((server) => server.close()))
      await stores.close()
    },
  }
}

/** The path of the Caddyfile, or of a changed copy that imports the same snippets. */
async function caddyfileBy(change: RealOptions['changeCaddyfile']): Promise<string> {
  const path = join(ROOT, 'Caddyfile')
  if (change === undefined) return path
  const copy = join(await newDirectory('caddyfile'), 'Caddyfile')
  await Bun.write(
    copy,
    change(await Bun.file(path).text()).replace('import proxy/', `import ${join(ROOT, 'proxy')}/`),
  )
  return copy
}

/** A link appears atomically. Another test file may create the same one concurrently. */
function linkAsset(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The pages, built once for each event. Outside `bun run test` the directory belongs to the stack. */
async function builtPages(env: Environment): Promise<string> {
  const settings = readConfig(env)
  const parent = process.env.TEST_DIRECTORY ?? (await newDirectory('pages'))
  const directory = join(parent, `pages-${siteKey(settings, firstEvent(settings))}`)
  // Test files run in parallel; each writes the same bytes, and every file appears whole.
  if (existsSync(join(directory, '.files.json'))) return directory
  // Files shared with pages of other events are already compressed.
  for (const list of new Bun.Glob('pages-*/.files.json').scanSync({ cwd: parent, dot: true }))
    for (const path of JSON.parse(readFileSync(join(parent, list), 'utf8')) as string[])
      if (path.startsWith('/assets/') && !existsSync(join(directory, path)))
        linkAsset(join(parent, dirname(list), path), join(directory, path))
  writeSite(await buildPages(settings, firstEvent(settings)), directory, await mapTilesOf(settings))
  return directory
}

/**
 * Starts `bun services/<name>/app.ts` and waits until it is ready.
 * @param root the checkout to run; default: this one
 * @param port default: a free one
 */
export async function startService(
  name: ServiceName,
  env: Environment,
  root = ROOT,
  port = freePort(),
): Promise<Server> {
  return startServer({
    name,
    // Releases before 1.2.0 start from `main.ts`.
    command: [
      process.execPath,
      ['main.ts', 'app.ts'].map((file) => join(root, 'services', name, file)).find(existsSync)!,
    ],
    dir: await newDirectory(name),
    port,
    url: `http://127.0.0.1:${port}`,
    env: { ...(env as Record<string, string>), PORT: `${port}` },
    ready: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok,
  })
}

/** Starts services in one process. */
async function startServices(
  env: Environment,
  places: readonly { readonly name: ServiceName; readonly port: number }[],
): Promise<Server> {
  const urls = places.map(({ port }) => `http://127.0.0.1:${port}`)
  const ports = Object.fromEntries(places.map(({ name, port }) => [name, port]))
  return startServer({
    name: 'services',
    command: [process.execPath, join(import.meta.dir, 'run-services.ts')],
    dir: await newDirectory('services'),
    port: places[0]!.port,
    url: urls[0]!,
    env: { ...(env as Record<string, string>), SERVICE_PORTS: JSON.stringify(ports) },
    ready: async () => {
      const answers = await Promise.all(urls.map((url) => fetch(`${url}/readyz`)))
      return answers.every(({ ok }) => ok)
    },
  })
}

/** Each replica's answer to a check-in, without the proxy: `admitted`, or the code of its refusal. */
export const checkInAtReplicas = (stack: RealTestStack): Promise<string[]> =>
  Promise.all(
    stack.urlsOf('tracking').map(async (url) => {
      const fetch: TestStack['fetch'] = (path, init) => globalThis.fetch(`${url}${path}`, init)
      const { code = 'admitted' } = (await (await checkIn({ fetch }, newPilgrimId())).json()) as {
        code?: string
      }
      return code
    }),
  )

/** The output of each service, each replica of tracking and Caddy so far. */
export function logsOf(stack: RealTestStack): { readonly name: string; readonly log: string }[] {
  const processes = [
    ...ServiceName.options.map((name) => ({ name: name, server: stack.service(name) })),
    { name: 'tracking 2', server: stack.service('tracking', 1) },
    { name: 'caddy', server: stack.caddy },
  ]
  return processes.map(({ name, server }) => ({
    name,
    log: readFileSync(join(server.dir, 'server.log'), 'utf8'),
  }))
}

/** Check-ins in the journals of all running replicas of tracking. */
export async function journaled(stack: RealTestStack): Promise<number> {
  const each = await Promise.all(
    stack.urlsOf('tracking').map((url) => readMetric({ url }, 'event_journal_check_ins')),
  )
  return each.reduce((sum, count) => sum + count, 0)
}

/** Resolves when the health report is `ok` after an outage and all journals are empty. */
export async function recovered(stack: RealTestStack): Promise<void> {
  await until(
    async () => (await healthOf(stack)).status === 'ok' && (await journaled(stack)) === 0,
    'health, and empty journals',
    { timeoutMs: RECOVERY_MS },
  )
}

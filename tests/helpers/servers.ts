/**
 * The real parts, each on a free loopback port with data of its own: for the run as a whole, and singly for tests
 * that stop, freeze or kill them.
 */
import { realpathSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { dirname, join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { newDirectory, runToEnd, type Server, startServer } from './process.ts'
import { commandPath } from './programs.ts'
import { until } from './wait.ts'

export type { Server }

/** Logical databases of one Redis: more than one run has test files that ask for one at the same time. */
export const REDIS_DATABASES = 256

/** Bound for a cluster's nodes to agree on who holds which slots. */
const CLUSTER_MS = 30_000

const given = new Set<number>()

/**
 * A loopback port that nobody listens on. It lies below the range that systems take for outgoing connections
 * (Linux from 32768, others from 49152): a client that keeps knocking at a stopped server would otherwise be
 * given that server's port in the end, and the server could not come back.
 */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (given.has(port) || !isFree(port)) continue
    given.add(port)
    return port
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}

/** PostgreSQL with fsync on, without a password for `postgres`; its URL names the database `postgres`. */
export async function startPostgres(options: { args?: readonly string[] } = {}): Promise<Server> {
  // Postgres refuses to run as root; its packages bring a user of this name.
  const user = process.getuid?.() === 0 ? 'postgres' : undefined
  const bin = dirname(realpathSync(commandPath('initdb')))
  const dir = await newDirectory('postgres', user)
  const data = join(dir, 'data')
  const cluster = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
  await runToEnd([join(bin, 'initdb'), `--pgdata=${data}`, ...cluster], user)
  const port = freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
  ]
  return startServer({
    name: 'postgres',
    command: [
      ...[join(bin, 'postgres'), '-D', data, '-p', `${port}`],
      ...[...settings, ...(options.args ?? [])].flatMap((setting) => ['-c', setting]),
    ],
    dir,
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    ...(user === undefined ? {} : { user }),
    ready: (pid) => postmasterIsReady(join(data, 'postmaster.pid'), pid),
  })
}

/** As `pg_ctl --wait` tells it: the file's first line is the process id, its eighth the state. */
async function postmasterIsReady(pidFile: string, pid: number): Promise<boolean> {
  const lines = (await Bun.file(pidFile).text()).split('\n')
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

/** Redis as production runs it: append-only file synced at every write, no eviction. */
export async function startRedis(
  options: { port?: number; dir?: string; args?: readonly string[] } = {},
): Promise<Server> {
  const { port = freePort(), dir = await newDirectory('redis'), args = [] } = options
  return startServer({
    name: 'redis',
    command: [
      ...[commandPath('redis-server'), '--bind', '127.0.0.1', '--port', `${port}`, '--dir', dir],
      ...['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'],
      ...['--hash-max-listpack-entries', '32', '--databases', `${REDIS_DATABASES}`, ...args],
    ],
    dir,
    port,
    url: `redis://127.0.0.1:${port}`,
    ready: async () => (await ask(port, 'PING\r\n')).startsWith('+PONG'),
  })
}

export interface RedisCluster extends AsyncDisposable {
  /** All nodes, comma-separated, as `REDIS_URL` takes them. */
  readonly url: string
  readonly nodes: readonly Server[]
  close(): Promise<void>
}

/** A Redis Cluster, all slots served: the first nodes are masters, each with so many of the others for replicas. */
export async function startRedisCluster(masters = 3, replicas = 0): Promise<RedisCluster> {
  const started = await Promise.all(Array.from({ length: masters * (1 + replicas) }, startClusterNode))
  const close = async () => void (await Promise.all(started.map((node) => node.close())))
  try {
    const addresses = started.map((node) => `127.0.0.1:${node.port}`)
    const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', `${replicas}`, '--cluster-yes']
    await runToEnd([commandPath('redis-cli'), ...create])
    const isOk = async (node: Server) =>
      (await ask(node.port, 'CLUSTER INFO\r\n')).includes('cluster_state:ok') &&
      !(await ask(node.port, 'INFO replication\r\n')).includes('master_link_status:down')
    await until(async () => (await Promise.all(started.map(isOk))).every(Boolean), {
      timeoutMs: CLUSTER_MS,
      what: 'all nodes of the Redis Cluster to report cluster_state:ok',
    })
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: started.map((node) => node.url).join(','),
    nodes: started,
    close,
    [Symbol.asyncDispose]: close,
  }
}

const startClusterNode = (): Promise<Server> =>
  startRedis({
    args: [
      ...['--cluster-enabled', 'yes', '--cluster-port', `${freePort()}`, '--cluster-node-timeout', '2000'],
      // One node's slots must stay in reach while a test has another one stopped.
      ...['--cluster-require-full-coverage', 'no'],
    ],
  })

/** NATS with JetStream. */
export async function startNats(): Promise<Server> {
  const port = freePort()
  const dir = await newDirectory('nats')
  return startServer({
    name: 'nats',
    command: [commandPath('nats-server'), '-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', dir],
    dir,
    port,
    url: `nats://127.0.0.1:${port}`,
    ready: async () => (await ask(port, '')).startsWith('INFO'),
  })
}

export interface CaddyServer extends Server {
  /** The root that signs what `tls internal` hands out; there is no such file with certificates of one's own. */
  readonly rootCertificate: string
}

/**
 * Caddy with a Caddyfile, its storage in a directory of its own.
 * @param options.port the port the Caddyfile listens on; it also gets it as `HTTPS_PORT`
 * @param options.host a site of that Caddyfile: it counts as started when a TLS handshake for it succeeds
 */
export async function startCaddy(options: {
  caddyfile: string
  env?: Readonly<Record<string, string>>
  port?: number
  host?: string
}): Promise<CaddyServer> {
  const { caddyfile, env = {}, port = freePort(), host = 'localhost' } = options
  const dir = await newDirectory('caddy')
  const server = await startServer({
    name: 'caddy',
    command: [commandPath('caddy'), 'run', '--adapter', 'caddyfile', '--config', caddyfile],
    dir,
    port,
    url: `https://${host}:${port}`,
    env: { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir, HTTPS_PORT: `${port}`, ...env },
    ready: () => shakesHands(port, host),
  })
  return Object.assign(server, { rootCertificate: join(dir, 'caddy/pki/authorities/local/root.crt') })
}

/** Looks at no certificate: whom to trust is the test's question. */
function shakesHands(port: number, servername: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
    socket.once('secureConnect', () => (socket.destroy(), resolve(true)))
    socket.once('error', reject)
  })
}

/** Sends a line and gives the first answer; rejects when nobody listens or answers. */
function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(port, '127.0.0.1', () => void socket.write(line))
    socket.once('data', (answer) => (resolve(answer.toString()), socket.destroy()))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`port ${port} hung up`)))
  })
}

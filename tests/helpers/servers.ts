/**
 * Real servers, each on a free loopback port with its own data: shared by the run, or for one test that stops,
 * freezes or kills them.
 */
import { closeSync, openSync, realpathSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { dirname, join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { newDirectory, runToEnd, type Server, startServer } from './process.ts'
import { commandPath } from './programs.ts'
import { until } from './wait.ts'

export type { Server }

/** Logical databases of one Redis: more than the test files of a run that use one at the same time. */
export const REDIS_DATABASES = 256

/** Timeout for a cluster's nodes to agree on their slots. */
const CLUSTER_MS = 30_000

const given = new Set<number>()

/**
 * A free loopback port, below the range of outgoing connections (Linux: above 32768, others: above 49152). Within that
 * range, a client that retries a stopped server could itself get the server's port, and the server could not restart.
 */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (given.has(port) || !isFree(port) || !isMine(port)) continue
    given.add(port)
    return port
  }
}

/** Whether no other test file of this run has reserved the port; its server may not listen yet. */
function isMine(port: number): boolean {
  const { TEST_DIRECTORY } = process.env
  if (TEST_DIRECTORY === undefined) return true
  try {
    closeSync(openSync(join(TEST_DIRECTORY, `port-${port}`), 'wx'))
    return true
  } catch {
    return false
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

/** Most servers sort text by language rules, where a comes before B: nothing may depend on another order. */
const LOCALE = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US']

/**
 * PostgreSQL with fsync on, without a password for `postgres`; its URL names the database `postgres`.
 * @param options.standbyOf the server to replicate
 */
export async function startPostgres(
  options: { args?: readonly string[]; env?: Readonly<Record<string, string>>; standbyOf?: Server } = {},
): Promise<Server> {
  // Postgres refuses to run as root; its packages create a user of this name.
  const user = process.getuid?.() === 0 ? 'postgres' : undefined
  const bin = dirname(realpathSync(commandPath('initdb')))
  const dir = await newDirectory('postgres', user)
  const data = join(dir, 'data')
  const cluster = ['--username=postgres', '--auth=trust', '--encoding=UTF8', ...LOCALE, '--no-sync']
  if (options.standbyOf === undefined)
    await runToEnd([join(bin, 'initdb'), `--pgdata=${data}`, ...cluster], user)
  else await copyPostgres(options.standbyOf, dir)
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
      // Set by `env`, after the user has changed: preloaded libraries must not start as root.
      'env',
      ...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`),
      join(bin, 'postgres'),
      '-D',
      data,
      '-p',
      `${port}`,
      ...[...settings, ...(options.args ?? [])].flatMap((setting) => ['-c', setting]),
    ],
    dir,
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    ...(user === undefined ? {} : { user }),
    ready: (pid) => postmasterIsReady(join(data, 'postmaster.pid'), pid),
  })
}

/** Replaces the data of a stopped server, in `dir`, by a copy of `primary` that follows it. */
export async function copyPostgres(primary: Server, dir: string): Promise<void> {
  const data = join(dir, 'data')
  const command = join(dirname(realpathSync(commandPath('initdb'))), 'pg_basebackup')
  await runToEnd(['rm', '-rf', data])
  await runToEnd(
    [command, `--pgdata=${data}`, `--dbname=${primary.url}`, '--write-recovery-conf', '--checkpoint=fast'],
    process.getuid?.() === 0 ? 'postgres' : undefined,
  )
}

/** As in `pg_ctl --wait`: the file's first line is the process id, its eighth the state. */
async function postmasterIsReady(pidFile: string, pid: number): Promise<boolean> {
  const lines = (await Bun.file(pidFile).text()).split('\n')
  return Number(lines[0]) === pid && ['ready', 'standby'].includes(lines[7]?.trim() ?? '')
}

/** Redis as in production: append-only file synced at every write, no eviction. */
export async function startRedis(
  options: { port?: number; dir?: string; args?: readonly string[] } = {},
): Promise<Server> {
  const { port = freePort(), dir = await newDirectory('redis'), args = [] } = options
  return startServer({
    name: 'redis',
    command: [
      commandPath('redis-server'),
      '--bind',
      '127.0.0.1',
      '--port',
      `${port}`,
      '--dir',
      dir,
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
      '--hash-max-listpack-entries',
      '32',
      '--databases',
      `${REDIS_DATABASES}`,
      ...args,
    ],
    dir,
    port,
    url: `redis://127.0.0.1:${port}`,
    ready: async () => (await ask(port, 'PING\r\n')).startsWith('+PONG'),
  })
}

export interface RedisCluster extends AsyncDisposable {
  /** All nodes, comma-separated, as in `REDIS_URL`. */
  readonly url: string
  readonly nodes: readonly Server[]
  close(): Promise<void>
}

/** A Redis Cluster that serves all slots. The first nodes are masters; the others are their replicas. */
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
    await until(
      async () => (await Promise.all(started.map(isOk))).every(Boolean),
      'all nodes of the Redis Cluster to report cluster_state:ok',
      { timeoutMs: CLUSTER_MS },
    )
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
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      `${freePort()}`,
      '--cluster-node-timeout',
      '2000',
      '--cluster-require-full-coverage',
      'no',
    ],
  })

/** NATS with JetStream. */
export const startNats = async (): Promise<Server> => (await startNatsCluster(1))[0]!

/** Servers of NATS with JetStream; more than one form a cluster. */
export async function startNatsCluster(size = 3): Promise<Server[]> {
  const ports = Array.from({ length: size }, () => ({
    client: freePort(),
    peer: freePort(),
    http: freePort(),
  }))
  const routes = ports.map(({ peer }) => `nats://127.0.0.1:${peer}`)
  return Promise.all(
    ports.map(async ({ client, http }, i) => {
      const dir = await newDirectory('nats')
      const own = [
        '-a',
        '127.0.0.1',
        '-p',
        `${client}`,
        '-m',
        `${http}`,
        '-js',
        '-sd',
        dir,
        '-n',
        `nats-${i}`,
      ]
      const shared = ['--cluster_name', 'event', '--cluster', routes[i]!, '--routes', routes.join()]
      return startServer({
        name: 'nats',
        command: [commandPath('nats-server'), ...own, ...(size === 1 ? [] : shared)],
        dir,
        port: client,
        url: `nats://127.0.0.1:${client}`,
        // In a cluster, ready once a leader is elected.
        ready: async () => (await fetch(`http://127.0.0.1:${http}/healthz`)).ok,
      })
    }),
  )
}

export interface CaddyServer extends Server {
  /** The root certificate of `tls internal`; the file does not exist with other certificates. */
  readonly rootCertificate: string
}

/**
 * Caddy with a Caddyfile, and its own storage directory.
 * @param options.port the port that the Caddyfile listens on, passed as `HTTPS_PORT`
 * @param options.host a site of the Caddyfile; Caddy is ready when a TLS handshake for it succeeds
 */
export async function startCaddy(options: {
  caddyfile: string
  env?: Readonly<Record<string, string>>
  port?: number
  host?: string
}): Promise<CaddyServer> {
  const { caddyfile, env = {}, port = freePort(), host = 'localhost' } = options
  const dir = await newDirectory('caddy')
  // At its start Caddy removes empty directories of its storage, possibly the one that it has just created for a
  // certificate; it would retry a minute later.
  for (const site of ['localhost', '127.0.0.1', host])
    await Bun.write(join(dir, 'caddy/certificates/local', site, 'keep'), '')
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

/** Accepts every certificate: the handshake alone shows that Caddy is ready. */
function shakesHands(port: number, servername: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
    socket.once('secureConnect', () => (socket.destroy(), resolve(true)))
    socket.once('error', reject)
  })
}

/** Sends a line and returns the first answer; rejects when there is no listener or no answer. */
function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(port, '127.0.0.1', () => void socket.write(line))
    socket.once('data', (answer) => (resolve(answer.toString()), socket.destroy()))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`port ${port} closed the connection`)))
  })
}

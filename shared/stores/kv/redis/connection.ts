/** Connections to Redis, single or Cluster: scripts, timeouts, and the translation of errors. */
import { readFileSync } from 'node:fs'
import Redis, { Cluster } from 'ioredis'
import { KvFull, KvUnavailable } from '../kv.ts'

const lua = (name: string): string => readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8')

const counters = lua('counters')

/** For scripts that free memory, or write a few bytes that a flush, a pause, a withdrawal or an erasure needs (Redis 7). */
const ALSO_WHEN_FULL = '#!lua flags=allow-oom\n'

const SCRIPTS = {
  gpsAdmit: counters + lua('admit-points'),
  gpsAcknowledge: ALSO_WHEN_FULL + counters + lua('acknowledge'),
  gpsSetStatus: ALSO_WHEN_FULL + counters + lua('set-status'),
  gpsHide: ALSO_WHEN_FULL + lua('hide'),
  gpsErase: ALSO_WHEN_FULL + lua('erase'),
  windowLimit: lua('sliding-window'),
  lockOwner: lua('unlock'),
  lockTake: ALSO_WHEN_FULL + lua('take-lock'),
}

type Script = (key: string, ...args: (string | number)[]) => Promise<unknown>
export type Client = (Redis | Cluster) & Record<keyof typeof SCRIPTS, Script>

const OPTIONS = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  connectTimeout: 2_000,
  // Detects a peer that disappeared without closing the connection; TCP alone takes a quarter of an hour.
  socketTimeout: 20_000,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
}

/** Prefix of the names of all connections of this service. */
const NAME = 'event:'

/**
 * Connects, and reconnects without end. Each command settles within `timeoutMs`.
 * With ioredis's defaults a request waits 71 s while Redis is down, and without end while it is frozen.
 * @param caller name of the process, which distinguishes its connections from those of others
 */
export function connect(url: string, timeoutMs: number, caller: string): Client {
  const options = { ...OPTIONS, commandTimeout: timeoutMs, connectionName: `${NAME}${caller}` }
  const urls = url.split(',').map((node) => node.trim())
  const { username, password, protocol } = new URL(urls[0]!)
  const client =
    urls.length === 1
      ? new Redis(urls[0]!, options)
      : new Cluster(urls, {
          // Nodes that no URL names, such as replicas, become masters: they take what the first URL says of a login.
          redisOptions: {
            ...options,
            ...(username !== '' && { username: decodeURIComponent(username) }),
            ...(password !== '' && { password: decodeURIComponent(password) }),
            ...(protocol === 'rediss:' && { tls: {} }),
          },
          enableOfflineQueue: false,
          clusterRetryStrategy: OPTIONS.retryStrategy,
          retryDelayOnFailover: 100,
        })
  for (const [name, script] of Object.entries(SCRIPTS))
    client.defineCommand(name, { numberOfKeys: 1, lua: script })
  return client as Client
}

/** Distinguishes a full store, an unavailable store and a programming error. */
function translate(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('OOM command not allowed')) throw new KvFull('the kv has no memory left')
  if (/^(WRONGTYPE|ERR (?!Error running script)|NOSCRIPT)/.test(message)) throw error
  throw new KvUnavailable('the kv did not execute a command', { cause: error })
}

/** Awaits a command. @throws KvUnavailable or KvFull; other errors are programming errors */
export const asked = <T>(call: Promise<unknown>): Promise<T> => (call as Promise<T>).catch(translate)

/** The replies of a pipeline; the first failure fails it whole. */
export const allOf = <Reply>(pipeline: ReturnType<Client['pipeline']>): Promise<Reply[]> =>
  asked(
    pipeline.exec().then((replies) =>
      (replies ?? []).map(([error, reply]) => {
        if (error !== null) throw error
        return reply
      }),
    ),
  )

/** The servers that hold data: all reachable masters of a Cluster, or the single server. */
export const masters = (client: Client): Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client]

/** Epoch milliseconds; of several masters the earliest. */
export async function readClock(client: Client): Promise<number> {
  const nodes = masters(client)
  if (nodes.length === 0) throw new KvUnavailable('no master is known')
  const times = await Promise.all(nodes.map((node) => asked<[string, string]>(node.time())))
  return Math.min(
    ...times.map(([seconds, micros]) => Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)),
  )
}

/** Number of connections of other callers to the same database. */
export async function countOthers(client: Client, caller: string): Promise<number> {
  const lists = await Promise.all(masters(client).map((node) => asked<string>(node.client('LIST'))))
  const all = lists.flatMap((list) => list.split('\n')).map((line) => ` ${line} `)
  const isOwn = (line: string) => line.includes(` name=${NAME}${caller} `)
  const database = / db=\d+ /.exec(all.find(isOwn) ?? '')?.[0] ?? ''
  return all.filter((line) => line.includes(` name=${NAME}`) && !isOwn(line) && line.includes(database))
    .length
}

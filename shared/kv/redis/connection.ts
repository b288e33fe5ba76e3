/** Connections to Redis, single or Cluster: scripts, patience, and what an error means. */
import { readFileSync } from 'node:fs'
import Redis, { Cluster } from 'ioredis'
import { KvFull, KvUnavailable } from '../kv.ts'

const lua = (name: string): string => readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8')

const counters = lua('counters')

const SCRIPTS = {
  gpsAdmit: counters + lua('admit'),
  gpsAcknowledge: counters + lua('acknowledge'),
  gpsSetStatus: counters + lua('set-status'),
  gpsErase: lua('erase'),
  windowLimit: lua('limit'),
  lockOwner: lua('unlock'),
  lockTake: lua('take-lock'),
}

type Script = (key: string, ...args: (string | number)[]) => Promise<unknown>
export type Client = (Redis | Cluster) & Record<keyof typeof SCRIPTS, Script>

const OPTIONS = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  connectTimeout: 2_000,
  // A peer that vanished without a word is noticed here; TCP itself takes a quarter of an hour.
  socketTimeout: 20_000,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
}

/** What the name of every connection of this service begins with. */
const NAME = 'event:'

/**
 * Connects; commands settle within `patienceMs`, and it reconnects for ever.
 * With ioredis's defaults a request waits 71 s while Redis is down, and for ever while it is frozen.
 * @param caller names the process, so that others can be told from it
 */
export function connect(url: string, patienceMs: number, caller: string): Client {
  const options = { ...OPTIONS, commandTimeout: patienceMs, connectionName: `${NAME}${caller}` }
  const urls = url.split(',').map((node) => node.trim())
  const client =
    urls.length === 1
      ? new Redis(urls[0]!, options)
      : new Cluster(urls, {
          redisOptions: options,
          enableOfflineQueue: false,
          clusterRetryStrategy: OPTIONS.retryStrategy,
          retryDelayOnFailover: 100,
        })
  for (const [name, script] of Object.entries(SCRIPTS))
    client.defineCommand(name, { numberOfKeys: 1, lua: script })
  return client as Client
}

/** Tells a full store and an unreachable one from a programming error. */
function translate(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('OOM command not allowed')) throw new KvFull('the kv has no memory left')
  if (/^(WRONGTYPE|ERR (?!Error running script)|NOSCRIPT)/.test(message)) throw error
  throw new KvUnavailable('the kv does not do what it is asked', { cause: error })
}

/** Awaits a command; a failure is `KvUnavailable` or `KvFull`, unless it is a fault of ours. */
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

/** The servers that hold data: all masters of a Cluster that can be reached, or the one there is. */
export const masters = (client: Client): Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client]

/** Milliseconds; of several masters the least. */
export async function readClock(client: Client): Promise<number> {
  const nodes = masters(client)
  if (nodes.length === 0) throw new KvUnavailable('no master is known')
  const times = await Promise.all(nodes.map((node) => asked<[string, string]>(node.time())))
  return Math.min(
    ...times.map(([seconds, micros]) => Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)),
  )
}

/** Connections of other callers to the same data. */
export async function countOthers(client: Client, caller: string): Promise<number> {
  const lists = await Promise.all(masters(client).map((node) => asked<string>(node.client('LIST'))))
  const all = lists.flatMap((list) => list.split('\n')).map((line) => ` ${line} `)
  const isOurs = (line: string) => line.includes(` name=${NAME}${caller} `)
  const place = / db=\d+ /.exec(all.find(isOurs) ?? '')?.[0] ?? ''
  return all.filter((line) => line.includes(` name=${NAME}`) && !isOurs(line) && line.includes(place)).length
}

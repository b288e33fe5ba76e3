/**
 * The Redis driver of the kv, for a single server or a Cluster. All keys of a partition carry its hash tag, so that
 * each script call stays in one slot. The scripts are in `lua`.
 */
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import { Cluster } from 'ioredis'
import { type Kv, KvUnavailable, type VersionedStatus } from './kv.ts'
import { admissionVerbs } from './redis/admission.ts'
import { asked, type Client, connect, countOthers, masters, readClock } from './redis/connection.ts'
import { flushVerbs } from './redis/flush.ts'
import { limitVerbs } from './redis/limits.ts'
import { liveMapVerbs } from './redis/live-map.ts'
import { readingVerbs } from './redis/reading.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** Matches all keys of this driver. */
const OWN_KEYS = /^(\{gps:\d+\}:|(cache|limit|lock):|partitions$)/
const KEYS_A_CALL = 1_000

/** Deletes this driver's keys from every node; keys of other programs stay. */
async function clear(client: Client, partitions: number): Promise<void> {
  for (const node of masters(client)) {
    let cursor = '0'
    do {
      const [next, keys] = await asked<[string, string[]]>(node.scan(cursor, 'COUNT', KEYS_A_CALL))
      cursor = next
      await asked(Promise.all(keys.filter((key) => OWN_KEYS.test(key)).map((key) => node.unlink(key))))
    } while (cursor !== '0')
  }
  await asked(client.set('partitions', partitions))
}

/** Timeout of a request. */
const REQUEST_TIMEOUT_MS = 800
/** Timeout of an admission (specification, "Limits": check-in deferred write time-out). */
const ADMIT_WITHIN_MS = 8_000
/** Timeout of the flush and the live map, which move thousands of entries per call. */
const BULK_TIMEOUT_MS = 15_000
/** How long the start waits for a store that does not answer. */
const START_MS = 2_000

/**
 * Connects to Redis. If Redis is down at the start, calls reject until it is available.
 * @throws when points are pending under another number of partitions. If Redis becomes available only later, `onError`
 * is called with this error instead, and all calls reject from then on
 */
export async function openRedisKv(options: {
  readonly url: string
  readonly partitions: number
  readonly admitWithinMs?: number
  readonly onError: (error: unknown) => void
}): Promise<Kv> {
  const { url, partitions, admitWithinMs = ADMIT_WITHIN_MS, onError } = options
  const caller = crypto.randomUUID()
  const client = connect(url, REQUEST_TIMEOUT_MS, caller)
  const admission = connect(url, admitWithinMs, caller)
  const bulk = connect(url, BULK_TIMEOUT_MS, caller)
  const clients = [client, admission, bulk] as const
  const disconnect = () => {
    for (const each of clients) each.disconnect()
  }
  const claim = async () => {
    try {
      await claimPartitions(client, partitions)
    } catch (error) {
      if (!(error instanceof OtherPartitions)) return onError(error)
      disconnect()
      throw error
    }
  }
  for (const each of clients) each.on('error', onError)
  await Promise.all(clients.map(firstReady))
  if (client.status === 'ready') await claim()
  // For a store that was down at the start, or that comes back without its data.
  client.on('ready', () => void claim().catch(onError))

  const tags = Array.from({ length: partitions }, (_, p) => `{gps:${p}}`)
  return {
    partitions,
    caller,
    ...admissionVerbs(admission, tags, caller),
    ...readingVerbs(client, tags),
    ...flushVerbs(bulk, tags),
    ...liveMapVerbs(bulk, client, tags),
    ...statusVerbs(client, tags),
    ...limitVerbs(client),
    ...cacheVerbs(client),
    ...lockVerbs(client),
    ...healthVerbs(clients, tags),
    clock: () => readClock(client),
    others: () => countOthers(client, caller),
    clear: () => clear(bulk, partitions),
    close: async () => disconnect(),
  }
}

async function firstReady(client: Client): Promise<void> {
  if (client.status === 'ready') return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, START_MS)
    client.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

class OtherPartitions extends LoggableError {
  override name = 'OtherPartitions'
  constructor(wanted: number, held: number) {
    super(
      `EVENT_PARTITIONS is ${wanted}, but points are pending in ${held} partitions: ` +
        `start with ${held}, let a flush empty the buffer, then change it`,
    )
  }
}

/** What a partition keeps beside points and the ledger. It is filled again from Postgres, or by the next requests. */
const OF_A_PARTITION = [
  'status',
  'hidden',
  'returning',
  'refused',
  'erased',
  'erased-order',
  'live',
  'moved',
  ...['checkin', 'sync', 'ingest'].flatMap((kind) => [`win:${kind}:0`, `win:${kind}:1`]),
]

/**
 * Stores the number of partitions. When it changes, everybody belongs to another partition: what was kept by the old
 * ones is deleted, and without a status each service fills the new ones from Postgres before it admits anything.
 * @throws OtherPartitions when points are pending under another number
 */
async function claimPartitions(client: Client, partitions: number): Promise<void> {
  const held = Number(await asked<string | null>(client.get('partitions')))
  if (held === partitions) return
  for (let p = 0; p < held; p++)
    if ((await asked<number>(client.zcard(`{gps:${p}}:pending`))) > 0)
      throw new OtherPartitions(partitions, held)
  if (held > 0)
    for (let p = 0; p < Math.max(held, partitions); p++)
      for (const name of OF_A_PARTITION) await asked(client.unlink(`{gps:${p}}:${name}`))
  await asked(client.set('partitions', partitions))
}

const parseStatus = (held: string): VersionedStatus => {
  const [version, status, _epoch, ...message] = held.split('|')
  return { version: Number(version), status: status as ActivityStatus, message: message.join('|') || null }
}

function statusVerbs(client: Client, tags: readonly string[]): Pick<Kv, 'status' | 'setStatus'> {
  return {
    async status() {
      const held = await Promise.all(tags.map((tag) => asked<string | null>(client.get(`${tag}:status`))))
      let oldest: VersionedStatus | null = null
      for (const one of held) {
        if (one === null) return null
        const status = parseStatus(one)
        if (oldest === null || status.version < oldest.version) oldest = status
      }
      return oldest
    },
    async setStatus({ status, version, message }) {
      const epoch = crypto.randomUUID()
      await Promise.all(
        tags.map((tag) => asked(client.gpsSetStatus(tag, version, status, message ?? '', epoch))),
      )
    },
  }
}

function cacheVerbs(client: Client): Pick<Kv, 'cached' | 'cache' | 'cacheOnce' | 'forget'> {
  return {
    cached: (key) => asked(client.get(`cache:${key}`)),
    async cache(key, value, ttlMs) {
      await asked(client.set(`cache:${key}`, value, 'PX', ttlMs))
    },
    async cacheOnce(key, value, ttlMs) {
      const held = await asked<string | null>(client.set(`cache:${key}`, value, 'PX', ttlMs, 'NX', 'GET'))
      return held ?? value
    },
    async forget(key) {
      await asked(client.del(`cache:${key}`))
    },
  }
}

function lockVerbs(client: Client): Pick<Kv, 'lock' | 'renewLock' | 'unlock'> {
  return {
    async lock(name, ttlMs, silenceMs = ttlMs) {
      const token = crypto.randomUUID()
      const taken = await asked<number>(client.lockTake(`lock:${name}`, token, ttlMs, silenceMs))
      return taken === 1 ? token : null
    },
    async renewLock(name, token, ttlMs) {
      return (await asked<number>(client.lockOwner(`lock:${name}`, token, ttlMs))) === 1
    },
    async unlock(name, token) {
      await asked(client.lockOwner(`lock:${name}`, token, 0))
    },
  }
}

/** Used fraction of a server's memory, from its INFO. */
const memoryFraction = (info: string): number => {
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  return read('maxmemory') === 0 ? 0 : read('used_memory') / read('maxmemory')
}

function healthVerbs(
  clients: readonly [Client, ...Client[]],
  tags: readonly string[],
): Pick<Kv, 'probe' | 'memoryUse' | 'movingSlots' | 'onReconnect'> {
  const [client] = clients
  const listeners: (() => void)[] = []
  client.on('ready', () => {
    for (const listener of listeners) listener()
  })
  return {
    async probe() {
      // After an outage each connection comes back at a time of its own, and calls on the others still fail.
      if (clients.some(({ status }) => status !== 'ready'))
        throw new KvUnavailable('a connection to the kv is not ready')
      await Promise.all(tags.map((tag) => asked(client.set(`${tag}:probe`, '1', 'PX', 60_000))))
    },
    async memoryUse() {
      const infos = await Promise.all(masters(client).map((node) => asked<string>(node.info('memory'))))
      return Math.max(0, ...infos.map(memoryFraction))
    },
    async movingSlots() {
      if (!(client instanceof Cluster)) return 0
      const views = await Promise.all(masters(client).map((node) => asked<string>(node.cluster('NODES'))))
      // Each server tells of its own slots alone: [93->-node] leaves it, [93-<-node] comes.
      const moving = views.flatMap((view) => view.match(/\[\d+(?=-[<>]-)/g) ?? [])
      return new Set(moving).size
    },
    onReconnect(listener) {
      listeners.push(listener)
    },
  }
}

/**
 * The kv on Redis, single or Cluster. All keys of a partition carry its hash tag, so that one script call
 * stays in one slot; the scripts are the Lua files beside this one.
 */
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import type { Kv, VersionedStatus } from './kv.ts'
import { admissionVerbs } from './redis/admission.ts'
import { clear } from './redis/clear.ts'
import { asked, type Client, connect, countOthers, masters, readClock } from './redis/connection.ts'
import { flushVerbs } from './redis/flush.ts'
import { limitVerbs } from './redis/limits.ts'
import { liveMapVerbs } from './redis/live-map.ts'
import { readingVerbs } from './redis/reading.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** A request waits this long at most for an answer. */
const REQUEST_TIMEOUT_MS = 800
/** Specification, "Limits": check-in deferred write time-out. What waits for an admission waits no longer. */
const ADMIT_WITHIN_MS = 8_000
/** The flush and the live map move thousands of entries a call. */
const BULK_PATIENCE_MS = 15_000
/** How long a start waits for a store that does not answer. */
const START_MS = 2_000

/**
 * Connects to Redis. A store that is down at the start is no reason not to start: calls reject until it is
 * there.
 * @throws when points are pending under another number of partitions; where the store comes up later, calls
 * reject for ever then, and `onError` is told
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
  const bulk = connect(url, BULK_PATIENCE_MS, caller)
  const clients = [client, admission, bulk]
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
  // A store that was away at the start, or comes back without its data.
  client.on('ready', () => void claim().catch(onError))

  const tags = Array.from({ length: partitions }, (_, p) => `{gps:${p}}`)
  return {
    partitions,
    caller,
    ...admissionVerbs(admission, tags, caller),
    ...readingVerbs(client, tags),
    ...flushVerbs(bulk, tags),
    ...liveMapVerbs(bulk, tags),
    ...statusVerbs(client, tags),
    ...limitVerbs(client),
    ...cacheVerbs(client),
    ...lockVerbs(client),
    ...healthVerbs(client, tags),
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

/** The store remembers its number of partitions; another one is refused while points are pending. */
async function claimPartitions(client: Client, partitions: number): Promise<void> {
  const held = Number(await asked<string | null>(client.get('partitions')))
  if (held === partitions) return
  for (let p = 0; p < held; p++)
    if ((await asked<number>(client.zcard(`{gps:${p}}:pending`))) > 0)
      throw new OtherPartitions(partitions, held)
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

/** How full a server is, as its INFO says. */
const fullness = (info: string): number => {
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  return read('maxmemory') === 0 ? 0 : read('used_memory') / read('maxmemory')
}

function healthVerbs(
  client: Client,
  tags: readonly string[],
): Pick<Kv, 'probe' | 'memoryUse' | 'onReconnect'> {
  const listeners: (() => void)[] = []
  client.on('ready', () => {
    for (const listener of listeners) listener()
  })
  return {
    async probe() {
      await Promise.all(tags.map((tag) => asked(client.set(`${tag}:probe`, '1', 'PX', 60_000))))
    },
    async memoryUse() {
      const infos = await Promise.all(masters(client).map((node) => asked<string>(node.info('memory'))))
      return Math.max(0, ...infos.map(fullness))
    },
    onReconnect(listener) {
      listeners.push(listener)
    },
  }
}

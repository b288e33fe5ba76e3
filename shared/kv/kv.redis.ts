/**
 * The kv on Redis, single or Cluster. All keys of a partition carry its hash tag, so that one script call
 * stays in one slot; the scripts are the Lua files beside this one.
 */
import { type ActivityStatus } from '#shared/contracts/fields.ts'
import type { Kv, VersionedStatus } from './kv.ts'
import { admitArguments, type Reply, verdictOf } from './redis/admission.ts'
import { bufferVerbs } from './redis/buffer.ts'
import { asked, type Client, connect } from './redis/connection.ts'

/** A request waits this long at most for an answer; admission has its own, shorter patience. */
const REQUEST_PATIENCE_MS = 800
/** The flush moves thousands of points a call. */
const BACKGROUND_PATIENCE_MS = 15_000

/**
 * Connects to Redis. A store that is down at the start is no reason not to start: calls reject until it is
 * there.
 * @throws when points are pending under another number of partitions
 */
export async function openRedisKv(options: {
  readonly url: string
  readonly partitions: number
  readonly onError: (error: unknown) => void
}): Promise<Kv> {
  const { url, partitions, onError } = options
  const client = connect(url, REQUEST_PATIENCE_MS)
  const background = connect(url, BACKGROUND_PATIENCE_MS)
  for (const each of [client, background]) each.on('error', onError)
  const tags = Array.from({ length: partitions }, (_, p) => `{gps:${p}}`)
  const close = async () => {
    client.disconnect()
    background.disconnect()
  }
  await Promise.all([firstReady(client), firstReady(background)])
  try {
    await claimPartitions(client, partitions)
  } catch (error) {
    await close()
    throw error
  }

  return {
    partitions,
    async admit(partition, submissions, rules) {
      const args = admitArguments('admit', submissions, rules)
      return (await asked<Reply[]>(client.gpsAdmit(tags[partition]!, ...args))).map(verdictOf)
    },
    async restore(partition, submissions, rules) {
      await asked(client.gpsAdmit(tags[partition]!, ...admitArguments('restore', submissions, rules)))
    },
    ...bufferVerbs(client, background, tags),
    ...statusVerbs(client, tags),
    async limit(key, id, { max, windowMs }) {
      const [allowed, remaining, retryAfterMs] = await asked<[number, number, number]>(
        client.windowLimit(`limit:${key}`, id, max, windowMs),
      )
      return { allowed: allowed === 1, remaining, retryAfterMs }
    },
    ...cacheVerbs(client),
    ...lockVerbs(client),
    async probe() {
      await asked(client.set('probe', '1', 'PX', 60_000))
    },
    async memoryUse() {
      const info = await asked<string>(client.info('memory'))
      const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
      const max = read('maxmemory')
      return max === 0 ? 0 : read('used_memory') / max
    },
    onReconnect(listener) {
      client.on('ready', listener)
    },
    close,
  }
}

async function firstReady(client: Client): Promise<void> {
  if (client.status === 'ready') return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 2_000)
    client.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** The store remembers its number of partitions; another one is refused while points are pending. */
async function claimPartitions(client: Client, partitions: number): Promise<void> {
  if (client.status !== 'ready') return
  const held = await asked<string | null>(client.get('partitions'))
  if (held === String(partitions)) return
  for (let p = 0; p < Number(held); p++)
    if ((await asked<number>(client.zcard(`{gps:${p}}:pending`))) > 0)
      throw new Error(
        `EVENT_PARTITIONS is ${partitions}, but points are pending in ${held} partitions: ` +
          `start with ${held}, let a flush empty the buffer, then change it`,
      )
  await asked(client.set('partitions', partitions))
}

const parseStatus = (held: string): VersionedStatus => {
  const [version, status, ...message] = held.split('|')
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
    async lock(name, ttlMs) {
      const token = crypto.randomUUID()
      const taken = await asked<string | null>(client.set(`lock:${name}`, token, 'PX', ttlMs, 'NX'))
      return taken === null ? null : token
    },
    async renewLock(name, token, ttlMs) {
      return (await asked<number>(client.lockOwner(`lock:${name}`, token, ttlMs))) === 1
    },
    async unlock(name, token) {
      await asked(client.lockOwner(`lock:${name}`, token, 0))
    },
  }
}

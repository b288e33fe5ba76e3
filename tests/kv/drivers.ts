/** The drivers of the kv port, each with a function that opens an empty store, and sample submissions. */
import { join } from 'node:path'
import { rm } from 'node:fs/promises'
import Redis from 'ioredis'
import { type AdmissionRules, type Kv, partitionOf, type Submission } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { testRedisUrl } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type RedisCluster, startRedisCluster } from '#tests/helpers/servers.ts'
import { embeddedOnly, isThorough } from '#tests/helpers/suite.ts'

export interface KvDriver {
  readonly name: string
  /** Called once, before the first `open`. */
  start(): Promise<void>
  /** Opens an empty store; an open one is emptied. */
  open(): Promise<Kv>
  stop(): Promise<void>
}

/** Collects errors of a port; the test expects none. */
export const onError = (error: unknown): void => {
  throw error
}

class Embedded implements KvDriver {
  readonly name = 'embedded'
  #dir = ''
  async start() {
    this.#dir = await newDirectory('kv')
  }
  open() {
    return openKv({ url: '', partitions: 1, path: join(this.#dir, crypto.randomUUID()), onError })
  }
  stop() {
    return rm(this.#dir, { recursive: true, force: true })
  }
}

class SingleRedis implements KvDriver {
  readonly name: string
  constructor(private readonly partitions: number) {
    this.name = partitions === 1 ? 'Redis' : `Redis, ${partitions} partitions`
  }
  async start() {}
  async open() {
    return openKv({ url: await testRedisUrl(), partitions: this.partitions, path: '', onError })
  }
  async stop() {}
}

class Cluster implements KvDriver {
  readonly name = 'Redis Cluster, 16 partitions'
  #cluster: RedisCluster | null = null
  async start() {
    this.#cluster = await startRedisCluster()
  }
  async open() {
    await Promise.all(this.#cluster!.nodes.map(({ url }) => empty(url)))
    return openKv({ url: this.#cluster!.url, partitions: 16, path: '', onError })
  }
  async stop() {
    await this.#cluster?.close()
  }
}

async function empty(url: string): Promise<void> {
  const redis = new Redis(url)
  await redis.flushall()
  redis.disconnect()
}

/** The drivers whose servers are available in this run. */
export const kvDrivers = (): KvDriver[] => [
  new Embedded(),
  ...(embeddedOnly ? [] : [new SingleRedis(1)]),
  // A cluster differs only in where `kv.redis.ts` sends commands.
  ...(isThorough ? [new Cluster()] : []),
]

/** For tests that do not depend on the driver: one partition, and several. */
export const quickKvDrivers = (): KvDriver[] => [
  new Embedded(),
  ...(embeddedOnly ? [] : [new SingleRedis(16)]),
]

/** The specification's rules, with windows short enough for a test. */
export const rules = (changes: Partial<AdmissionRules> = {}): AdmissionRules => ({
  checkin: { max: 5, windowMs: 60_000 },
  sync: { max: 10, windowMs: 60_000 },
  ingest: { max: 60, windowMs: 60_000 },
  duplicateMs: 60_000,
  retentionMs: 259_200_000,
  pendingMax: 50_000,
  ...changes,
})

let made = 0

/** A check-in with a distinct place, time and pilgrim. */
export function checkin(changes: Partial<Submission> & { readonly t?: number } = {}): Submission {
  const { t = 1_700_000_000_000 + ++made, ...rest } = changes
  return {
    id: crypto.randomUUID(),
    userId: `U${made}`,
    kind: 'checkin',
    entries: [{ field: `c${t}`, value: `[0,${t},25.03,121.5,1]` }],
    duplicateKey: `t${t}`,
    recordedMs: t,
    position: { t, lat: 25.03, lng: 121.5 },
    ...rest,
  }
}

/** Track points at these times. */
export const sync = (
  userId: string,
  times: readonly number[],
  changes: Partial<Submission> = {},
): Submission =>
  checkin({
    userId,
    kind: 'sync',
    entries: times.map((t) => ({ field: `t${t}`, value: `[0,${t},25.03,121.5,1]` })),
    duplicateKey: '',
    position: null,
    ...changes,
  })

/** Admits one submission. */
export async function admit(kv: Kv, submission: Submission, by: AdmissionRules = rules()) {
  const [verdict] = await kv.admit(partitionOf(submission.userId, kv.partitions), [submission], by)
  return verdict!
}

export async function restore(kv: Kv, submission: Submission, by: AdmissionRules = rules()): Promise<void> {
  await kv.restore(partitionOf(submission.userId, kv.partitions), [submission], by)
}

/** Sets the status to active. */
export const activate = (kv: Kv, version = 1): Promise<void> =>
  kv.setStatus({ status: 'active', version, message: null })

/**
 * The Redis driver of the kv, for a single server or a Cluster. All keys of a partition carry its hash tag, so that
 * each script call stays in one slot. The scripts are in `lua`.
 */
import Redis from 'ioredis'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import { Cluster } from 'ioredis'
import {
  type AdmissionRules,
  type Entry,
  type Kv,
  KvUnavailable,
  type PartitionCounters,
  partitionOf,
  type Receipt,
  type StoreVerdict,
  type Submission,
  type VersionedStatus,
  type Erased,
  type Moved,
  STANDS_MS,
  storedMs,
  userHash,
  KvFull,
} from './kv.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import type { Window } from '#shared/runtime/config/config.ts'
import { nextTurn } from '#shared/runtime/yield-to-event-loop.ts'
import { readFileSync } from 'node:fs'

/** Submissions per restore call: the stack of a script holds a few thousand values. */
const RESTORED_A_CALL = 1_000

/** The script's verdict on a submission that was not admitted completely. */
type Reply = [string, ...(string | number)[]]

type Answer = [pendings: string, others: (number | Reply)[], points: number, total: number, epoch: string]

/** @param client a connection with the timeout of admissions */
function admissionVerbs(client: Client, tags: readonly string[], caller: string) {
  const listeners: ((receipt: Receipt) => void)[] = []

  /** @param epoch for a restore, the epoch to begin if the store has none; empty for an admission */
  const call = async (
    partition: number,
    epoch: string,
    submissions: readonly Submission[],
    rules: AdmissionRules,
  ): Promise<{ readonly points: number; readonly verdicts: () => StoreVerdict[] }> => {
    const args = admitArguments(submissions, rules)
    const [pendings, others, points, total, held] = await asked<Answer>(
      client.gpsAdmit(tags[partition]!, caller, epoch, ...args),
    )
    if (points > 0) for (const listener of listeners) listener({ partition, epoch: held, points, total })
    return { points, verdicts: () => verdictsOf(submissions, pendings, others) }
  }

  return {
    async admit(partition, submissions, rules) {
      return (await call(partition, '', submissions, rules)).verdicts()
    },
    async restore(partition, submissions, rules) {
      const epoch = crypto.randomUUID()
      let restored = 0
      for (let from = 0; from < submissions.length; from += RESTORED_A_CALL)
        restored += (await call(partition, epoch, submissions.slice(from, from + RESTORED_A_CALL), rules))
          .points
      return restored
    },
    onReceipt(listener) {
      listeners.push(listener)
    },
  } satisfies Partial<Kv>
}

function admitArguments(submissions: readonly Submission[], rules: AdmissionRules): (string | number)[] {
  const args: (string | number)[] = [
    rules.checkin.max,
    rules.checkin.windowMs,
    rules.sync.max,
    rules.sync.windowMs,
    rules.ingest.max,
    rules.ingest.windowMs,
    rules.duplicateMs,
    Math.ceil(rules.retentionMs / 1_000),
    rules.pendingMax,
  ]
  // One argument for all submissions: each argument costs the client and Redis more than its content.
  let lines = ''
  for (const { kind, userId, id, duplicateKey, recordedMs, position, entries } of submissions) {
    const place =
      position === null
        ? ''
        : `${position.t},${position.lat},${position.lng}${position.rough ? ',rough' : ''}`
    lines += `${kind};${userId};${id}|${duplicateKey}|${recordedMs};${place};${entries.length}\n`
    for (const { field, value } of entries) lines += `${field}\n${value}\n`
  }
  args.push(lines)
  return args
}

function verdictsOf(
  submissions: readonly Submission[],
  pendings: string,
  others: readonly (number | Reply)[],
): StoreVerdict[] {
  const pendingCounts = pendings.split(',')
  const verdicts = submissions.map(({ recordedMs }, i): StoreVerdict => ({
    outcome: 'admitted',
    duplicates: 0,
    duplicate: false,
    pending: Number(pendingCounts[i]),
    recordedMs,
    held: null,
  }))
  for (let i = 0; i < others.length; i += 2)
    verdicts[(others[i] as number) - 1] = verdictOf(others[i + 1] as Reply)
  return verdicts
}

function verdictOf([outcome, ...rest]: Reply): StoreVerdict {
  switch (outcome) {
    case 'admitted':
      return {
        outcome,
        duplicates: Number(rest[0]),
        duplicate: rest[1] === 1,
        pending: Number(rest[2]),
        recordedMs: Number(rest[3]),
        held: String(rest[4]) || null,
      }
    case 'limited':
      return { outcome, retryAfterMs: Number(rest[0]) }
    case 'paused':
    case 'ended':
      return { outcome: 'refused', status: outcome, message: String(rest[0]) || null }
    case 'full':
    case 'erased':
    case 'no-consent':
      return { outcome }
    default:
      return { outcome: 'unknown' }
  }
}

/**
 * Capitals make the client return a hash as a list: building objects with thousands of keys costs more than the read
 * itself.
 */
const READ_HASH = 'HGETALL'

function readingVerbs(client: Client, tags: readonly string[]) {
  /** Replies of one command for the buffers of several pilgrims, in their order. A pipeline serves one slot. */
  async function ofEach<Reply>(
    command: typeof READ_HASH | 'HLEN',
    userIds: readonly string[],
  ): Promise<Reply[]> {
    const byPartition = Map.groupBy(userIds.keys(), (i) => partitionOf(userIds[i]!, tags.length))
    const replies: Reply[] = []
    await Promise.all(
      Array.from(byPartition, async ([partition, places]) => {
        const pipeline = client.pipeline()
        for (const i of places) pipeline.call(command, `${tags[partition]!}:buf:${userIds[i]!}`)
        const own = await allOf<Reply>(pipeline)
        for (const [n, i] of places.entries()) replies[i] = own[n]!
      }),
    )
    return replies
  }
  const peekEach = async (userIds: readonly string[]): Promise<Entry[][]> =>
    (await ofEach<string[]>(READ_HASH, userIds)).map(pairsOf)
  return {
    peek: async (userId) => (await peekEach([userId]))[0]!,
    peekEach,
    pendingOf: (userIds) => ofEach<number>('HLEN', userIds),
    async bufferSize() {
      const sizes = await Promise.all(tags.map((tag) => asked<number>(client.zcard(`${tag}:pending`))))
      return sizes.reduce((sum, size) => sum + size, 0)
    },
    async oldestPending() {
      const heads = await Promise.all(
        tags.map((tag) => asked<string[]>(client.zrange(`${tag}:pending`, 0, '0', 'WITHSCORES'))),
      )
      const times = heads.flatMap(([, score]) => (score === undefined ? [] : [Number(score)]))
      return times.length === 0 ? null : Math.min(...times)
    },
    async counters() {
      const held = await Promise.all(
        tags.map((tag) => asked<Record<string, string>>(client.hgetall(`${tag}:ledger`))),
      )
      return held.map(countersOf)
    },
  } satisfies Partial<Kv>
}

const CALLER = 'caller:'

function countersOf({ epoch = '', ...counts }: Record<string, string>): PartitionCounters {
  const count = (name: string) => Number(counts[name] ?? 0)
  const callers = Object.fromEntries(
    Object.entries(counts)
      .filter(([name]) => name.startsWith(CALLER))
      .map(([name, points]) => [name.slice(CALLER.length), Number(points)]),
  )
  return {
    epoch,
    admitted: Object.values(callers).reduce((sum, points) => sum + points, 0),
    callers,
    checkins: count('checkins'),
    duplicate: count('duplicate'),
    dropped: count('dropped'),
    settled: count('settled'),
    erased: count('erased'),
    expired: count('expired'),
  }
}

/** Pilgrims listed or renewed in one call. */
const PAGE = 10_000

/** @param client a connection with a timeout for thousands of points per call */
function flushVerbs(client: Client, tags: readonly string[]) {
  return {
    epoch: async (partition) =>
      (await asked<string | null>(client.hget(`${tags[partition]!}:ledger`, 'epoch'))) ?? '',
    async pendingUsers(partition) {
      const users: string[] = []
      for (;;) {
        const page = await asked<string[]>(
          client.zrange(`${tags[partition]!}:pending`, users.length, String(users.length + PAGE - 1)),
        )
        users.push(...page)
        if (page.length < PAGE) return users
      }
    },
    async drain(partition, userIds) {
      const pipeline = client.pipeline()
      for (const userId of userIds) pipeline.call(READ_HASH, `${tags[partition]!}:buf:${userId}`)
      const lists = await allOf<string[]>(pipeline)
      return lists.map((list, i) => ({ userId: userIds[i]!, entries: pairsOf(list) }))
    },
    async acknowledge(partition, stored, epoch = '') {
      if (stored.length === 0) return
      const lists = stored.map(({ userId, entries }) => {
        const list = [userId]
        for (const { field, value } of entries) list.push(field, value)
        return list
      })
      await asked(client.gpsAcknowledge(tags[partition]!, epoch, JSON.stringify(lists)))
    },
    async renew(partition, userIds, retentionMs) {
      for (let from = 0; from < userIds.length; from += PAGE) {
        const pipeline = client.pipeline()
        for (const userId of userIds.slice(from, from + PAGE))
          pipeline.pexpire(`${tags[partition]!}:buf:${userId}`, retentionMs)
        await allOf(pipeline)
      }
    },
  } satisfies Partial<Kv>
}

/** Turns alternating fields and values into entries. */
function pairsOf(list: readonly string[]): Entry[] {
  const entries: Entry[] = []
  for (let i = 0; i < list.length; i += 2) entries.push({ field: list[i]!, value: list[i + 1]! })
  return entries
}

function limitVerbs(client: Client) {
  /** Calls charged to a window in this turn of the event loop, by window. */
  const batches = new Map<string, { readonly ids: string[]; readonly verdicts: Promise<number[]> }>()

  const begin = (name: string, key: string, { max, windowMs }: Window) => {
    const ids: string[] = []
    const charge = async (): Promise<number[]> => {
      await nextTurn()
      batches.delete(name)
      return asked<number[]>(client.windowLimit(`limit:${key}`, max, windowMs, ...ids))
    }
    return { ids, verdicts: charge() }
  }

  return {
    async limit(key, id, window) {
      const name = `${window.max} ${window.windowMs} ${key}`
      const { ids, verdicts } = batches.getOrInsertComputed(name, () => begin(name, key, window))
      const at = 3 * (ids.push(id) - 1)
      const [allowed, remaining, retryAfterMs] = (await verdicts).slice(at, at + 3) as [
        number,
        number,
        number,
      ]
      return { allowed: allowed === 1, remaining, retryAfterMs }
    },
  } satisfies Partial<Kv>
}

/** Matches all keys of this driver. */
const OWN_KEYS = /^(\{gps:\d+\}:|(cache|limit|lock):|partitions$)/
const KEYS_A_CALL = 1_000

/** Deletes this driver's keys from every node; keys of other programs stay. */
async function clear(client: Client, partitions: number): Promise<void> {
  await unlinkAll(client, (key) => OWN_KEYS.test(key))
  await asked(client.set('partitions', partitions))
}

/** Scans the keys of every node and deletes the chosen ones. */
async function unlinkAll(client: Client, isChosen: (key: string) => boolean): Promise<void> {
  for (const node of masters(client)) {
    let cursor = '0'
    do {
      const [next, keys] = await asked<[string, string[]]>(node.scan(cursor, 'COUNT', KEYS_A_CALL))
      cursor = next
      await asked(Promise.all(keys.filter(isChosen).map((key) => node.unlink(key))))
    } while (cursor !== '0')
  }
}

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
  // For a store that was down at the start, or that came back without its data.
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

/** Keys of a partition besides points and the ledger. They are refilled from Postgres, or by later requests. */
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
 * Stores the number of partitions. When it changes, pilgrims move to other partitions: the data of the old ones are
 * deleted, and without a status each service refills the new ones from Postgres before it admits anything.
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

function statusVerbs(client: Client, tags: readonly string[]) {
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
  } satisfies Partial<Kv>
}

function cacheVerbs(client: Client) {
  return {
    cached: (key) => asked(client.get(`cache:${key}`)),
    async cache(key, value, ttlMs, alsoWhenFull = false) {
      const name = `cache:${key}`
      await asked(
        alsoWhenFull ? client.cacheWhenFull(name, value, ttlMs) : client.set(name, value, 'PX', ttlMs),
      )
    },
    async cacheOnce(key, value, ttlMs) {
      const held = await asked<string | null>(client.set(`cache:${key}`, value, 'PX', ttlMs, 'NX', 'GET'))
      return held ?? value
    },
    exchange: async (key, before, value, ttlMs) =>
      (await asked<number>(client.cacheExchange(`cache:${key}`, before ?? '', value ?? '', ttlMs))) === 1,
    async forget(key) {
      await asked(client.del(`cache:${key}`))
    },
    forgetAll: (prefix) => unlinkAll(client, (key) => key.startsWith(`cache:${prefix}`)),
  } satisfies Partial<Kv>
}

function lockVerbs(client: Client) {
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
  } satisfies Partial<Kv>
}

/** Used fraction of a server's memory, from its INFO. */
const memoryFraction = (info: string): number => {
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
  return read('maxmemory') === 0 ? 0 : read('used_memory') / read('maxmemory')
}

function healthVerbs(clients: readonly [Client, ...Client[]], tags: readonly string[]) {
  const [client] = clients
  const listeners: (() => void)[] = []
  client.on('ready', () => {
    for (const listener of listeners) listener()
  })
  return {
    async probe() {
      // After an outage connections come back one by one, and calls on the others still fail.
      if (clients.some(({ status }) => status !== 'ready'))
        throw new KvUnavailable('a connection to the kv is not ready')
      await Promise.all(tags.map((tag) => asked(client.set(`${tag}:probe`, '1', 'PX', 60_000))))
    },
    async memoryUse() {
      const infos = await Promise.all(masters(client).map((node) => asked<string>(node.info('memory'))))
      return Math.max(0, ...infos.map(memoryFraction))
    },
    async servers() {
      const infos = await Promise.all(masters(client).map((node) => asked<string>(node.info('server'))))
      return infos.map((info) => /^run_id:(\S+)/m.exec(info)?.[1] ?? '')
    },
    async movingSlots() {
      if (!(client instanceof Cluster)) return 0
      const views = await Promise.all(masters(client).map((node) => asked<string>(node.cluster('NODES'))))
      // Each server lists only its own slots: [93->-node] is leaving, [93-<-node] is arriving.
      const moving = views.flatMap((view) => view.match(/\[\d+(?=-[<>]-)/g) ?? [])
      return new Set(moving).size
    },
    onReconnect(listener) {
      listeners.push(listener)
    },
  } satisfies Partial<Kv>
}

/** Erasures per call: the stack of a script holds a few thousand values. */
const ERASURES_A_CALL = 1_000
const stored = (one: Erased): (string | number)[] => [one.userHash, one.generation, storedMs(one)]

/**
 * @param requests the connection of requests: a pilgrim waits for `hide` in a transaction, so it has a short timeout
 */
function liveMapVerbs(client: Client, requests: Client, tags: readonly string[]) {
  return {
    async erase(userId, erased, caches = []) {
      const tag = tags[partitionOf(userId, tags.length)]!
      const pending = await asked<number>(
        client.gpsErase(tag, userId, ...stored({ userHash: userHash(userId), ...erased })),
      )
      await Promise.all(caches.map((key) => asked(client.del(`cache:${key}`))))
      return pending
    },
    async storeErasures(erased) {
      if (erased.length === 0) return
      // A hash does not reveal the pilgrim's partition, so every partition stores every erasure.
      for (let from = 0; from < erased.length; from += ERASURES_A_CALL) {
        const some = erased.slice(from, from + ERASURES_A_CALL).flatMap(stored)
        await Promise.all(tags.map((tag) => asked(client.gpsErase(tag, '', ...some))))
      }
    },
    async erased(partition) {
      const key = `${tags[partition]!}:erased`
      const held = new Map<string, Erased>()
      for await (const page of pages((cursor) => client.hscan(key, cursor, 'COUNT', SCANNED_A_CALL)))
        for (let i = 0; i < page.length; i += 2) held.set(page[i]!, erasedOf(page[i]!, page[i + 1]!))
      return [...held.values()]
    },
    async erasedAfter(partition, mark) {
      const key = `${tags[partition]!}:erased-order`
      const [, last = '0'] = await asked<string[]>(client.zrange(key, '-1', '-1', 'WITHSCORES'))
      // The store has lost its data, and its clock was set back.
      const from = Number(last) < mark ? 0 : mark
      if (Number(last) === from) return { userHashes: [], mark: from }
      const page = await asked<string[]>(
        client.zrangebyscore(key, `(${from}`, '+inf', 'WITHSCORES', 'LIMIT', 0, SCANNED_A_CALL),
      )
      return { userHashes: page.filter((_, i) => i % 2 === 0), mark: Number(page.at(-1)) }
    },
    moved: (partition, sinceMs, count) => moved(client, tags[partition]!, sinceMs, count),
    async dropPositions(partition, skip, count, fromMs, toMs) {
      const script = client.gpsDropPositions(tags[partition]!, skip, count, fromMs, toMs)
      const [seen, dropped] = await asked<[number, number]>(script)
      return { seen, dropped }
    },
    async hide(userId, hidden, refused = false) {
      const tag = tags[partitionOf(userId, tags.length)]!
      await asked(requests.gpsHide(tag, userId, Number(hidden), Number(refused)))
    },
    hidden: (partition) => membersOf(client, `${tags[partition]!}:hidden`),
    refused: (partition) => membersOf(client, `${tags[partition]!}:refused`),
  } satisfies Partial<Kv>
}

const SCANNED_A_CALL = 1_000

/** Reads a set or a hash in pages, because a command that reads it whole blocks Redis. An entry may appear twice. */
async function* pages(scan: (cursor: string) => Promise<[string, string[]]>): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const [next, page] = await asked<[string, string[]]>(scan(cursor))
    yield page
    cursor = next
  } while (cursor !== '0')
}

async function membersOf(client: Client, key: string): Promise<string[]> {
  const members = new Set<string>()
  for await (const page of pages((cursor) => client.sscan(key, cursor, 'COUNT', SCANNED_A_CALL)))
    for (const member of page) members.add(member)
  return [...members]
}

function erasedOf(hash: string, stamp: string): Erased {
  const [generation = 0, time = 0] = stamp.split('|').map(Number)
  const stands = time >= STANDS_MS
  return { userHash: hash, generation, erasedMs: stands ? time - STANDS_MS : time, stands }
}

async function moved(client: Client, tag: string, sinceMs: number, count: number): Promise<Moved[]> {
  const flat = await asked<string[]>(
    client.zrangebyscore(`${tag}:moved`, sinceMs, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
  )
  if (flat.length === 0) return []
  const users = flat.filter((_, i) => i % 2 === 0)
  const [places, hidden, returning] = await allOf<(string | number | null)[]>(
    client
      .pipeline()
      .hmget(`${tag}:live`, ...users)
      .smismember(`${tag}:hidden`, ...users)
      .zmscore(`${tag}:returning`, ...users),
  )
  return users.flatMap((userId, i) => {
    const [numbers, rough] = String(places?.[i] ?? '').split(',rough')
    const [t, lat, lng] = numbers!.split(',').map(Number)
    if (t === undefined || lat === undefined || lng === undefined) return []
    const hiddenUntilMs = hidden?.[i] === 1 ? Infinity : Number(returning?.[i] ?? 0)
    const position = { t, lat, lng, ...(rough !== undefined && { rough: true }) }
    return [{ userId, ...position, movedMs: Number(flat[2 * i + 1]), hiddenUntilMs }]
  })
}

// Connections to Redis, single or Cluster: scripts, timeouts, and the translation of errors.

const lua = (name: string): string => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8')

const counters = lua('counters')
const nextChange = lua('next-change')

/**
 * For scripts that free memory, or that write a few bytes for a flush, a pause, a withdrawal or an erasure (Redis 7).
 */
const ALSO_WHEN_FULL = '#!lua flags=allow-oom\n'

const SCRIPTS = {
  gpsAdmit: counters + lua('check-in-limit') + nextChange + lua('admit-points'),
  gpsAcknowledge: ALSO_WHEN_FULL + counters + lua('delete-stored-points'),
  gpsSetStatus: ALSO_WHEN_FULL + counters + lua('set-status'),
  gpsDropPositions: ALSO_WHEN_FULL + lua('drop-positions'),
  gpsHide: ALSO_WHEN_FULL + nextChange + lua('hide'),
  gpsErase: ALSO_WHEN_FULL + lua('erase'),
  windowLimit: lua('request-limit'),
  cacheWhenFull: `${ALSO_WHEN_FULL}return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`,
  cacheExchange: ALSO_WHEN_FULL + lua('exchange'),
  lockOwner: lua('unlock'),
  lockTake: ALSO_WHEN_FULL + lua('take-lock'),
}

type Script = (key: string, ...args: (string | number)[]) => Promise<unknown>
type Client = (Redis | Cluster) & Record<keyof typeof SCRIPTS, Script>

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
 * Connects, and reconnects indefinitely. Each command settles within `timeoutMs`. With ioredis's defaults a request
 * waits 71 s while Redis is down, and forever while it is frozen.
 * @param caller name of the process, which distinguishes its connections from those of others
 */
function connect(url: string, timeoutMs: number, caller: string): Client {
  const options = { ...OPTIONS, commandTimeout: timeoutMs, connectionName: `${NAME}${caller}` }
  const urls = url.split(',').map((node) => node.trim())
  const { username, password, protocol } = new URL(urls[0]!)
  const client =
    urls.length === 1
      ? new Redis(urls[0]!, options)
      : new Cluster(urls, {
          // Nodes that no URL names, such as replicas, can become masters: they use the first URL's login.
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
const asked = <T>(call: Promise<unknown>): Promise<T> => (call as Promise<T>).catch(translate)

/** The replies of a pipeline; the first failure fails it whole. */
const allOf = <Reply>(pipeline: ReturnType<Client['pipeline']>): Promise<Reply[]> =>
  asked(
    pipeline.exec().then((replies) =>
      (replies ?? []).map(([error, reply]) => {
        if (error !== null) throw error
        return reply
      }),
    ),
  )

/** The servers that hold data: all reachable masters of a Cluster, or the single server. */
const masters = (client: Client): Redis[] => (client instanceof Cluster ? client.nodes('master') : [client])

/** Epoch milliseconds; with several masters the earliest. */
async function readClock(client: Client): Promise<number> {
  const nodes = masters(client)
  if (nodes.length === 0) throw new KvUnavailable('no master is known')
  const times = await Promise.all(nodes.map((node) => asked<[string, string]>(node.time())))
  return Math.min(
    ...times.map(([seconds, micros]) => Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)),
  )
}

/** Number of connections of other callers to the same database. */
async function countOthers(client: Client, caller: string): Promise<number> {
  const lists = await Promise.all(masters(client).map((node) => asked<string>(node.client('LIST'))))
  const all = lists.flatMap((list) => list.split('\n')).map((line) => ` ${line} `)
  const isOwn = (line: string) => line.includes(` name=${NAME}${caller} `)
  const database = / db=\d+ /.exec(all.find(isOwn) ?? '')?.[0] ?? ''
  return all.filter((line) => line.includes(` name=${NAME}`) && !isOwn(line) && line.includes(database))
    .length
}

/**
 * The queue against the real service, over a network that loses, repeats, reorders and delays requests and
 * answers, on phones that are killed at any moment: every recorded point is stored once, and leaves the phone
 * only when it is durable.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import 'fake-indexeddb/auto'
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createClient,
  createMemoryStore,
  createTrackQueue,
  type Kind,
  type Locks,
  type QueueStore,
  type TrackQueue,
  type Fetch,
} from '#shared/client/index.ts'
import { openIndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import { openSqliteStore } from '#shared/client/queue/sqlite-store.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { admin, flushed, newPilgrimId, type TestStack } from '#tests/helpers/test-stack.ts'
import { simulatedClock, simulatedLocks, simulatedNetwork } from './simulated-phone.ts'

/** A network between a phone and the service, with scripted faults. */
const FATES = [
  'delivered',
  /** The request does not arrive. */
  'request-lost',
  /** The service handles the request, and its answer is lost. */
  'answer-lost',
  /** It arrives twice; the phone gets the second answer. */
  'twice',
  /** The phone gives up, and the request arrives later, after others. */
  'late',
  /** No response and no error, until the phone gives up. */
  'hanging',
] as const
type Fate = (typeof FATES)[number]

interface FaultyNetwork {
  readonly fetch: Fetch
  /** Delivers delayed requests. */
  settle(): Promise<void>
  /** Delivers everything from now on. */
  heal(): void
}

/** @param fates fates of the requests, in order; further ones are delivered */
function faultyNetwork(deliver: Fetch, fates: readonly Fate[]): FaultyNetwork {
  let left = [...fates]
  const late: (() => Promise<unknown>)[] = []
  const lost = () => {
    throw new TypeError('The connection was closed')
  }
  return {
    async fetch(url, init) {
      const { signal, ...request } = init
      switch (left.shift() ?? 'delivered') {
        case 'delivered':
          return deliver(url, request)
        case 'request-lost':
          return lost()
        case 'answer-lost':
          await deliver(url, request)
          return lost()
        case 'twice':
          await deliver(url, request)
          return deliver(url, request)
        case 'late':
          late.push(() => deliver(url, request))
          return lost()
        case 'hanging':
          late.push(() => deliver(url, request))
          return new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')))
          })
      }
    },
    async settle() {
      for (const send of late.splice(0)) await send()
    },
    heal() {
      left = []
    },
  }
}

const RUNS = 60
const SEED = 20_260_412
/** Longer than any wait of the queue. */
const LATER_MS = 120_000
const HANGS_MS = 40
const WRONG_MODE = 'm'.repeat(33)

let stack: TestStack
let directory = ''
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'queue-property-'))
  stack = await openEmbeddedTestStack({ EVENT_LIMIT_SYNC: '100000', EVENT_LIMIT_CHECKIN: '100000' })
})
afterAll(async () => {
  await stack?.close()
  rmSync(directory, { recursive: true })
})

/** `fetch` to the service, which also validates every response against the OpenAPI document. */
const deliver = (url: string, init: RequestInit): Promise<Response> =>
  stack.fetch(url.slice(url.indexOf('/api')), init)
const operator = createClient({ baseUrl: '', fetch: deliver, token: () => admin('owner')['X-Admin-Token'] })

const keyOf = (kind: Kind, t: number): string => `${kind} ${t}`

/** Stored points of a pilgrim, pending or not, with duplicates. */
async function storedOf(userId: string): Promise<string[]> {
  const answer = await operator.exportUser({ userId })
  if (!answer.ok) {
    expect(answer.error).toMatchObject({ code: 'not-found' })
    return []
  }
  const { gps_points, pending } = answer.data
  const rows = [...gps_points, ...(pending ?? [])] as { kind: 'c' | 't'; sent_at: string }[]
  return rows.map(({ kind, sent_at }) => keyOf(kind === 'c' ? 'checkin' : 'track', Date.parse(sent_at)))
}

const OPEN: Record<string, (name: string) => Promise<QueueStore>> = {
  memory: async () => createMemoryStore(),
  sqlite: async (name) => openSqliteStore(join(directory, `${name}.db`)),
  indexedDb: openIndexedDbStore,
}

/**
 * Store and locks as one process sees them: when it is killed, its calls never return and its lock is
 * released.
 */
function processWith(store: QueueStore, locks: Locks | undefined) {
  const killed = Promise.withResolvers<never>()
  killed.promise.catch(() => undefined)
  let isAlive = true
  const call =
    (name: keyof QueueStore) =>
    (...given: unknown[]) =>
      isAlive ? (store[name] as (...given: unknown[]) => unknown)(...given) : new Promise(() => undefined)
  const names = ['add', 'oldest', 'settle', 'counts', 'rejected', 'dismiss', 'waits', 'setWaits'] as const
  return {
    store: { ...store, ...Object.fromEntries(names.map((name) => [name, call(name)])) },
    locks: locks && {
      request: <T>(name: string, options: { signal: AbortSignal }, run: () => Promise<T>) =>
        locks.request(name, options, () => Promise.race([run(), killed.promise])),
    },
    kill() {
      isAlive = false
      killed.reject(new Error('killed'))
    },
  }
}

/**
 * A point of the walk, identified by its second: sometimes repeated, sometimes with a mode that the service
 * rejects.
 */
const aPoint = fc.record({ second: fc.nat(300), isWrong: fc.nat(6).map((n) => n === 0) })
const anAction = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('record' as const), points: fc.array(aPoint, { maxLength: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('checkin' as const), point: aPoint }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), awaited: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reload' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('late' as const) }) },
)

const aScenario = fc.record({
  kind: fc.constantFrom('memory', 'sqlite', 'indexedDb'),
  hasLocks: fc.boolean(),
  batch: fc.integer({ min: 1, max: 8 }),
  fates: fc.array(fc.constantFrom('delivered', ...FATES), { maxLength: 40 }),
  actions: fc.array(fc.tuple(fc.nat(1), anAction), { minLength: 4, maxLength: 25 }),
})

type Scenario = typeof aScenario extends fc.Arbitrary<infer T> ? T : never

test('everything recorded is stored once, and nothing is deleted before it is durable', () =>
  fc.assert(fc.asyncProperty(aScenario, walked), { numRuns: RUNS, seed: SEED, endOnFailure: true }))

async function walked({ kind, hasLocks, batch, fates, actions }: Scenario) {
  const userId = newPilgrimId()
  const startMs = Date.now() - 3_600_000
  const network = faultyNetwork(deliver, fates)
  const client = createClient({
    baseUrl: '',
    identity: { userId },
    fetch: network.fetch,
    timeoutMs: HANGS_MS,
  })
  const clock = simulatedClock(startMs + 1_800_000)
  const locks = hasLocks ? simulatedLocks() : undefined
  const underlying = await OPEN[kind]!(userId)
  const right = new Set<string>()
  const wrong = new Set<string>()

  const open = () => {
    const { store, kill, ...own } = processWith(underlying, locks)
    const limits = { points: batch, timeoutMs: HANGS_MS }
    const surroundings = { clock, network: { ...simulatedNetwork(), ...own } }
    return { queue: createTrackQueue({ client, store, limits, ...surroundings }), kill }
  }
  const tabs = [open(), open()]
  const unawaited: Promise<unknown>[] = []

  const keep = async (
    queue: TrackQueue,
    of: Kind,
    points: readonly { second: number; isWrong: boolean }[],
  ) => {
    // A given second is always valid or always invalid, so that the order does not matter.
    const given = points.map(({ second, isWrong }) => ({
      lat: 24 + second / 10_000,
      lng: 120.67,
      timestamp: startMs + second * 2_000 + (isWrong ? 1_000 : 0),
      ...(isWrong ? { mode: WRONG_MODE } : {}),
    }))
    for (const { mode, timestamp } of given) (mode === undefined ? right : wrong).add(keyOf(of, timestamp))
    const kept = of === 'track' ? await queue.record(given) : await queue.checkIn(given[0]!)
    expect(kept).toEqual({ ok: true })
  }

  /** Everything that left the phone is in the service or was rejected. */
  const check = async () => {
    const waiting = await tabs[0]!.queue.waiting()
    const aside = (await tabs[0]!.queue.rejected()).map((point) => keyOf(point.kind, point.t))
    const stored = new Set(await storedOf(userId))
    const onPhone = new Set([...waiting.map((point) => keyOf(point.kind, point.t)), ...aside])
    expect([...right, ...wrong].filter((key) => !onPhone.has(key) && !stored.has(key))).toEqual([])
    expect(aside.filter((key) => right.has(key))).toEqual([])
  }

  for (const [n, action] of actions) {
    const tab = tabs[n]!
    if (action.do === 'record') await keep(tab.queue, 'track', action.points)
    else if (action.do === 'checkin') await keep(tab.queue, 'checkin', [action.point])
    else if (action.do === 'late') await network.settle()
    else if (action.do === 'send') {
      clock.move(LATER_MS / 100)
      const sending = tab.queue.send()
      if (action.awaited) await sending
      else unawaited.push(sending)
    } else {
      tab.kill()
      tabs[n] = open()
      await check()
    }
  }
  // Finally the network recovers. Locks of killed processes are released with their requests.
  network.heal()
  await network.settle()
  for (let round = 0; round < 20 && (await tabs[0]!.queue.waiting()).length > 0; round++) {
    clock.move(LATER_MS)
    await tabs[round % 2]!.queue.send()
  }
  await check()
  expect(await tabs[0]!.queue.waiting()).toEqual([])
  expect(new Set((await tabs[0]!.queue.rejected()).map((point) => keyOf(point.kind, point.t)))).toEqual(wrong)
  await underlying.close()
  finished.push({ userId, right })
}

const finished: { readonly userId: string; readonly right: Set<string> }[] = []

test('each point is in the database once, after all repetitions', async () => {
  await flushed(stack)
  expect(finished.length).toBe(RUNS)
  expect(finished.reduce((sum, { right }) => sum + right.size, 0)).toBeGreaterThan(RUNS * 10)
  for (const { userId, right } of finished) expect((await storedOf(userId)).sort()).toEqual([...right].sort())
})

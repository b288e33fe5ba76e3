/** The queue's decisions, against a service whose answers the test gives, on a clock that the test moves. */
import { afterAll, expect, test } from 'bun:test'
import {
  createClient,
  createMemoryStore,
  createTrackQueue,
  type QueueState,
  type QueueStore,
  type Sent,
} from '#shared/client/index.ts'
import { until } from '#tests/helpers/wait.ts'
import { simulatedClock, simulatedLocks, simulatedNetwork } from './simulated-phone.ts'

interface Asked {
  readonly path: string
  readonly user_id: string
  readonly points: readonly { readonly lat: number; readonly timestamp: number }[]
}
type Answering = (asked: Asked) => Response | Promise<Response>

const START = Date.parse('2026-04-12T01:00:00Z')
const at = (i: number) => ({ lat: 24 + i / 1_000, lng: 120.67, timestamp: START + i * 1_000 })
const stored = ({ points }: Asked): Response =>
  Response.json({
    ok: true,
    data: {
      accepted: points.length,
      duplicates: 0,
      rejected: [],
      durable_through: new Date(Math.max(...points.map(({ timestamp }) => timestamp))).toISOString(),
    },
  })
const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: `It is ${code}.`, code }, { status, headers })

const soon = (what: string) => ({ timeoutMs: 5_000, everyMs: 2, what })

const servers: Bun.Server<undefined>[] = []
afterAll(() => Promise.all(servers.map((server) => server.stop(true))))

/** A phone whose requests get the given answers. */
function phone({ store = createMemoryStore(), limits = {} }: { store?: QueueStore; limits?: object } = {}) {
  const asked: Asked[] = []
  const service = { answer: stored as Answering }
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const text = await request.text()
      const body = JSON.parse(text) as { user_id: string; points?: Asked['points'] }
      const one = { path: new URL(request.url).pathname, points: [], ...body }
      asked.push(one)
      return service.answer(one)
    },
  })
  servers.push(server)
  const who: { userId: string | undefined; isCut: boolean } = { userId: 'me', isCut: false }
  const client = createClient({
    baseUrl: server.url,
    fetch: (url, init) => (who.isCut ? Promise.reject(new TypeError('cut')) : fetch(url, init)),
    identity: () => (who.userId === undefined ? undefined : { userId: who.userId }),
  })
  const clock = simulatedClock(START + 3_600_000)
  const network = { ...simulatedNetwork(), locks: simulatedLocks() }
  const sent: Sent[] = []
  const open = () =>
    createTrackQueue({ client, store, clock, network, limits, onSent: (one) => sent.push(one) })
  return { queue: open(), open, asked, service, clock, network, sent, store, who }
}

const waitingOf = ({ waiting }: QueueState) => [waiting.checkIns, waiting.points]

test('sends the oldest first, in batches, and deletes what is durable', async () => {
  const { queue, asked, sent } = phone({ limits: { points: 2 } })
  for (const i of [3, 1, 5, 2, 4]) expect(await queue.record(at(i))).toEqual({ ok: true })
  expect(waitingOf(queue.state)).toEqual([0, 5])
  const state = await queue.send()
  expect(asked.map(({ points }) => points.map(({ timestamp }) => (timestamp - START) / 1_000))).toEqual([
    [1, 2],
    [3, 4],
    [5],
  ])
  expect(asked[0]).toMatchObject({ path: '/api/event/track/sync', user_id: 'me' })
  expect(asked[0]!.points[0]).toEqual(at(1))
  expect(state).toMatchObject({ why: null, sending: false, nextAttemptAt: null, stopped: false })
  expect(state.lastSentAt).toBe(START + 3_600_000)
  expect(waitingOf(state)).toEqual([0, 0])
  expect(await queue.waiting()).toEqual([])
  expect(sent.flatMap(({ durable }) => durable.map(({ t }) => t))).toEqual(
    [1, 2, 3, 4, 5].map((i) => at(i).timestamp),
  )
})

test('deletes exactly up to durable_through and the rejected, and tells of these', async () => {
  const { queue, service, asked } = phone()
  await queue.record([at(1), at(2), at(3), at(4)])
  service.answer = () =>
    asked.length > 1
      ? refused(503, 'unavailable')
      : Response.json({
          ok: true,
          data: {
            accepted: 1,
            duplicates: 1,
            rejected: [{ index: 2, reason: 'out-of-bounds' }],
            durable_through: new Date(at(2).timestamp).toISOString(),
          },
        })
  const state = await queue.send()
  expect(await queue.waiting()).toMatchObject([{ t: at(4).timestamp }])
  expect(state.rejected).toBe(1)
  const rejected = await queue.rejected()
  expect(rejected).toMatchObject([
    { t: at(3).timestamp, reason: 'out-of-bounds', fields: { lat: at(3).lat } },
  ])
  await queue.dismiss(rejected)
  expect(queue.state.rejected).toBe(0)
})

test('an answer that covers nothing deletes nothing, and is not asked for in a loop', async () => {
  const { queue, service, asked } = phone()
  await queue.record(at(1))
  const data = { accepted: 0, duplicates: 0, rejected: [], durable_through: null }
  service.answer = () => Response.json({ ok: true, data })
  expect(waitingOf(await queue.send())).toEqual([0, 1])
  expect(asked).toHaveLength(1)
  expect(queue.state).toMatchObject({ why: 'unexpected', nextAttemptAt: START + 3_601_000 })
})

test('a body has at most as many bytes as allowed, counted in UTF-8', async () => {
  const { queue, asked } = phone({ limits: { bytes: 1_000 } })
  await queue.record([1, 2, 3, 4, 5].map((i) => ({ ...at(i), source: '進香'.repeat(30) })))
  await queue.send()
  expect(asked.flatMap(({ points }) => points)).toHaveLength(5)
  for (const { path: _path, ...body } of asked)
    expect(new TextEncoder().encode(JSON.stringify(body)).length).toBeLessThanOrEqual(1_000)
  expect(asked.map(({ points }) => points.length)).toEqual([3, 2])
})

test('413 halves the request, for good; a single point that is too large is set aside', async () => {
  const { queue, asked, service } = phone({ limits: { points: 8 } })
  await queue.record([1, 2, 3, 4, 5, 6, 7, 8].map(at))
  service.answer = (one) =>
    one.points.length > 2 || one.points[0]?.lat === at(3).lat ? refused(413, 'too-large') : stored(one)
  await queue.send()
  expect(asked.map(({ points }) => points.length)).toEqual([8, 4, 2, 2, 1, 1, 1, 1, 1, 1])
  expect(await queue.waiting()).toEqual([])
  expect(await queue.rejected()).toMatchObject([
    { t: at(3).timestamp, reason: 'too-large', message: 'It is too-large.' },
  ])
})

test('waits as long as the service asks, also through a reload, and not longer after the clock was set back', async () => {
  const { queue, open, asked, service, clock } = phone()
  await queue.record(at(1))
  service.answer = () => refused(429, 'rate-limited', { 'retry-after': '30' })
  const limited = await queue.send()
  expect(limited).toMatchObject({
    why: 'rate-limited',
    message: 'It is rate-limited.',
    nextAttemptAt: clock.now() + 30_000,
  })
  service.answer = stored
  const reloaded = open()
  clock.move(29_999)
  expect(await reloaded.send()).toMatchObject({ why: 'rate-limited' })
  expect(asked).toHaveLength(1)
  clock.move(1)
  expect(waitingOf(await reloaded.send())).toEqual([0, 0])
  expect(asked).toHaveLength(2)

  await queue.record(at(2))
  service.answer = () => refused(503, 'unavailable', { 'retry-after': '30' })
  await queue.send()
  service.answer = stored
  clock.move(-86_400_000)
  expect(waitingOf(await queue.send())).toEqual([0, 0])
})

test('the rate limit of one kind does not hold up the other', async () => {
  const { queue, asked, service } = phone()
  await queue.checkIn(at(1))
  await queue.record(at(2))
  service.answer = (one) =>
    one.path.endsWith('checkin') ? refused(429, 'rate-limited', { 'retry-after': '9' }) : stored(one)
  expect(waitingOf(await queue.send())).toEqual([1, 0])
  expect(asked.map(({ path }) => path)).toEqual(['/api/event/checkin', '/api/event/track/sync'])
})

test('without a network the wait doubles up to a minute, and ends when the network is back', async () => {
  const { queue, asked, service, clock, network, who } = phone()
  await queue.record(at(1))
  service.answer = () => new Response('no', { status: 500 })
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    const { nextAttemptAt } = await queue.send()
    waits.push(nextAttemptAt! - clock.now())
    clock.move(waits.at(-1)!)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((s) => s * 1_000))
  expect(asked).toHaveLength(8)

  who.isCut = true
  const { why, nextAttemptAt } = await queue.send()
  expect({ why, wait: nextAttemptAt! - clock.now() }).toEqual({ why: 'network', wait: 60_000 })
  who.isCut = false
  service.answer = stored
  queue.start()
  network.set(true)
  await until(() => queue.state.waiting.points === 0, soon('the queue to be empty'))
  await queue.stop()
})

test.each([
  [403, 'paused', false],
  [401, 'unauthorized', false],
  [503, 'buffer-full', false],
  [200, 'unexpected', false],
  [403, 'ended', true],
  [403, 'forbidden', true],
  [409, 'erased', true],
] as const)('%p %s keeps the points and says so', async (status, code, stopped) => {
  const { queue, asked, service, clock } = phone()
  await queue.checkIn(at(1))
  await queue.record(at(2))
  service.answer = () => refused(status, code)
  const state = await queue.send()
  expect(state).toMatchObject({ why: code, stopped })
  expect(waitingOf(state)).toEqual([1, 1])
  expect(asked).toHaveLength(1)
  clock.move(3_600_000)
  service.answer = (one) =>
    one.path.endsWith('checkin') ? Response.json({ ok: true, data: {} }, { status: 202 }) : stored(one)
  expect(waitingOf(await queue.send())).toEqual(stopped ? [1, 1] : [0, 0])
  await queue.resume()
  expect(waitingOf(await queue.send())).toEqual([0, 0])
  expect(queue.state).toMatchObject({ why: null, stopped: false })
})

test('a check-in that is wrong is set aside with the sentence, and the next one goes', async () => {
  const { queue, service, sent } = phone()
  await queue.checkIn({ ...at(1), lat: 95 })
  await queue.checkIn(at(2))
  service.answer = (one) =>
    (one as unknown as { lat: number }).lat > 90
      ? refused(400, 'invalid-request')
      : Response.json({ ok: true, data: { recorded_at: 'then' } }, { status: 202 })
  expect(waitingOf(await queue.send())).toEqual([0, 0])
  expect(await queue.rejected()).toMatchObject([
    { kind: 'checkin', reason: 'invalid-request', message: 'It is invalid-request.' },
  ])
  expect(sent.at(-1)).toMatchObject({ kind: 'checkin', answer: { recorded_at: 'then' } })
})

test('what cannot be kept is said at once', async () => {
  const { queue, who, store } = phone()
  for (const timestamp of ['yesterday', NaN, 1e17, new Date('?')])
    expect(await queue.record({ lat: 24, lng: 120, timestamp })).toMatchObject({
      ok: false,
      error: { code: 'invalid-request', message: expect.stringMatching(/^timestamp: .* is no time/) },
    })
  expect(await queue.record([at(1), { ...at(2), timestamp: 'never' }])).toMatchObject({ ok: false })
  who.userId = undefined
  expect(await queue.record(at(1))).toMatchObject({ ok: false, error: { code: 'unauthorized' } })
  expect(await queue.send()).toMatchObject({ why: 'unauthorized' })
  who.userId = 'me'
  store.add = async () => {
    throw new Error('QuotaExceededError')
  }
  expect(await queue.record(at(1))).toMatchObject({
    ok: false,
    error: { code: 'storage', message: 'This device cannot keep the point: QuotaExceededError' },
  })
  expect(await queue.waiting()).toEqual([])
})

test('another pilgrim on the same device sends only what is theirs', async () => {
  const { queue, who, asked } = phone()
  await queue.record(at(1))
  who.userId = 'you'
  await queue.record(at(2))
  expect(waitingOf(await queue.send())).toEqual([0, 0])
  who.userId = 'me'
  expect(waitingOf(await queue.send())).toEqual([0, 0])
  expect(asked.map(({ user_id, points }) => [user_id, points.length])).toEqual([
    ['you', 1],
    ['me', 1],
  ])
})

test('by itself: collects track points, sends a check-in at once, and stops without losing', async () => {
  const { queue, asked, clock, service } = phone({ limits: { collectMs: 10_000, points: 3 } })
  const empty = () => until(() => waitingOf(queue.state).join() === '0,0', soon('the queue to be empty'))
  service.answer = (one) =>
    one.path.endsWith('checkin') ? Response.json({ ok: true, data: {} }, { status: 202 }) : stored(one)
  queue.start()
  queue.start()
  await queue.record(at(1))
  await empty()
  await queue.record(at(2))
  await queue.checkIn(at(3))
  await until(() => asked.length === 2, soon('the check-in'))
  expect(asked[1]!.path).toEndWith('checkin')
  clock.move(9_000)
  await queue.record(at(4))
  expect(asked).toHaveLength(2)
  clock.move(1_000)
  await empty()
  expect(asked).toHaveLength(3)
  expect(asked[2]!.points).toEqual([at(2), at(4)])
  await queue.record([at(5), at(6), at(7)])
  await empty()
  expect(asked).toHaveLength(4)

  const hanging = Promise.withResolvers<Response>()
  service.answer = () => hanging.promise
  clock.move(10_000)
  await queue.record(at(8))
  await until(() => asked.length === 5, soon('the request'))
  expect(queue.state.sending).toBe(true)
  await queue.stop()
  hanging.resolve(new Response())
  expect(queue.state.sending).toBe(false)
  expect(await queue.waiting()).toMatchObject([{ t: at(8).timestamp }])
})

test('offline: no attempt, for a minute, because browsers may be wrong', async () => {
  const { queue, asked, clock, network } = phone()
  network.set(false)
  queue.start()
  await queue.record(at(1))
  await until(() => queue.state.why === 'offline', soon('the queue to be offline'))
  expect(queue.state.nextAttemptAt).toBe(clock.now() + 60_000)
  clock.move(59_000)
  expect(asked).toHaveLength(0)
  clock.move(1_000)
  await until(() => queue.state.waiting.points === 0, soon('the queue to be empty'))
  await queue.record(at(2))
  network.set(true)
  clock.move(10_000)
  await until(() => asked.length === 2, soon('the second request'))
  await queue.stop()
})

test('two tabs: one sender at a time, and each sees what the other recorded', async () => {
  const { queue, open, asked, network } = phone({ limits: { points: 1 } })
  const other = open()
  await queue.record([at(1), at(2), at(3)])
  await other.record([at(4), at(5)])
  await Promise.all([queue.send(), other.send()])
  expect(asked.map(({ points }) => points[0]!.timestamp)).toEqual([1, 2, 3, 4, 5].map((i) => at(i).timestamp))
  expect(network.locks.mostAtOnce).toBe(1)
})

test('a store that fails is said, and tried again', async () => {
  const { queue, store, clock } = phone()
  await queue.record(at(1))
  const { oldest } = store
  store.oldest = async () => {
    throw new Error('The disk is gone')
  }
  expect(await queue.send()).toMatchObject({ why: 'storage', message: 'The disk is gone', sending: false })
  store.oldest = oldest
  clock.move(10_000)
  expect(waitingOf(await queue.send())).toEqual([0, 0])
})

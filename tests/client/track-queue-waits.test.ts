/** When the queue sends, and why it waits. */
import { expect, test } from 'bun:test'
import { until } from '#tests/helpers/wait.ts'
import { type Asked, at, phone, refused, SOON, stored, waitingOf } from './phone-harness.ts'

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

test('each refusal is waited for, whatever is added at random and however coarse the clock is', async () => {
  const { queue, asked, service, clock } = phone()
  service.answer = () => refused(403, 'paused')
  await queue.checkIn(at(1))
  for (let i = 1; i <= 50; i++) {
    clock.random = () => i / 51
    const { nextAttemptAt } = await queue.send()
    expect(asked).toHaveLength(i)
    expect(nextAttemptAt! - clock.now()).toBePositive()
    clock.move(nextAttemptAt! - clock.now())
  }
})

test('a clock that is corrected after each answer ends no wait', async () => {
  for (const correction of [-3, -120_000, 120_000]) {
    const { queue, asked, service, clock } = phone()
    service.answer = () => refused(403, 'paused')
    await queue.checkIn(at(1))
    queue.start()
    await until(() => queue.state.nextAttemptAt !== null, 'the wait', SOON)
    clock.move(correction)
    await queue.send()
    clock.move(-correction)
    await queue.send()
    expect(asked.length).toBe(correction > 0 ? 2 : 1)
    await queue.stop()
  }
})

test('where everything is refused for good, the phone asks no faster than after other failures', async () => {
  for (const [status, code] of [
    [413, 'too-large'],
    [400, 'invalid-request'],
  ] as const) {
    const { queue, asked, service, clock } = phone()
    service.answer = () => refused(status, code)
    await queue.record(Array.from({ length: 1_000 }, (_, i) => at(i)))
    let { nextAttemptAt } = await queue.send()
    expect(asked.length).toBeLessThan(25)
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      waits.push(nextAttemptAt! - clock.now())
      clock.move(waits.at(-1)!)
      nextAttemptAt = (await queue.send()).nextAttemptAt
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((s) => s * 1_000))
    expect(asked.length).toBeLessThan(33)
    service.answer = stored
    clock.move(60_000)
    expect(waitingOf(await queue.send())).toEqual([0, 0])
  }
})

test('a clock that was set back holds up no points that are collected, nor an attempt of a phone that seems offline', async () => {
  const { queue, clock, network } = phone()
  await queue.record(at(1))
  await queue.send()
  clock.move(-3_600_000)
  await queue.record({ ...at(2), timestamp: clock.now() })
  expect(queue.state.nextAttemptAt! - clock.now()).toBeLessThanOrEqual(10_000)
  network.set(false)
  await queue.record({ ...at(3), timestamp: clock.now() + 1 })
  expect(queue.state.nextAttemptAt! - clock.now()).toBeLessThanOrEqual(60_000)
})

test.each([
  [429, 'rate-limited'],
  [500, 'internal'],
])('%p %p of one kind does not hold up the other', async (status, code) => {
  const { queue, asked, service } = phone()
  await queue.checkIn(at(1))
  await queue.record(at(2))
  service.answer = (one) =>
    one.path.endsWith('checkin') ? refused(status, code, { 'retry-after': '9' }) : stored(one)
  expect(waitingOf(await queue.send())).toEqual([1, 0])
  expect(asked.map(({ path }) => path)).toEqual(['/api/event/checkin', '/api/event/track/sync'])
})

test.each([
  [1, 500, 'internal'],
  [60, 400, 'invalid-request'],
])('%p check-ins that get %p hold up neither good ones nor the track', async (bad, status, code) => {
  const { queue, service, clock } = phone()
  const [good, startMs] = [4, clock.now()]
  for (let i = 0; i < bad + good; i++) await queue.checkIn(at(i))
  await queue.record(at(900))
  service.answer = (one) => {
    if (!one.path.endsWith('checkin')) return stored(one)
    const { timestamp } = one as unknown as { timestamp: number }
    return timestamp < at(bad).timestamp
      ? refused(status, code)
      : Response.json({ ok: true, data: {} }, { status: 202 })
  }
  for (let i = 0; i < 2 * good; i++) {
    const { nextAttemptAt } = await queue.send()
    clock.move((nextAttemptAt ?? clock.now()) - clock.now())
  }
  expect(waitingOf(queue.state)).toEqual([status === 500 ? bad : 0, 0])
  expect(clock.now() - startMs).toBeLessThan(60_000)
})

test('without a network the wait doubles up to a minute, and ends when the network is back', async () => {
  const { queue, asked, service, clock, network, who } = phone()
  await queue.record(at(1))
  service.answer = () => new Response('no', { status: 503 })
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
  await until(() => queue.state.waiting.points === 0, 'the queue to be empty', SOON)
  await queue.stop()
})

test.each([
  [403, 'paused', false],
  [401, 'unauthorized', false],
  [503, 'buffer-full', false],
  [200, 'unexpected', false],
  [403, 'ended', true],
  [403, 'forbidden', true],
  [410, 'erased', true],
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

test('by itself: collects track points, sends a check-in at once, and stops without losing', async () => {
  const { queue, asked, clock, service } = phone({ limits: { collectMs: 10_000, points: 3 } })
  const empty = () => until(() => waitingOf(queue.state).join() === '0,0', 'the queue to be empty', SOON)
  service.answer = (one) =>
    one.path.endsWith('checkin') ? Response.json({ ok: true, data: {} }, { status: 202 }) : stored(one)
  queue.start()
  queue.start()
  await queue.record(at(1))
  await empty()
  await queue.record(at(2))
  await queue.checkIn(at(3))
  await until(() => asked.length === 2, 'the check-in', SOON)
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
  await until(() => asked.length === 5, 'the request', SOON)
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
  await until(() => queue.state.why === 'offline', 'the queue to be offline', SOON)
  expect(queue.state.nextAttemptAt).toBe(clock.now() + 60_000)
  clock.move(59_000)
  expect(asked).toHaveLength(0)
  clock.move(1_000)
  await until(() => queue.state.waiting.points === 0, 'the queue to be empty', SOON)
  await queue.record(at(2))
  network.set(true)
  clock.move(10_000)
  await until(() => asked.length === 2, 'the second request', SOON)
  await queue.stop()
})

test('a store that fails is said, and tried again', async () => {
  const { queue, store, clock } = phone()
  await queue.record(at(1))
  const { oldest } = store
  store.oldest = async () => {
    throw new Error('The disk is gone')
  }
  expect(await queue.send()).toMatchObject({ why: 'storage', message: 'The disk is gone', sending: false })
  await queue.record(at(2))
  expect(queue.state).toMatchObject({ why: 'storage', message: 'The disk is gone' })
  store.oldest = oldest
  clock.move(10_000)
  expect(waitingOf(await queue.send())).toEqual([0, 0])
})

test('a new queue reads what an earlier one left, and tells its listeners', async () => {
  const { queue, open } = phone()
  await queue.record([at(1), at(2)])
  await queue.checkIn(at(3))
  const reloaded = open()
  expect(reloaded.state.loaded).toBe(false)
  const told: number[][] = []
  reloaded.subscribe((state) => told.push(waitingOf(state)))
  expect(waitingOf(await reloaded.ready)).toEqual([1, 2])
  expect(reloaded.state.loaded).toBe(true)
  await until(() => told.length > 0, 'a listener to be told', SOON)
  expect(told.at(-1)).toEqual([1, 2])
  // Another tab has recorded in the meantime.
  await queue.record(at(4))
  await reloaded.waiting()
  expect(waitingOf(reloaded.state)).toEqual([1, 3])
})

test('a store that cannot be read at first is said, and read again', async () => {
  const { open, store } = phone()
  const { counts } = store
  store.counts = () => Promise.reject(new Error('The disk is gone'))
  const queue = open()
  expect(await queue.ready).toMatchObject({ loaded: false, why: 'storage', message: 'The disk is gone' })
  store.counts = counts
  await queue.record(at(1))
  expect(queue.state).toMatchObject({ loaded: true, why: null, waiting: { points: 1 } })
})

test.each([
  [503, 'unavailable'],
  [403, 'paused'],
] as const)('%p %s is said until a success, also between attempts', async (status, code) => {
  const { queue, open, asked, service, clock } = phone()
  const why = { why: code, message: `It is ${code}.` }
  await queue.record(at(1))
  service.answer = () => refused(status, code)
  expect(await queue.send()).toMatchObject(why)
  clock.move(3_600_000)
  await queue.record(at(2))
  expect(queue.state).toMatchObject({ ...why, nextAttemptAt: null })
  expect(await open().ready).toMatchObject(why)
  const attempt = Promise.withResolvers<Response>()
  service.answer = () => attempt.promise
  const sending = queue.send()
  await until(() => asked.length === 2, 'the attempt', SOON)
  expect(queue.state).toMatchObject(why)
  service.answer = stored
  attempt.resolve(refused(status, code))
  expect(await sending).toMatchObject(why)
  clock.move(3_600_000)
  expect(await queue.send()).toMatchObject({ why: null, message: null })
})

test('the return of the network does not hide why points wait, until they are stored', async () => {
  const { queue, who, asked, service, network } = phone()
  await queue.record(at(1))
  who.isCut = true
  expect(await queue.send()).toMatchObject({ why: 'network' })
  who.isCut = false
  const attempt = Promise.withResolvers<Response>()
  service.answer = () => attempt.promise
  queue.start()
  network.set(true)
  await until(() => asked.length === 1, 'the attempt', SOON)
  expect(queue.state).toMatchObject({ sending: true, why: 'network' })
  attempt.resolve(stored(asked[0]!))
  await until(() => queue.state.waiting.points === 0, 'the queue to be empty', SOON)
  expect(queue.state.why).toBeNull()
  await queue.stop()
})

test('a wait of an earlier run holds for send, and not after resume', async () => {
  const { queue, open, asked, service } = phone()
  await queue.record(at(1))
  service.answer = () => refused(503, 'unavailable', { 'retry-after': '300' })
  await queue.send()
  service.answer = stored
  const later = open()
  expect(await later.send()).toMatchObject({ why: 'unavailable' })
  expect(asked).toHaveLength(1)
  await later.resume()
  expect(waitingOf(await later.send())).toEqual([0, 0])
})

const DAY_MS = 86_400_000
/** A service that accepts points up to five minutes ahead of its clock, and check-ins up to a day ahead. */
const serviceOf =
  (nowMs: () => number, taken: Set<number>) =>
  ({ path, points, ...body }: Asked): Response => {
    const { timestamp } = body as unknown as { timestamp: number }
    if (path.endsWith('checkin')) {
      taken.add(timestamp)
      return Response.json({ ok: true, data: {} }, { status: 202 })
    }
    const isEarly = (ms: number) => ms > nowMs() + 300_000
    const rejected = points.flatMap(({ timestamp: ms }, index) =>
      isEarly(ms) ? [{ index, reason: 'in-the-future' }] : [],
    )
    const times = points.map(({ timestamp: ms }) => ms).filter((ms) => !isEarly(ms))
    for (const ms of times) taken.add(ms)
    const durable_through = times.length === 0 ? null : new Date(Math.max(...times)).toISOString()
    return Response.json({
      ok: true,
      data: { accepted: times.length, duplicates: 0, rejected, durable_through },
    })
  }

test.each([
  ['six minutes', 6 * 60_000],
  ['a day', DAY_MS],
])(
  'a clock that is %s fast: its points wait and are sent in time, and hold up nothing',
  async (_name, aheadMs) => {
    const { queue, open, asked, service, clock, sent } = phone()
    const taken = new Set<number>()
    const here = (i: number) => ({ ...at(i), timestamp: clock.now() + i })
    service.answer = serviceOf(() => clock.now() - aheadMs, taken)
    await queue.record([1, 2, 3].map(here))
    await queue.checkIn(here(4))
    const early = await queue.send()
    expect(waitingOf(early)).toEqual([0, 3])
    expect(early).toMatchObject({ rejected: 0, stopped: false, why: 'clock' })
    expect(early.nextAttemptAt).toBe(clock.now() + 60_000)
    expect(sent.flatMap(({ later }) => later)).toHaveLength(3)
    // Earlier points with correct times are sent at once; so is a check-in.
    await queue.record({ ...at(5), timestamp: clock.now() - aheadMs })
    await queue.checkIn(here(6))
    expect(waitingOf(await queue.send())).toEqual([0, 3])
    expect([...taken].filter((ms) => ms <= clock.now() - aheadMs)).toHaveLength(1)
    // Until then one point a minute is tried, even after a reload.
    const before = asked.length
    const reloaded = open()
    clock.move(60_000)
    await reloaded.send()
    if (aheadMs === DAY_MS) expect(asked.slice(before).map(({ points }) => points.length)).toEqual([1])
    clock.move(aheadMs)
    expect(waitingOf(await reloaded.send())).toEqual([0, 0])
    expect(await reloaded.rejected()).toEqual([])
    expect(taken.size).toBe(6)
    expect(reloaded.state).toMatchObject({ why: null, nextAttemptAt: null })
  },
)

test('a service whose clock is slow: what was early goes in growing requests as soon as the clock is right', async () => {
  const { queue, service, asked, clock } = phone()
  const taken = new Set<number>()
  let slowMs = DAY_MS
  service.answer = serviceOf(() => clock.now() - slowMs, taken)
  const points = Array.from({ length: 40 }, (_, i) => ({ ...at(i), timestamp: clock.now() - i }))
  await queue.record(points)
  expect(waitingOf(await queue.send())).toEqual([0, 40])
  slowMs = 0
  clock.move(60_000)
  expect(waitingOf(await queue.send())).toEqual([0, 0])
  expect(asked.slice(1).map((one) => one.points.length)).toEqual([1, 2, 4, 8, 16, 9])
  expect(taken.size).toBe(40)
})

test('a clock that jumps: early points are sent when it is right again, also where it was set back', async () => {
  const { queue, service, clock } = phone()
  const taken = new Set<number>()
  let aheadMs = 6 * 60_000
  service.answer = serviceOf(() => clock.now() - aheadMs, taken)
  await queue.record({ ...at(1), timestamp: clock.now() })
  await queue.send()
  clock.move(-aheadMs)
  aheadMs = 0
  // By the correct clock the point is a minute too early.
  const { nextAttemptAt, why } = await queue.send()
  expect({ why, ms: nextAttemptAt! - clock.now() }).toEqual({ why: 'clock', ms: 360_000 })
  // Points recorded meanwhile do not wait for it.
  await queue.record({ ...at(2), timestamp: clock.now() })
  expect(waitingOf(await queue.send())).toEqual([0, 1])
  clock.move(360_000)
  expect(waitingOf(await queue.send())).toEqual([0, 0])
  expect(taken.size).toBe(2)
})

test('a time that is further ahead than any clock is set aside, and holds up nothing', async () => {
  const { queue, service, clock } = phone()
  const taken = new Set<number>()
  service.answer = serviceOf(clock.now, taken)
  const far = { ...at(1), timestamp: clock.now() + 2 * DAY_MS + 1 }
  const near = { ...at(2), timestamp: clock.now() + 2 * DAY_MS }
  await queue.record([far, near])
  expect(waitingOf(await queue.send())).toEqual([0, 1])
  expect(await queue.rejected()).toMatchObject([{ t: far.timestamp, reason: 'in-the-future' }])
  expect(queue.state.nextAttemptAt).toBe(clock.now() + 3_600_000)
  for (let hour = 0; hour < 48; hour++) {
    clock.move(3_600_000)
    await queue.send()
  }
  expect(taken).toEqual(new Set([near.timestamp]))
  expect(queue.state.waiting.points).toBe(0)
})

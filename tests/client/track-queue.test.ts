/** What the queue sends, deletes and rejects. */
import { expect, test } from 'bun:test'
import { at, phone, refused, stored, waitingOf, START } from './phone-harness.ts'

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
    {
      t: at(3).timestamp,
      reason: 'out-of-bounds',
      message: 'The service does not take the point (out-of-bounds).',
      fields: { lat: at(3).lat },
    },
  ])
  await queue.dismiss(rejected)
  expect(queue.state.rejected).toBe(0)
})

test.each(['too-many', 'no-room'])(
  'a point that is rejected as %s is kept and sent again',
  async (reason) => {
    const { queue, service, asked } = phone()
    await queue.record([at(1), at(2)])
    service.answer = (one) =>
      asked.length > 1
        ? stored(one)
        : Response.json({
            ok: true,
            data: {
              accepted: 1,
              duplicates: 0,
              rejected: [{ index: 1, reason }],
              durable_through: new Date(at(1).timestamp).toISOString(),
            },
          })
    const state = await queue.send()
    expect(state.rejected).toBe(0)
    expect(asked.at(-1)!.points).toEqual([at(2)])
    expect(await queue.waiting()).toEqual([])
  },
)

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

test('a check-in that is wrong is set aside with the sentence, and the next one goes', async () => {
  const { queue, service, sent } = phone()
  await queue.checkIn({ ...at(1), mode: 'm'.repeat(33) })
  await queue.checkIn(at(2))
  service.answer = (one) =>
    (one as unknown as { mode?: string }).mode
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
  const noTimes = ['yesterday', NaN, 1e17, new Date('?'), '2026-11-22T12:00:00', '2026-11-22', '5', -1, '']
  for (const timestamp of noTimes)
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
    error: { code: 'storage', message: 'This device cannot keep it: QuotaExceededError' },
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

test('two tabs: one sender at a time, and each sees what the other recorded', async () => {
  const { queue, open, asked, network } = phone({ limits: { points: 1 } })
  const other = open()
  await queue.record([at(1), at(2), at(3)])
  await other.record([at(4), at(5)])
  await Promise.all([queue.send(), other.send()])
  expect(asked.map(({ points }) => points[0]!.timestamp)).toEqual([1, 2, 3, 4, 5].map((i) => at(i).timestamp))
  expect(network.locks.mostAtOnce).toBe(1)
})

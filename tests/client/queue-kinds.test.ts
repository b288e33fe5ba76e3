/** Kinds that an app adds to the queue, what it holds back, and the effects of a rejection. */
import { expect, test } from 'bun:test'
import 'fake-indexeddb/auto'
import {
  type AddedKind,
  createMemoryStore,
  createTrackQueue,
  type Locks,
  type QueueStore,
  type Rejected,
} from '#shared/client/index.ts'
import { openIndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import { until } from '#tests/helpers/wait.ts'
import { at, phone, refused, SOON, stored, waitingOf } from './phone-harness.ts'
import { simulatedNetwork } from './simulated-phone.ts'

/** A phone whose app adds the kinds `first`, `note`, `choice` (entries merge) and `alarm` (urgent). */
function appPhone(kept: QueueStore = createMemoryStore()) {
  const made = phone({ store: kept })
  const { client, clock, store, service } = made
  service.answer = (one) =>
    one.path.endsWith('checkin') ? Response.json({ ok: true, data: {} }, { status: 202 }) : stored(one)
  const settled: unknown[] = []
  /** Responses to the next requests of added kinds; null: accepted. */
  const answers: (null | { code: string; status: number })[] = []
  const kind = (more: Partial<AddedKind> = {}): AddedKind => ({
    async send({ kind: name, fields, userId }) {
      const answer = answers.shift() ?? null
      made.asked.push({ path: name, user_id: userId, points: [], ...fields })
      return answer === null
        ? { ok: true, status: 200, data: fields, headers: new Headers() }
        : { ok: false, error: { ...answer, message: `It is ${answer.code}.` } as never }
    },
    onSettled: (entries, { error }) => settled.push([entries.length, error?.code ?? 'taken']),
    ...more,
  })
  const gate: { code: 'paused' | null } = { code: null }
  const added = {
    first: kind(),
    alarm: kind({ urgent: true }),
    note: kind(),
    choice: kind({ mergesBy: () => '' }),
    picture: kind({ mergesBy: (fields) => (fields as { of: string }).of, last: true }),
  }
  const queue = createTrackQueue({
    client,
    store,
    clock,
    network: simulatedNetwork(),
    added,
    holds: (name) =>
      gate.code !== null && !(name in added) ? { code: gate.code, status: 0, message: 'Held.' } : null,
  })
  return { ...made, queue, settled, answers, gate, paths: () => made.asked.map(({ path }) => path) }
}

test('added kinds go first, in their order, each entry once; what merges goes as one', async () => {
  const { queue, asked, settled, paths } = appPhone()
  await queue.checkIn(at(1))
  // In parallel, so that their times collide.
  await Promise.all([
    queue.keep('choice', { a: 1, b: 1 }),
    queue.keep('choice', { b: 2 }),
    queue.keep('note', { n: 1 }),
    queue.keep('note', { n: 2 }),
    queue.keep('first', {}),
    queue.keep('picture', { of: 'a', n: 1 }),
    queue.keep('picture', { of: 'b', n: 2 }),
    queue.keep('picture', { of: 'a', m: 3 }),
  ])
  expect(queue.state.added).toEqual({ first: 1, alarm: 0, note: 2, choice: 2, picture: 3 })
  await queue.send()
  expect(paths()).toEqual(['first', 'note', 'note', 'choice', '/api/event/checkin', 'picture', 'picture'])
  expect(asked.slice(5)).toMatchObject([
    { of: 'a', n: 1, m: 3 },
    { of: 'b', n: 2 },
  ])
  expect(asked.slice(1, 4)).toMatchObject([{ n: 1 }, { n: 2 }, { a: 1, b: 2 }])
  expect(settled).toEqual([
    [1, 'taken'],
    [1, 'taken'],
    [1, 'taken'],
    [2, 'taken'],
    [2, 'taken'],
    [1, 'taken'],
  ])
  expect(queue.state.added).toEqual({ first: 0, alarm: 0, note: 0, choice: 0, picture: 0 })
})

test('an entry belongs to whoever was signed in when it was kept, also where the store is slow', async () => {
  const store = createMemoryStore()
  const slow = Promise.withResolvers<void>()
  const add = store.add.bind(store)
  store.add = async (entries) => {
    await slow.promise
    return add(entries)
  }
  const { queue, who } = appPhone(store)
  const kept = [queue.keep('note', { n: 1 }), queue.keep('note', { n: 2 })]
  await Promise.resolve()
  who.userId = 'other'
  slow.resolve()
  expect(await Promise.all(kept)).toEqual([{ ok: true }, { ok: true }])
  expect(await store.oldest('me', 'note', 9)).toHaveLength(2)
  expect(await store.oldest('other', 'note', 9)).toEqual([])
})

test.each([
  ['memory', async () => createMemoryStore()],
  ['the browser', () => openIndexedDbStore('refused-entries')],
])(
  'what the service will never take is set aside with its reason, and is no rejected point: %s',
  async (_, open) => {
    const { queue, answers, settled } = appPhone(await open())
    for (const [code, status] of [
      ['ended', 403],
      ['invalid-request', 400],
    ] as const) {
      answers.push({ code, status })
      await queue.keep('note', { code })
      await queue.send()
      const [aside] = (await queue.refused()) as [Rejected]
      expect(aside).toMatchObject({ kind: 'note', fields: { code }, reason: code })
      expect(queue.state).toMatchObject({ rejected: 0, why: null })
      expect(await queue.rejected()).toEqual([])
      await queue.dismiss([aside])
      expect(settled.pop()).toEqual([1, code])
    }
  },
)

test('two refused entries of the same instant are both set aside', async () => {
  const { queue, answers } = appPhone()
  for (const n of [1, 2]) {
    answers.push({ code: 'invalid-request', status: 400 })
    await queue.keep('note', { n })
    await queue.send()
  }
  expect(await queue.refused()).toMatchObject([{ fields: { n: 1 } }, { fields: { n: 2 } }])
})

test('a failure holds up its kind or all; an urgent kind is held up by its own alone', async () => {
  const { queue, answers, asked, clock, paths } = appPhone()
  answers.push({ code: 'rate-limited', status: 429 })
  await queue.keep('first', {})
  await queue.keep('note', {})
  await queue.send()
  expect(paths()).toEqual(['first', 'note'])
  clock.move(120_000)
  await queue.send()
  asked.length = 0
  answers.push({ code: 'unavailable', status: 503 })
  await queue.keep('note', {})
  await queue.send()
  await queue.keep('alarm', {})
  await queue.send()
  // Its success ends the wait of all.
  expect(paths()).toEqual(['note', 'alarm', 'note'])
  answers.push({ code: 'unavailable', status: 503 })
  await queue.keep('alarm', {})
  await queue.checkIn(at(1))
  await queue.send()
  expect(paths().slice(3)).toEqual(['alarm', '/api/event/checkin'])
})

test('an entry that fails the service holds up no other of its kind', async () => {
  const { queue, answers, asked, clock } = appPhone()
  answers.push({ code: 'internal', status: 500 })
  for (const n of [1, 2]) await queue.keep('note', { n })
  await queue.send()
  clock.move(2_000)
  await queue.send()
  expect(asked).toMatchObject([{ n: 1 }, { n: 2 }, { n: 1 }])
})

test('what the app holds is kept, says why, and goes as soon as it may', async () => {
  const { queue, gate, paths } = appPhone()
  gate.code = 'paused'
  queue.start()
  await queue.checkIn(at(1))
  await queue.record([at(2), at(3)])
  await queue.keep('note', {})
  await until(() => queue.state.added['note'] === 0, 'the note', SOON)
  expect(paths()).toEqual(['note'])
  expect(queue.state).toMatchObject({ why: 'paused', nextAttemptAt: null })
  expect(waitingOf(queue.state)).toEqual([1, 2])
  gate.code = null
  queue.awaken()
  await until(() => waitingOf(queue.state).join() === '0,0', 'the queue to be empty', SOON)
  await queue.stop()
})

test.each([
  [403, 'paused'],
  [401, 'unauthorized'],
  [429, 'rate-limited'],
  [503, 'unavailable'],
  [502, undefined],
] as const)('after %p %p one point tries, and the rest goes in one request', async (status, code) => {
  const { queue, asked, service, clock } = phone()
  await queue.record(Array.from({ length: 400 }, (_, i) => at(i)))
  service.answer = () => (code ? refused(status, code) : new Response('<p>Gateway</p>', { status }))
  for (let i = 0; i < 5; i++) {
    const { nextAttemptAt } = await queue.send()
    clock.move(nextAttemptAt! - clock.now())
  }
  service.answer = stored
  await queue.send()
  expect(asked.map(({ points }) => points.length)).toEqual([400, 1, 1, 1, 1, 1, 399])
  expect(waitingOf(queue.state)).toEqual([0, 0])
})

test.each([
  ['of something in between', {}, 300_000],
  ['of the service', { code: 'unavailable' }, 86_400_000],
])('Retry-After of a day %s', async (_, body, expected) => {
  const { queue, service, clock, asked } = phone()
  await queue.record(at(1))
  service.answer = () => Response.json(body, { status: 503, headers: { 'retry-after': '86400' } })
  const { nextAttemptAt } = await queue.send()
  expect(nextAttemptAt! - clock.now()).toBe(expected)
  service.answer = stored
  // The service has answered another request: only network failures are over.
  await queue.reconnected()
  await queue.send()
  expect(asked).toHaveLength('code' in body ? 1 : 2)
})

test('a tab that loses the lock sends nothing more, and looks again', async () => {
  const { open, asked, service, store, network, clock } = phone()
  const held: ((why: Error) => void)[] = []
  const locks: Locks = {
    request: (_name, _options, run) =>
      new Promise((resolve, reject) => {
        held.push(reject)
        run().then(resolve, reject)
      }),
  }
  const answer = Promise.withResolvers<Response>()
  service.answer = () => answer.promise
  Object.assign(network, { locks })
  const queue = open()
  await queue.record(at(1))
  queue.start()
  await until(() => asked.length === 1, 'the request', SOON)
  held[0]!(new DOMException('Stolen', 'AbortError'))
  answer.resolve(stored(asked[0]!))
  await until(() => !queue.state.sending, 'the end of the round', SOON)
  expect(queue.state.why).not.toBe('storage')
  service.answer = stored
  clock.move(10_000)
  await until(() => asked.length === 2, 'the next look', SOON)
  await until(async () => (await store.oldest('me', 'track', 9)).length === 0, 'the point to be stored', SOON)
  await queue.stop()
})

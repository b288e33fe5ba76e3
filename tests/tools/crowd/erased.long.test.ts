/** A demo phone whose pilgrim was erased by the organisers: like the app, it registers nobody again. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createClient, type Fetch } from '#shared/client/index.ts'
import { createPerson } from './person.ts'
import { Phone } from './phone.ts'
import { createTally } from './tally.ts'
import { createTurns } from './turns.ts'
import { readWay } from './way.ts'
import { openTestStack } from '#tests/helpers/open-test-stack.ts'
import { admin, flushed, type TestStack } from '#tests/helpers/test-stack.ts'

const MINUTE = 60_000

let stack: TestStack
beforeAll(async () => {
  stack = await openTestStack()
})
afterAll(() => stack?.close())

test('it sends nothing more once it has noticed, and holds nothing', async () => {
  const fetch: Fetch = (path, init) => stack.fetch(path, init)
  const common = { baseUrl: '', fetch }
  const owner = createClient({ ...common, token: () => admin('owner')['X-Admin-Token'] })
  const person = createPerson(1, 4, readWay(), Math.random)
  const { userId } = person
  const tally = createTally()
  let nowMs = Date.now()
  const phone = new Phone({
    person,
    tally,
    shared: createClient(common),
    departureMs: nowMs - 60 * MINUTE,
    turns: createTurns(1),
    callTurns: createTurns(1),
    random: Math.random,
    now: () => nowMs,
    clientOf: (id) =>
      createClient({
        ...common,
        identity: { userId: id },
      }),
    signal: new AbortController().signal,
  })
  let clockS = 0
  const walk = () => {
    clockS += 60
    phone.record({ lat: 24 + clockS / 1e5, lng: 120.67, clockS, accuracy: 5 })
    return phone.send()
  }
  const profile = () => owner.readProfile({ userId })

  phone.call((client) => client.syncProfile({ display_name: person.name }))
  await walk()
  await flushed(stack)
  nowMs += 6 * MINUTE
  await walk()
  expect(await profile()).toMatchObject({ data: { display_name: person.name } })
  expect((await owner.eraseUser({ userId })).ok).toBe(true)

  // It polled a moment ago, and sends once more, which is rejected: the pilgrim is not registered again.
  await walk()
  await flushed(stack)
  expect(await profile()).toMatchObject({ ok: false, error: { status: 404 } })
  const { points } = tally
  nowMs += 6 * MINUTE
  await walk()
  await walk()
  expect(tally).toMatchObject({ points, callsWaiting: 0 })
  expect(phone.held).toBe(0)
  expect(tally.recorded - tally.points).toBe(tally.rejected.get('erased') ?? 0)
})

/**
 * Erasures while their dependencies, or their own process, are killed. An erasure is recorded completely or
 * not at all. A repeated call never returns 404 while data remains. Finally no data remains.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rename } from 'node:fs/promises'
import { Erasure } from '#shared/contracts/erasure.ts'
import { startEmbedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { findInStores, type Places } from '#tests/helpers/stores.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { flushed, healthOf, SETTINGS, type TestStack } from '#tests/helpers/test-stack.ts'
import { type OwnedTestStack, openOwnedTestStack } from '#tests/helpers/test-stack-real.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { erase, fillIn, MANY_PEOPLE, newPerson, type Person, placesOf, wordsOf } from './person.ts'

const SEED = Number(process.env.ERASURE_SEED ?? 1)
const KILLS = process.env.FAULTS === 'long' ? 12 : 3
/** Typical duration of an erasure. */
const SPAN_MS = 60
const DONE_MS = 60_000
const TEST_MS = 200_000

const partsOf = async (answer: Response): Promise<string[]> =>
  Erasure.parse(((await answer.json()) as { data: unknown }).data).remaining

/** Repeats an erasure until it returns 404, and then checks that no data remains. */
async function repeat(stack: Pick<TestStack, 'fetch'>, places: Places, person: Person): Promise<void> {
  const words = [person.userId, ...wordsOf(person.before)]
  await until(
    async () => {
      const { status } = await erase(stack as TestStack, person)
      expect([200, 202, 404, 503]).toContain(status)
      if (status === 404) expect(await findInStores(places, words)).toEqual([])
      return status === 404
    },
    'an erasure to be through',
    { timeoutMs: DONE_MS, everyMs: 500 },
  )
  expect(await findInStores(places, words)).toEqual([])
}

describeOnServers('an erasure under outages', () => {
  let stack: OwnedTestStack
  let places: Places
  beforeAll(async () => {
    stack = await openOwnedTestStack({ settings: MANY_PEOPLE })
    places = placesOf(stack.settings)
  })
  afterAll(() => stack?.close())

  async function somebody(): Promise<Person> {
    const person = newPerson()
    await fillIn(stack, person)
    await flushed(stack)
    return person
  }
  const well = () =>
    until(async () => (await healthOf(stack)).status === 'ok', 'health', { timeoutMs: 30_000 })
  const swept = (person: Person) =>
    until(
      async () => (await findInStores(places, [person.userId, ...wordsOf(person.before)])).length === 0,
      'nothing to be left, although nobody asks again',
      { timeoutMs: 30_000, everyMs: 500 },
    )

  test(
    'without Redis: the rows are deleted, the rest follows in the background, and a repeated call answers so',
    async () => {
      const person = await somebody()
      await stack.redis.stop('SIGKILL')
      const answer = await erase(stack, person)
      expect(answer.status).toBe(202)
      expect(await partsOf(answer)).toEqual(['buffer'])
      const again = await erase(stack, person)
      expect(again.status).toBe(202)
      expect(await partsOf(again)).toEqual(['buffer'])
      // Not by the process that received the call.
      await stack.service('admin').stop('SIGKILL')
      await stack.service('admin').restart()
      await stack.redis.restart()
      await swept(person)
      await well()
      await repeat(stack, places, person)
    },
    TEST_MS,
  )

  test(
    'without the object store: the same',
    async () => {
      const person = await somebody()
      await rename(places.objectsDir, `${places.objectsDir}-away`)
      const answer = await erase(stack, person)
      expect(answer.status).toBe(202)
      expect(await partsOf(answer)).toEqual(['objects'])
      expect((await erase(stack, person)).status).toBe(202)
      await rename(`${places.objectsDir}-away`, places.objectsDir)
      await swept(person)
      await repeat(stack, places, person)
    },
    TEST_MS,
  )

  test(
    'without NATS: the erasure is complete',
    async () => {
      const person = await somebody()
      await stack.nats.stop('SIGKILL')
      expect((await erase(stack, person)).status).toBe(200)
      await stack.nats.restart()
      await repeat(stack, places, person)
    },
    TEST_MS,
  )

  test(
    'without Postgres: nothing is erased, and the call fails',
    async () => {
      const person = await somebody()
      await stack.postgres.stop('SIGKILL')
      expect((await erase(stack, person)).status).toBe(503)
      await stack.postgres.restart()
      await well()
      expect((await stack.fetch(`/api/event/user/${person.userId}`)).status).toBe(200)
      expect((await erase(stack, person)).status).toBe(200)
      await repeat(stack, places, person)
    },
    TEST_MS,
  )

  const victims = {
    Redis: () => stack.redis,
    Postgres: () => stack.postgres,
    NATS: () => stack.nats,
    'the admin service': () => stack.service('admin'),
  }
  test.each(Object.keys(victims) as (keyof typeof victims)[])(
    `%s is killed at a random moment; seed ${SEED}`,
    async (name) => {
      const random = createRandom(SEED)
      for (let i = 0; i < KILLS; i++) {
        const person = await somebody()
        const erasing = erase(stack, person).catch(() => null)
        await Bun.sleep(random() * SPAN_MS)
        const server = victims[name]()
        await server.stop('SIGKILL')
        const answer = await erasing
        // Caddy responds for a service that is down.
        expect([200, 202, 503]).toContain(answer?.status ?? 503)
        await server.restart()
        await repeat(stack, places, person)
        await well()
      }
    },
    TEST_MS,
  )
})

test(
  `the files of the embedded run contain no erased data after a kill at a random moment and a restart; seed ${SEED}`,
  async () => {
    const random = createRandom(SEED)
    const settings = { ...SETTINGS, ...MANY_PEOPLE }
    let run = await startMigratedEmbedded(settings)
    const stack = () => run as unknown as TestStack
    const places = placesOf({ EVENT_DATA_DIR: run.dataDir })
    for (let i = 0; i < KILLS; i++) {
      const person = newPerson()
      await fillIn(stack(), person)
      if (i % 2 === 0) await flushed(stack())
      const erasing = erase(stack(), person).catch(() => null)
      await Bun.sleep(random() * SPAN_MS * 2)
      await run.stop('SIGKILL')
      await erasing
      run = await startEmbedded({ ...settings, EVENT_DATA_DIR: run.dataDir })
      await repeat(stack(), places, person)
    }
    await run.stop()
    run.remove()
  },
  TEST_MS,
)

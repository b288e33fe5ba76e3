/**
 * Erasures whose dependencies, or whose own process, are killed meanwhile. An erasure is recorded completely or not at
 * all. A repeated call never answers 404 while data remains. In the end no data remains.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rename } from 'node:fs/promises'
import { Erasure } from '#shared/contracts/erasure.ts'
import { startEmbedded } from '#tests/helpers/embedded.ts'
import { findInStores, type Places } from '#tests/helpers/stores.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { flushed, healthOf, SETTINGS, type World } from '#tests/helpers/test-stack.ts'
import { type FragileWorld, openFragileWorld } from '#tests/helpers/test-stack-real.ts'
import { WORLD_MS } from '#tests/helpers/open-test-stack.ts'
import { randomBy } from '#tests/scheduler/walks.ts'
import { erase, fillIn, MANY_PEOPLE, newPerson, type Person, placesOf, wordsOf } from './person.ts'

const SEED = Number(process.env.ERASURE_SEED ?? 1)
const KILLS = process.env.FAULTS === 'long' ? 12 : 3
/** Typical duration of an erasure. */
const SPAN_MS = 60
const DONE_MS = 60_000
const TEST_MS = 200_000

const partsOf = async (answer: Response): Promise<string[]> =>
  Erasure.parse(((await answer.json()) as { data: unknown }).data).remaining

/** Repeats an erasure until it answers 404, and checks that no data remains then. */
async function repeat(world: Pick<World, 'fetch'>, places: Places, person: Person): Promise<void> {
  const words = [person.userId, ...wordsOf(person.before)]
  await until(
    async () => {
      const { status } = await erase(world as World, person)
      expect([200, 202, 404, 503]).toContain(status)
      if (status === 404) expect(await findInStores(places, words)).toEqual([])
      return status === 404
    },
    { timeoutMs: DONE_MS, what: 'an erasure to be through', everyMs: 500 },
  )
  expect(await findInStores(places, words)).toEqual([])
}

describeOnServers('an erasure under outages', () => {
  let world: FragileWorld
  let places: Places
  beforeAll(async () => {
    world = await openFragileWorld({ settings: MANY_PEOPLE })
    places = placesOf(world.settings)
  }, WORLD_MS)
  afterAll(() => world.close(), WORLD_MS)

  async function somebody(): Promise<Person> {
    const person = newPerson()
    await fillIn(world, person)
    await flushed(world)
    return person
  }
  const well = () =>
    until(async () => (await healthOf(world)).status === 'ok', { timeoutMs: 30_000, what: 'health' })
  const swept = (person: Person) =>
    until(async () => (await findInStores(places, [person.userId, ...wordsOf(person.before)])).length === 0, {
      timeoutMs: 30_000,
      what: 'nothing to be left, although nobody asks again',
      everyMs: 500,
    })

  test(
    'without Redis: the rows are deleted, the rest follows in the background, and a repeated call answers so',
    async () => {
      const person = await somebody()
      await world.redis.stop('SIGKILL')
      const answer = await erase(world, person)
      expect(answer.status).toBe(202)
      expect(await partsOf(answer)).toEqual(['buffer'])
      const again = await erase(world, person)
      expect(again.status).toBe(202)
      expect(await partsOf(again)).toEqual(['buffer'])
      // Not by the process that received the call.
      await world.service('admin').stop('SIGKILL')
      await world.service('admin').restart()
      await world.redis.restart()
      await swept(person)
      await well()
      await repeat(world, places, person)
    },
    TEST_MS,
  )

  test(
    'without the object store: the same',
    async () => {
      const person = await somebody()
      await rename(places.objectsDir, `${places.objectsDir}-away`)
      const answer = await erase(world, person)
      expect(answer.status).toBe(202)
      expect(await partsOf(answer)).toEqual(['objects'])
      expect((await erase(world, person)).status).toBe(202)
      await rename(`${places.objectsDir}-away`, places.objectsDir)
      await swept(person)
      await repeat(world, places, person)
    },
    TEST_MS,
  )

  test(
    'without NATS: the erasure is complete',
    async () => {
      const person = await somebody()
      await world.nats.stop('SIGKILL')
      expect((await erase(world, person)).status).toBe(200)
      await world.nats.restart()
      await repeat(world, places, person)
    },
    TEST_MS,
  )

  test(
    'without Postgres: nothing is erased, and the call fails',
    async () => {
      const person = await somebody()
      await world.postgres.stop('SIGKILL')
      expect((await erase(world, person)).status).toBe(503)
      await world.postgres.restart()
      await well()
      expect((await world.fetch(`/api/event/user/${person.userId}`)).status).toBe(200)
      expect((await erase(world, person)).status).toBe(200)
      await repeat(world, places, person)
    },
    TEST_MS,
  )

  const victims = {
    Redis: () => world.redis,
    Postgres: () => world.postgres,
    NATS: () => world.nats,
    'the admin service': () => world.service('admin'),
  }
  test.each(Object.keys(victims) as (keyof typeof victims)[])(
    `%s is killed at a random moment; seed ${SEED}`,
    async (name) => {
      const random = randomBy(SEED)
      for (let i = 0; i < KILLS; i++) {
        const person = await somebody()
        const erasing = erase(world, person).catch(() => null)
        await Bun.sleep(random() * SPAN_MS)
        const server = victims[name]()
        await server.stop('SIGKILL')
        const answer = await erasing
        // Caddy answers for a service that does not run.
        expect([200, 202, 503]).toContain(answer?.status ?? 503)
        await server.restart()
        await repeat(world, places, person)
        await well()
      }
    },
    TEST_MS,
  )
})

test(
  `the files of the embedded run contain no erased data after a kill at a random moment and a restart; seed ${SEED}`,
  async () => {
    const random = randomBy(SEED)
    const settings = { ...SETTINGS, ...MANY_PEOPLE }
    let run = await startEmbedded(settings)
    const world = () => run as unknown as World
    const places = placesOf({ EVENT_DATA_DIR: run.dataDir })
    for (let i = 0; i < KILLS; i++) {
      const person = newPerson()
      await fillIn(world(), person)
      if (i % 2 === 0) await flushed(world())
      const erasing = erase(world(), person).catch(() => null)
      await Bun.sleep(random() * SPAN_MS * 2)
      await run.stop('SIGKILL')
      await erasing
      run = await startEmbedded({ ...settings, EVENT_DATA_DIR: run.dataDir })
      await repeat(world(), places, person)
    }
    await run.stop()
    run.remove()
  },
  TEST_MS,
)

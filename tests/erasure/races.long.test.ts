/**
 * Every kind of write concurrently with an erasure. Afterwards no store contains the earlier data. The
 * concurrent write is rejected, or belongs to a new person, of whom nothing remains after one more erasure.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Environment } from '#shared/runtime/config/config.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { lineSettings, type LineServer, startLineServer } from '#tests/helpers/line-server.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { findInStores, type Places } from '#tests/helpers/stores.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin, flushed, type TestStack } from '#tests/helpers/test-stack.ts'
import { openRealTestStack } from '#tests/helpers/test-stack-real.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { createRandom } from '#tests/helpers/random.ts'
import {
  DERIVED,
  erase,
  fillIn,
  MANY_PEOPLE,
  newPerson,
  type Person,
  placesOf,
  wordsOf,
  WRITES,
} from './person.ts'

const SEED = Number(process.env.ERASURE_SEED ?? 1)
const ROUNDS = process.env.FAULTS === 'long' ? 10 : 2
const RACE_MS = 200_000
/** Time until late data are dropped: an event that the sweep delivers, a journal that is replayed. */
const SETTLED_MS = 30_000
/** Typical time to draw a card. */
const SPAN_MS = 700

interface Opened {
  readonly stack: TestStack
  readonly places: Places
}

const open: Record<TestStack['kind'], (settings: Environment) => Promise<Opened>> = {
  async embedded(settings) {
    const dataDir = await newDirectory('erasing')
    const stack = await openEmbeddedTestStack({ ...settings, EVENT_DATA_DIR: dataDir })
    return { stack, places: placesOf({ EVENT_DATA_DIR: dataDir }) }
  },
  async real(settings) {
    const stack = await openRealTestStack({ settings })
    return { stack, places: placesOf(stack.settings) }
  },
}

/** Checks that no store contains these words, after late data has been dropped. */
const expectNothing = (places: Places, words: readonly string[]): Promise<unknown> => {
  let found: string[] = []
  return until(
    async () => (found = await findInStores(places, words)).length === 0,
    'nothing to be left of the erased',
    { timeoutMs: SETTLED_MS, everyMs: 1_000 },
  ).catch(() => expect(found).toEqual([]))
}

for (const kind of ['embedded', 'real'] as const)
  (kind === 'real' ? describeOnServers : describe)(`erasing at the same moment, ${kind}`, () => {
    let line: LineServer
    let opened: Opened
    beforeAll(async () => {
      line = startLineServer()
      opened = await open[kind]({ ...lineSettings(line), ...MANY_PEOPLE })
    })
    afterAll(async () => {
      await opened?.stack.close()
      await line?.stop()
    })

    const acts = { ...WRITES, ...DERIVED }
    /** One person for each kind of write. */
    const crowd = (): Map<string, Person> => new Map(Object.keys(acts).map((name) => [name, newPerson()]))

    /** One write and one erasure, each at a random moment. */
    async function race(name: string, person: Person, random: () => number): Promise<void> {
      const { stack } = opened
      const [actMs, eraseMs] = [random() * SPAN_MS, random() * SPAN_MS]
      const acting = Bun.sleep(actMs).then(() => acts[name]!(stack, person, person.after))
      await Bun.sleep(eraseMs)
      const response = await erase(stack, person)
      const { data } = (await response.json()) as { data: { remaining: string[] } }
      // 202: a busy machine needs more than the 8 s of a call. The rest is done in the background.
      expect([200, 202], name).toContain(response.status)
      expect({ name, isDone: data.remaining.length === 0 }).toEqual({ name, isDone: response.status === 200 })
      await acting
    }

    test(
      `no earlier data remains, and no data of the concurrent write remains after one more erasure; seed ${SEED}`,
      async () => {
        const { stack, places } = opened
        const random = createRandom(SEED)
        for (let round = 0; round < ROUNDS; round++) {
          const people = crowd()
          for (const person of people.values()) await fillIn(stack, person)
          if (round % 2 === 0) await flushed(stack)
          const all = [...people]
          expect(
            await findInStores(
              places,
              all.map(([, { userId }]) => userId),
            ),
          ).not.toEqual([])
          await Promise.all(all.map(([name, person]) => race(name, person, random)))
          // A call without new data about the person must not even leave the id.
          const derived = all.filter(([name]) => name in DERIVED).map(([, { userId }]) => userId)
          await expectNothing(places, [...all.flatMap(([, { before }]) => wordsOf(before)), ...derived])
          for (const [, person] of all) {
            const again = await erase(stack, person)
            expect([200, 404]).toContain(again.status)
            await sentenceOf(await erase(stack, person), 404, 'not-found')
          }
          const words = all.flatMap(([, { userId, before, after }]) => [
            userId,
            ...wordsOf(before),
            ...wordsOf(after),
          ])
          await expectNothing(places, words)
          await expectNothingShown(
            stack,
            all.map(([, person]) => person),
          )
        }
      },
      RACE_MS,
    )
  })

/** Checks that no endpoint shows the person to any token, also from caches. */
async function expectNothingShown(stack: TestStack, people: readonly Person[]): Promise<void> {
  const { userId } = people[0]!
  await sentenceOf(await stack.fetch(`/api/event/user/${userId}`), 404, 'not-found')
  for (const person of people)
    await sentenceOf(await stack.fetch(`/api/event/og/${person.userId}.png`), 404, 'not-found')
  const words = people.flatMap((person) => [
    person.userId,
    ...wordsOf(person.before),
    ...wordsOf(person.after),
  ])
  const shown = async (): Promise<string[]> => {
    const headers = admin('owner')
    const pages = [
      'data?limit=5000',
      'admin/users?limit=200',
      'admin/surveys?limit=200',
      'admin/audit?limit=200',
      'feedback?limit=200',
      'admin/roles?limit=200',
    ]
    const texts = await Promise.all(
      pages.map(async (page) => (await stack.fetch(`/api/event/${page}`, { headers })).text()),
    )
    return words.filter((word) => texts.some((text) => text.includes(word)))
  }
  let seen: string[] = []
  await until(async () => (seen = await shown()).length === 0, 'nothing of the erased to be shown', {
    everyMs: 500,
  }).catch(() => expect(seen).toEqual([]))
}

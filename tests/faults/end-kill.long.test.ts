/**
 * The end of the event survives kill -9 of every service at every step. A normal run has a few kills in one end.
 * FAULTS=long has one end for each step and service, in which the locks of killed processes expire by themselves.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { type EndHarness, type Kill, KILLED, openEndHarness, STEPS } from './end-harness.ts'

const TEST_MS = 400_000

const namesOf = (kills: readonly Kill[]): string =>
  kills.map(({ step, service }) => `${service} at ${step}`).join(', ')

describeOnServers('kill -9 during the end of the event', () => {
  let harness: EndHarness
  beforeAll(async () => {
    harness = await openEndHarness()
  }, STACK_TIMEOUT_MS)
  afterAll(() => harness.close(), STACK_TIMEOUT_MS)

  const ends: readonly (readonly Kill[])[] =
    process.env.FAULTS === 'long'
      ? STEPS.flatMap((step) => KILLED.map((service) => [{ step, service }]))
      : [
          [
            { step: 'committed', service: 'admin' },
            { step: 'spread', service: 'scheduler' },
            { step: 'first-card', service: 'feedback-media' },
            { step: 'planned', service: 'line-bot' },
            { step: 'first-message', service: 'tracking' },
          ],
        ]
  const patient = ends.length > 1
  test.each(ends.map((kills) => [namesOf(kills), kills] as const))(
    '%s: everything is done, once',
    async (_, kills) => {
      expect(await harness.endUnder(kills, patient)).toBeUndefined()
    },
    TEST_MS,
  )
})

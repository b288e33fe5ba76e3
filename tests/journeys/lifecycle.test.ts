/** The event's status: every transition. `status-outages.long.test.ts` tests the loss of each part. */
import { expect, test } from 'bun:test'
import { endActivityEndpoint, setStatusEndpoint } from '#shared/contracts/operations.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { checkInAtReplicas, openRealTestStack } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  checkIn,
  endActivity,
  healthOf,
  newPilgrimId,
  readActivity,
  readAs,
  setStatus,
} from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

describeBothStacks('the states', (stack) => {
  const put = (status: unknown) => setStatus(stack, { status })
  /** A forbidden transition changes nothing. */
  const expectNone = async (status: unknown, answer: 200 | 400 | 409) => {
    const { ending: _, ...before } = await readActivity(stack)
    const given = await put(status)
    expect({ status, answer: given.status }).toEqual({ status, answer })
    // The progress of the end may have changed meanwhile.
    expect(await readActivity(stack)).toMatchObject(before)
  }

  test('follow their table, and an ended event stays ended', async () => {
    const walker = newPilgrimId()
    for (const state of ['active', 'paused', 'active', 'paused'] as const) {
      if ((await readActivity(stack)).status !== state)
        expect(await dataOf(await put(state), setStatusEndpoint)).toMatchObject({ status: state })
      const answer = await checkIn(stack, walker)
      expect({ state, answer: answer.status }).toEqual({ state, answer: state === 'active' ? 202 : 403 })
      await expectNone(state, 200)
      for (const no of ['ended', 'Active', '', null, 1]) await expectNone(no, 400)
    }
    const ended = await dataOf(await endActivity(stack), endActivityEndpoint)
    expect(ended).toMatchObject({ status: 'ended', message: null, ending: { flush: 'done' } })
    for (const status of ['active', 'paused']) await expectNone(status, 409)
    await expectNone('ended', 400)
    await sentenceOf(await checkIn(stack, walker), 403, 'ended')
    // Repeated and concurrent ends return the status of the first.
    const again = await Promise.all(Array.from({ length: 8 }, () => endActivity(stack)))
    for (const answer of again)
      expect(await dataOf(answer, endActivityEndpoint)).toMatchObject({
        status: 'ended',
        changed_at: ended.changed_at,
        changed_by: ended.changed_by,
      })
    expect((await healthOf(stack)).status).toBe('ended')
    // Without a LINE account, the summary is not reported as sent.
    await until(
      async () => (await readActivity(stack)).ending?.summary !== 'waiting',
      'the summary to be decided',
    )
    expect((await readActivity(stack)).ending?.summary).toBe('skipped')
    const audit = await readAs(stack, 'owner', 'admin/audit')
    const { items } = await dataOf(audit, auditEndpoint)
    expect(items.map(({ action, details }) => details.status ?? action).reverse()).toEqual([
      'paused',
      'active',
      'paused',
      'end-activity',
    ])
  })
})

test.skipIf(embeddedOnly)(
  'each replica is paused and active again with the very next request',
  async () => {
    const stack = await openRealTestStack({ apart: ['tracking'] })
    try {
      for (let i = 0; i < 5; i++) {
        await setStatus(stack, { status: 'paused' })
        expect(await checkInAtReplicas(stack)).toEqual(['paused', 'paused'])
        await setStatus(stack, { status: 'active' })
        expect(await checkInAtReplicas(stack)).toEqual(['admitted', 'admitted'])
      }
    } finally {
      await stack.close()
    }
  },
  120_000,
)

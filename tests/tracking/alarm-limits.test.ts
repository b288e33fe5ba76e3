/** An SOS beyond its address's rate limit: accepted, within a separate limit. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { emergenciesEndpoint } from '#shared/contracts/emergencies.ts'
import { ALARM_LIMIT } from '#shared/service/security/caller-and-address-limits.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newAppId, readAs, type TestStack } from '#tests/helpers/test-stack.ts'
import { newTracker, send } from '#tests/helpers/trackers.ts'
import { until } from '#tests/helpers/wait.ts'

let stack: TestStack
beforeAll(async () => {
  stack = await openEmbeddedTestStack({ EVENT_LIMIT_ADDRESS: '100', EVENT_LIMIT_ADDRESS_SECONDS: '3600' })
}, STACK_TIMEOUT_MS)
afterAll(() => stack?.close())

const listed = async () => dataOf(await readAs(stack, 'owner', 'admin/emergencies'), emergenciesEndpoint)

test('an SOS is taken when the address has used up its limit, and a flood of them ends', async () => {
  const [walker, presser] = [newAppId(), newAppId()]
  const { key } = await newTracker(stack, walker)
  const point = (more = '') =>
    send(stack, key, {
      app: 'traccar',
      method: 'POST',
      type: 'application/x-www-form-urlencoded',
      body: `id=1&lat=24.5&lon=120.5&timestamp=${Math.floor(Date.now() / 1_000)}${more}`,
    })
  await until(async () => (await point()).status === 503, 'the limit of the address')
  // A note that mentions an alarm is not an alarm.
  expect((await point('&desc=s-o-s')).status).toBe(503)
  await until(async () => (await point('&alarm=sos')).status === 200, 'the SOS to be kept')
  const press = { user_id: presser, pressed_at: new Date().toISOString(), lat: 24.5, lng: 120.5 }
  await until(async () => (await post(stack, 'emergency', press)).status === 200, 'the press to be kept')
  expect((await post(stack, 'checkin', { user_id: presser, lat: 24.5, lng: 120.5 })).status).toBe(429)
  const flood = Array.from({ length: ALARM_LIMIT.max }, () => post(stack, 'emergency', press))
  expect((await Promise.all(flood)).map(({ status }) => status)).toContain(429)
  const { items, unconfirmed } = await listed()
  expect(items.map(({ userId }) => userId).sort()).toEqual([presser, walker].sort())
  expect(unconfirmed).toBe(2)
})

/** An SOS from a tracker app and from the app: who is alerted, what operators see, and who confirms it. */
import { afterAll, expect } from 'bun:test'
import {
  confirmEmergencyEndpoint,
  emergenciesEndpoint,
  raiseEmergencyEndpoint,
} from '#shared/contracts/emergencies.ts'
import { ownErasureEndpoint } from '#shared/contracts/own-data.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { messageTo, newLineUser } from '#tests/helpers/line-people.ts'
import { lineSettings, startLineServer } from '#tests/helpers/line-server.ts'
import { describeBothStacksAtOnce } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { startPushService } from '#tests/helpers/push-service.ts'
import {
  callAs,
  endActivity,
  newAppId,
  readAs,
  setStatus,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { newTracker, send } from '#tests/helpers/trackers.ts'
import { until } from '#tests/helpers/wait.ts'

const lines = { embedded: startLineServer(), real: startLineServer() }
const pushes = await startPushService()
afterAll(() => Promise.all([lines.embedded.stop(), lines.real.stop(), pushes.stop()]))
const OWNER = newLineUser()

const listed = async (stack: TestStack) =>
  (await dataOf(await readAs(stack, 'owner', 'admin/emergencies'), emergenciesEndpoint)).items
const emergencyOf = (stack: TestStack, userId: string) =>
  until(async () => (await listed(stack)).find((one) => one.userId === userId), 'the emergency', {
    timeoutMs: 45_000,
  })
const sos = (lat = '24.56789') => ({
  app: 'traccar' as const,
  method: 'POST' as const,
  type: 'application/x-www-form-urlencoded',
  body: `id=1&lat=${lat}&lon=120.5&accuracy=12&timestamp=${Math.floor(Date.now() / 1_000)}&alarm=sos`,
})

/** Repeats the call until the press is stored: on a busy machine both stores may be late. */
const untilKept = (call: () => Promise<Response>): Promise<Response> =>
  until(async () => {
    const answer = await call()
    return answer.status === 503 ? undefined : answer
  }, 'an answer other than 503')

describeBothStacksAtOnce(
  'an emergency',
  (stack, test) => {
    const line = lines[stack.kind]

    test('reaches owners and managers within a minute, with pilgrim, place, time and phone', async () => {
      const [manager, volunteer, pilgrim] = [newLineUser(), newLineUser(), newAppId()]
      const device = pushes.subscribe()
      await post(stack, 'push-subscriptions', { user_id: manager, ...device.subscription })
      // A manager who has withdrawn from the walk still works for the event.
      await post(stack, 'participant-status', { user_id: manager, status: 'withdrawn' })
      for (const [userId, role] of [
        [manager, 'manager'],
        [volunteer, 'volunteer'],
      ])
        await callAs(stack, 'owner', 'POST', 'admin/roles', { user_id: userId, role })
      const name = `Lin ${crypto.randomUUID().slice(0, 8)}`
      await post(stack, 'user/sync', { user_id: pilgrim, display_name: name })
      await post(stack, 'user/phone', { user_id: pilgrim, phone: '0912 345 678' })
      const { key } = await newTracker(stack, pilgrim)
      const startedMs = performance.now()
      for (let press = 0; press < 3; press++)
        expect((await untilKept(() => send(stack, key, sos()))).status).toBe(200)
      for (const person of [manager, OWNER]) {
        const { messages } = await messageTo(line, person, name)
        const text = JSON.stringify(messages)
        for (const part of [
          '24.56789, 120.50000 ±12 m',
          '0912 345 678',
          'tel:0912345678',
          'query=24.56789,120.5',
        ])
          expect(text).toContain(part)
        expect(text).toMatch(/\d{1,2}\D\d{1,2}.{1,4}\d\d:\d\d/)
      }
      const shown = await until(
        () => pushes.received.find(({ endpoint }) => endpoint === device.subscription.endpoint)?.shown,
        'the notification',
        { timeoutMs: 45_000 },
      )
      expect(shown.title).toContain(name)
      for (const part of ['24.56789', '0912 345 678']) expect(shown.body).toContain(part)
      expect(performance.now() - startedMs).toBeLessThan(60_000)
      // One emergency, and one message for each recipient.
      for (const person of [manager, OWNER])
        expect(
          line.sent.filter(
            ({ to, messages }) => to.includes(person) && JSON.stringify(messages).includes(name),
          ),
        ).toHaveLength(1)
      expect(line.received.get(volunteer)).toBeUndefined()
      const { items } = await dataOf(await readAs(stack, 'owner', 'admin/emergencies'), emergenciesEndpoint)
      const mine = items.filter(({ userId }) => userId === pilgrim)
      expect(mine).toMatchObject([
        {
          display_name: name,
          phone: '0912 345 678',
          source: 'traccar',
          place: { lat: 24.56789, lng: 120.5, accuracy: 12, of_press: true },
          confirmed_at: null,
        },
      ])
    })

    test('is read and confirmed by managers alone; the phone number goes with the confirmation', async () => {
      const pilgrim = newAppId()
      await post(stack, 'user/phone', { user_id: pilgrim, phone: '0987654321' })
      const { key } = await newTracker(stack, pilgrim)
      await untilKept(() => send(stack, key, sos()))
      const { id } = await emergencyOf(stack, pilgrim)
      const path = `admin/emergencies/${id}/confirm`
      for (const role of ['volunteer'] as const) {
        await sentenceOf(await readAs(stack, role, 'admin/emergencies'), 403, 'forbidden')
        await sentenceOf(await callAs(stack, role, 'POST', path), 403, 'forbidden')
      }
      await sentenceOf(await stack.fetch(`/api/event/${path}`, { method: 'POST' }), 401, 'unauthorized')
      const confirmed = await dataOf(await callAs(stack, 'manager', 'POST', path), confirmEmergencyEndpoint)
      expect(confirmed).toMatchObject({ id, phone: null, confirmed_at: expect.any(String) })
      // A second operator's confirmation changes nothing.
      const again = await dataOf(await callAs(stack, 'owner', 'POST', path), confirmEmergencyEndpoint)
      const { confirmed_at, confirmed_by } = confirmed
      expect(again).toMatchObject({ id, confirmed_at, confirmed_by })
      const audit = await readAs(stack, 'owner', `admin/audit?action=confirm-emergency&search=${pilgrim}`)
      expect(await audit.json()).toMatchObject({ data: { items: [{ details: { id, user_id: pilgrim } }] } })
      const unknown = `admin/emergencies/${crypto.randomUUID()}/confirm`
      await sentenceOf(await callAs(stack, 'manager', 'POST', unknown), 404, 'not-found')
    })

    test('without a place shows the last one that is known', async () => {
      const pilgrim = newAppId()
      const { key } = await newTracker(stack, pilgrim)
      const point = { app: 'traccar', method: 'POST', query: 'lat=24.321&lon=120.5' } as const
      expect((await send(stack, key, point)).status).toBe(200)
      expect((await send(stack, key, { ...point, query: 'id=1&alarm=sos' })).status).toBe(200)
      expect((await emergencyOf(stack, pilgrim)).place).toMatchObject({ lat: 24.321, of_press: false })
    })

    test('is raised by the app in every state, repeated without effect, and told when it was seen', async () => {
      const pilgrim = newAppId()
      const press = {
        user_id: pilgrim,
        pressed_at: new Date().toISOString(),
        waited_ms: 0,
        lat: 24.5,
        lng: 120.5,
      }
      const raise = async (body: object = press) =>
        dataOf(await untilKept(() => post(stack, 'emergency', body)), raiseEmergencyEndpoint)
      await setStatus(stack, { status: 'paused' })
      expect(await raise()).toMatchObject({ userId: pilgrim, pressed_at: press.pressed_at, seen_at: null })
      await setStatus(stack, { status: 'active' })
      await raise()
      const held = await emergencyOf(stack, pilgrim)
      expect(held).toMatchObject({ source: 'app', presses: 1, place: { lat: 24.5 } })
      await callAs(stack, 'manager', 'POST', `admin/emergencies/${held.id}/confirm`)
      expect((await raise()).seen_at).toBe((await emergencyOf(stack, pilgrim)).confirmed_at)
      // Consent is withdrawn, but a call for help implies agreement.
      await post(stack, 'privacy', { user_id: pilgrim, agreed: false })
      await raise({ ...press, pressed_at: new Date(Date.now() + 1_000).toISOString() })
      expect((await listed(stack)).filter(({ userId }) => userId === pilgrim)).toHaveLength(2)
      for (const wrong of [{ pressed_at: 'now' }, { lat: null }, { waited_ms: -1 }, { lat: 91 }])
        await sentenceOf(await post(stack, 'emergency', { ...press, ...wrong }), 400, 'invalid-request')
      const erased = await post(stack, 'me/erase', { user_id: pilgrim, confirm: true })
      await dataOf(erased, ownErasureEndpoint)
      expect((await listed(stack)).filter(({ userId }) => userId === pilgrim)).toEqual([])
      await sentenceOf(await post(stack, 'emergency', press), 410, 'erased')
    })

    test('is taken after the end, from a tracker as well', async () => {
      const pilgrim = newAppId()
      const { key } = await newTracker(stack, pilgrim)
      await endActivity(stack)
      expect((await untilKept(() => send(stack, key, sos()))).status).toBe(200)
      expect(await emergencyOf(stack, pilgrim)).toMatchObject({ presses: 1 })
    })
  },
  (kind) => ({ ...lineSettings(lines[kind]), ...pushes.settings, EVENT_ALERT_USER_ID: OWNER }),
)

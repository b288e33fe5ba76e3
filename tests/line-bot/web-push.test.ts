/**
 * Web Push as pilgrims and operators use it, embedded and on servers, against a push service that checks and decrypts.
 */
import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { eventConfigEndpoint } from '#shared/contracts/event-config.ts'
import {
  pushEndpoint,
  pushProgressEndpoint,
  type PushProgress,
  leftOutRecipientsEndpoint,
} from '#shared/contracts/messages.ts'
import {
  listPushSubscriptionsEndpoint,
  MAX_PUSH_SUBSCRIPTIONS,
  subscribeToPushEndpoint,
} from '#shared/contracts/push-subscriptions.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { newLineUser } from '#tests/helpers/line-people.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newDevice, type PushTestDevice, type Shown, startPushService } from '#tests/helpers/push-service.ts'
import {
  callAs,
  endActivity,
  newAppId,
  readAs,
  setStatus,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const service = await startPushService()
afterAll(() => service.stop())

const NAME = 'Walk of tests'

describeBothStacks(
  'Web Push',
  (stack) => {
    test('a device is registered once, listed without its keys, bounded in number, and removed by its pilgrim', async () => {
      const [userId, stranger] = [newAppId(), newAppId()]
      const device = service.subscribe()
      const first = await register(stack, userId, device)
      expect(first.push_service).toBe('127.0.0.1')
      // Rounded to hours, because others may have learnt the id.
      expect(Date.parse(first.created_at) % 3_600_000).toBe(0)
      expect(await register(stack, userId, device)).toEqual(first)
      expect(await list(stack, userId)).toEqual([first])
      for (let i = 1; i < MAX_PUSH_SUBSCRIPTIONS + 2; i++) await register(stack, userId, service.subscribe())
      const held = await list(stack, userId)
      expect(held).toHaveLength(MAX_PUSH_SUBSCRIPTIONS)
      expect(held.map(({ id }) => id)).not.toContain(first.id)
      const { id } = held[0]!
      const remove = (of: string) =>
        stack.fetch(`/api/event/push-subscriptions/${id}?user_id=${of}`, { method: 'DELETE' })
      await sentenceOf(await remove(stranger), 404, 'not-found')
      expect((await remove(userId)).status).toBe(200)
      await sentenceOf(await remove(userId), 404, 'not-found')
      // The browser of a shared phone belongs to the pilgrim who registered it last.
      const shared = service.subscribe()
      await register(stack, userId, shared)
      await register(stack, stranger, shared)
      expect(await list(stack, stranger)).toHaveLength(1)
      expect(await list(stack, userId)).toHaveLength(MAX_PUSH_SUBSCRIPTIONS - 1)
    })

    test('addresses other than those of the push services, and keys that are none, are refused', async () => {
      const { subscription } = newDevice('https://x/')
      const { host } = new URL(service.subscribe().subscription.endpoint)
      const refused = async (change: object, names: string) => {
        const answer = await post(stack, 'push-subscriptions', {
          user_id: newAppId(),
          ...subscription,
          ...change,
        })
        expect(await sentenceOf(answer, 400, 'invalid-request')).toContain(names)
      }
      for (const endpoint of [
        `http://${host}/push/1`,
        'https://169.254.169.254/latest/meta-data',
        'https://localhost:5432/',
        'https://[::1]/',
        `https://user@${host}/push/1`,
        `https://${host}.example/push/1`,
        'https://127.0.0.1/push/1',
        'file:///etc/passwd',
      ])
        await refused({ endpoint }, 'endpoint')
      const good = { endpoint: `https://${host}/push/1` }
      const offCurve = `B${randomBytes(63).toString('base64url').padEnd(86, 'A').slice(0, 86)}`
      for (const p256dh of ['', 'x', offCurve])
        await refused({ ...good, keys: { ...subscription.keys, p256dh } }, 'p256dh')
      await refused({ ...good, keys: { ...subscription.keys, auth: 'short' } }, 'auth')
    })

    test('the configuration tells the public key; the operators’ detail tells the number of devices', async () => {
      const { push_key } = await dataOf(await stack.fetch('/api/event/config'), eventConfigEndpoint)
      expect(push_key).toBe(service.settings.EVENT_PUSH_PUBLIC_KEY!)
      const userId = newAppId()
      await register(stack, userId, service.subscribe())
      const detail = await readAs(stack, 'manager', `admin/users/${userId}`)
      expect((await dataOf(detail, userEndpoint)).push_devices).toBe(1)
    })

    test('a push reaches every device of its people, with LINE or without, and of nobody who has withdrawn', async () => {
      const [app, line, gone] = [newAppId(), newLineUser(), newAppId()]
      const devices = [service.subscribe(), service.subscribe(), service.subscribe()]
      const withdrawn = service.subscribe()
      await register(stack, app, devices[0]!)
      await register(stack, app, devices[1]!)
      await register(stack, line, devices[2]!)
      await register(stack, gone, withdrawn)
      await post(stack, 'participant-status', { user_id: gone, status: 'withdrawn' })
      const text = `下午有雷雨 ${crypto.randomUUID()}`
      const body = { user_ids: [app, line, gone], text }
      expect(await push(stack, { ...body, dry_run: true })).toMatchObject({ id: null, devices: 3 })
      const { id } = await push(stack, body)
      expect((await settled(stack, id!)).web_push).toEqual({ sent: 3, waiting: 0, failed: 0 })
      for (const device of devices) expect(shownOn(device)).toEqual([{ title: NAME, body: text, tag: id! }])
      expect(shownOn(withdrawn)).toEqual([])
      const leftOut = await readAs(stack, 'owner', `push/left-out?message=${id}`)
      expect((await dataOf(leftOut, leftOutRecipientsEndpoint)).items).toEqual(
        [
          { userId: app, display_name: null, reason: 'no_line_id' as const, devices: 2 },
          { userId: gone, display_name: null, reason: 'no_line_id' as const, devices: 0 },
        ].toSorted((a, b) => (a.userId < b.userId ? -1 : 1)),
      )
      const listed = await readAs(stack, 'manager', 'push?cause=push')
      expect(await listed.json()).toMatchObject({ data: { items: [{ id, web_push: { sent: 3 } }] } })
      // A long text is truncated, so that the push service accepts it.
      const long = await push(stack, { user_ids: [app], title: 'T', text: '雨'.repeat(2_000) })
      expect((await settled(stack, long.id!)).web_push).toMatchObject({ sent: 2, failed: 0 })
      const [cut] = shownOn(devices[0]!).slice(-1)
      expect(cut).toMatchObject({ title: 'T', body: expect.stringMatching(/^雨{500,}…+$/) })
    })

    test('what a push service says is obeyed: gone removes the device, busy waits, refused gives up', async () => {
      const userId = newAppId()
      const [taken, gone, unknown, busy, refused] = Array.from({ length: 5 }, () => service.subscribe())
      for (const device of [taken!, gone!, unknown!, busy!, refused!]) await register(stack, userId, device)
      service.unsubscribe(gone!)
      let busyCalls = 0
      const answer = (device: PushTestDevice, respond: () => Response | null) =>
        service.mishaps.set(device.subscription.endpoint, respond)
      answer(unknown!, () => new Response(null, { status: 404 }))
      answer(busy!, () =>
        ++busyCalls === 1 ? new Response(null, { status: 429, headers: { 'Retry-After': '2' } }) : null,
      )
      answer(refused!, () => new Response(null, { status: 413 }))
      const startedMs = performance.now()
      const { id } = await push(stack, { user_ids: [userId], text: 'x' })
      const { web_push: counts } = await settled(stack, id!)
      expect(counts).toEqual({ sent: 2, waiting: 0, failed: 3 })
      expect(busyCalls).toBe(2)
      expect(performance.now() - startedMs).toBeGreaterThan(2_000)
      // Only devices unknown to the push service are removed.
      expect(await list(stack, userId)).toHaveLength(3)
      for (const device of [taken!, busy!]) expect(shownOn(device)).toHaveLength(1)
      const callsTo = (device: PushTestDevice) =>
        service.calls.filter((call) => call.endsWith(device.subscription.endpoint))
      for (const device of [gone!, unknown!, refused!]) expect(callsTo(device)).toHaveLength(1)
    })

    test('an erased pilgrim leaves no device and gets nothing; their export tells no keys', async () => {
      const userId = newAppId()
      const device = service.subscribe()
      await register(stack, userId, device)
      // It waits for its second attempt when the pilgrim is erased.
      service.mishaps.set(
        device.subscription.endpoint,
        () => new Response(null, { status: 503, headers: { 'Retry-After': '2' } }),
      )
      const { id } = await push(stack, { user_ids: [userId], text: 'x' })
      await until(
        () => service.calls.some((call) => call.endsWith(device.subscription.endpoint)),
        'the first attempt',
      )
      service.mishaps.clear()
      const exported = await readAs(stack, 'owner', `admin/users/${userId}/export`)
      const rows = (await exported.json()) as { push_subscriptions: object[]; push_deliveries: object[] }
      expect(rows.push_subscriptions).toMatchObject([{ endpoint: device.subscription.endpoint }])
      expect(rows.push_deliveries).toMatchObject([{ message_id: id, state: 'waiting' }])
      expect(JSON.stringify(rows)).not.toContain(device.subscription.keys.auth)
      expect(JSON.stringify(rows)).not.toContain(device.subscription.keys.p256dh)
      const erased = await callAs(stack, 'owner', 'DELETE', `admin/users/${userId}`)
      expect(await erased.json()).toMatchObject({
        data: { erased: { push_subscriptions: 1, push_deliveries: 1 }, remaining: [] },
      })
      const other = newAppId()
      const next = service.subscribe()
      await register(stack, other, next)
      const after = await push(stack, { user_ids: [userId, other], text: 'y' })
      expect(after.devices).toBe(1)
      await settled(stack, after.id!)
      expect(shownOn(next)).toHaveLength(1)
      expect(shownOn(device)).toEqual([])
    })

    test('a pause tells the volunteers, and the end tells everybody in their language', async () => {
      const [volunteer, walker, silent] = [newAppId(), newAppId(), newAppId()]
      const [first, second, third] = [service.subscribe(), service.subscribe(), service.subscribe()]
      await post(stack, 'user/sync', { user_id: volunteer, language: 'en' })
      await post(stack, 'user/sync', { user_id: silent, language: 'ja' })
      await register(stack, volunteer, first)
      await register(stack, walker, second)
      await register(stack, silent, third)
      await post(stack, 'participant-status', { user_id: silent, status: 'withdrawn' })
      await callAs(stack, 'owner', 'POST', 'admin/roles', {
        user_id: volunteer,
        role: 'volunteer',
      })
      await setStatus(stack, { status: 'paused', message: 'Thunderstorm ahead' })
      await until(() => shownOn(first).length > 0, 'the pause')
      expect(shownOn(first)).toMatchObject([
        { title: NAME, body: expect.stringContaining('Thunderstorm ahead') },
      ])
      await endActivity(stack)
      await until(() => shownOn(second).length > 0 && shownOn(first).length > 1, 'the summary', {
        timeoutMs: 45_000,
      })
      expect(shownOn(second)[0]!.title).toContain('圓滿結束')
      expect(shownOn(first)[1]!.title).toContain('has come to its end')
      expect(shownOn(third)).toEqual([])
    }, 90_000)
  },
  { ...service.settings, EVENT_NAME: NAME },
)

const register = async (stack: TestStack, userId: string, { subscription }: PushTestDevice) =>
  dataOf(
    await post(stack, 'push-subscriptions', { user_id: userId, ...subscription }),
    subscribeToPushEndpoint,
  )

const list = async (stack: TestStack, userId: string) => {
  const answer = await stack.fetch(`/api/event/push-subscriptions?user_id=${userId}`)
  return (await dataOf(answer, listPushSubscriptionsEndpoint)).items
}

const push = async (stack: TestStack, body: object) =>
  dataOf(await callAs(stack, 'manager', 'POST', 'push', body), pushEndpoint)

/** The progress of a message without pending deliveries. */
const settled = (stack: TestStack, id: string): Promise<PushProgress> =>
  until(
    async () => {
      const answer = await readAs(stack, 'manager', `push/${id}`)
      const progress = await dataOf(answer, pushProgressEndpoint)
      return progress.web_push.waiting === 0 ? progress : false
    },
    'the deliveries',
    { everyMs: 100 },
  )

/** Messages shown on a device. */
const shownOn = ({ subscription }: PushTestDevice): Shown[] =>
  service.received.filter(({ endpoint }) => endpoint === subscription.endpoint).map(({ shown }) => shown)

/** The organisers' messages on a phone: from the switch in the app, over the push service, to what the phone shows. */
import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { pushEndpoint } from '#shared/contracts/messages.ts'
import { listPushSubscriptionsEndpoint } from '#shared/contracts/push-subscriptions.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { callAs } from '#tests/helpers/line-people.ts'
import { startPushService, type PushTestDevice } from '#tests/helpers/push-service.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { walkApp, worksOffline } from './walk-harness.ts'

const TEST_MS = 60_000
const service = await startPushService()
afterAll(() => service.stop())

/** Headless Chromium has no push service of its own: it gets the subscription of the one of the test. */
async function subscribeAs(page: Page, { subscription }: PushTestDevice): Promise<void> {
  await page.evaluate((given) => {
    let held: object | null = null
    PushManager.prototype.getSubscription = async () => held as PushSubscription | null
    PushManager.prototype.subscribe = async (options) => {
      held = {
        options: { applicationServerKey: null, asked: options },
        toJSON: () => ({ ...given, expirationTime: null }),
        unsubscribe: async () => {
          held = null
          return true
        },
      }
      return held as PushSubscription
    }
  }, subscription)
}

describeOnServers('hearing the organisers', () => {
  const app = walkApp(service.settings)

  test(
    'a touch registers the phone, a message is shown on it once, and a touch ends it',
    async () => {
      await using phone = await app.newPilgrim('Wang', { permissions: ['geolocation', 'notifications'] })
      const { page, context, userId } = phone
      await worksOffline(page)
      const device = service.subscribe()
      await subscribeAs(page, device)
      await page.evaluate(() => (location.hash = 'me'))
      await page.getByRole('button', { name: 'Tell me on this phone' }).click()
      await page.getByText('This phone tells you').waitFor()
      expect(await seriousFaults(page)).toEqual([])
      await photograph(page, 'walk-hear', true)
      expect(await page.getByText('LINE asks you to log in again.').count()).toBe(0)
      const devices = async () => {
        const answer = await app.stack.fetch(`/api/event/push-subscriptions?user_id=${userId}`)
        return (await dataOf(answer, listPushSubscriptionsEndpoint)).items.length
      }
      expect(await devices()).toBe(1)
      const text = 'Thunderstorm at three: rest where you are.'
      const pushed = await callAs(app.stack, 'manager', 'POST', '/api/event/push', {
        user_ids: [userId],
        title: 'Weather',
        text,
      })
      expect((await dataOf(pushed, pushEndpoint)).devices).toBe(1)
      const { shown } = await until(
        () => service.received.find(({ endpoint }) => endpoint === device.subscription.endpoint),
        { timeoutMs: 20_000, what: 'the message at the push service' },
      )
      // The browser hands the worker what the push service delivered and it has decrypted; here twice.
      const devTools = await context.newCDPSession(page)
      const registration = Promise.withResolvers<string>()
      devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) =>
        first === undefined ? undefined : registration.resolve(first.registrationId),
      )
      await devTools.send('ServiceWorker.enable')
      const delivery = {
        origin: new URL(app.address()).origin,
        registrationId: await registration.promise,
        data: JSON.stringify(shown),
      }
      const notifications = () =>
        page.evaluate(async () => {
          const shownNow = await (await navigator.serviceWorker.ready).getNotifications()
          return shownNow.map(({ title, body }) => ({ title, body }))
        })
      for (let i = 0; i < 2; i++) await devTools.send('ServiceWorker.deliverPushMessage', delivery)
      await until(async () => (await notifications()).length > 0, {
        timeoutMs: 10_000,
        what: 'the notification',
      })
      expect(await notifications()).toEqual([{ title: 'Weather', body: text }])
      const [worker] = context.serviceWorkers()
      await worker!.evaluate(async () => {
        const { registration: own } = self as unknown as { registration: ServiceWorkerRegistration }
        const [notification] = await own.getNotifications()
        const Click = (globalThis as unknown as { NotificationEvent: new (...given: unknown[]) => Event })
          .NotificationEvent
        dispatchEvent(new Click('notificationclick', { notification }))
      })
      await until(async () => (await notifications()).length === 0, {
        timeoutMs: 10_000,
        what: 'the notification to be closed',
      })
      await page.getByRole('button', { name: 'Stop telling me' }).click()
      await page.getByRole('button', { name: 'Tell me on this phone' }).waitFor()
      expect(await devices()).toBe(0)
    },
    TEST_MS,
  )

  test(
    'a phone that does not allow it says so, and what to do',
    async () => {
      await using phone = await app.newPilgrim('Chen')
      const { page } = phone
      await page.evaluate(() => {
        Notification.requestPermission = async () => 'denied'
        location.hash = 'me'
      })
      await page.getByRole('button', { name: 'Tell me on this phone' }).click()
      await page.getByText('The phone does not allow it.').waitFor()
    },
    TEST_MS,
  )
})

/**
 * What the app receives: the organisers' messages by Web Push, the service's figures, a new privacy notice.
 */
import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { pushEndpoint } from '#shared/contracts/messages.ts'
import { listPushSubscriptionsEndpoint } from '#shared/contracts/push-subscriptions.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { startPushService, type PushTestDevice } from '#tests/helpers/push-service.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { checkInButton, walkApp, worksOffline, hasKept, known } from './walk-harness.ts'
import { callAs } from '#tests/helpers/test-stack.ts'

const service = await startPushService()
afterAll(() => service.stop())

/** Headless Chromium has no push service: it gets a subscription of the test's one. */
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

/** The pilgrim returns to the app, which polls the service again. */
const lookAgain = (page: Page): Promise<unknown> =>
  page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

describeOnServers('hearing the organisers', () => {
  const app = walkApp(service.settings, true)

  test('a touch registers the phone, a message is shown on it once, and a touch ends it', async () => {
    await using phone = await app.newPilgrim('Wang', { permissions: ['geolocation', 'notifications'] })
    const { page, context, userId } = phone
    await worksOffline(page)
    const device = service.subscribe()
    await subscribeAs(page, device)
    await page.evaluate(() => (location.hash = 'me'))
    await page.getByRole('button', { name: 'Get messages on this phone' }).click()
    await page.getByRole('button', { name: 'Stop messages on this phone' }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'walk-hear', true)
    expect(await page.getByText('LINE asks you to log in again.').count()).toBe(0)
    const devices = async () => {
      const answer = await app.stack.fetch(`/api/event/push-subscriptions?user_id=${userId}`)
      return (await dataOf(answer, listPushSubscriptionsEndpoint)).items.length
    }
    expect(await devices()).toBe(1)
    const text = 'Thunderstorm at three: rest where you are.'
    const pushed = await callAs(app.stack, 'manager', 'POST', 'push', {
      user_ids: [userId],
      title: 'Weather',
      text,
    })
    expect((await dataOf(pushed, pushEndpoint)).devices).toBe(1)
    const { shown } = await until(
      () => service.received.find(({ endpoint }) => endpoint === device.subscription.endpoint),
      'the message at the push service',
    )
    // The browser passes decrypted push messages to the worker; here twice.
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
    await until(async () => (await notifications()).length > 0, 'the notification')
    expect(await notifications()).toEqual([{ title: 'Weather', body: text }])
    const [worker] = context.serviceWorkers()
    await worker!.evaluate(async () => {
      const { registration: own } = self as unknown as { registration: ServiceWorkerRegistration }
      const [notification] = await own.getNotifications()
      const Click = (globalThis as unknown as { NotificationEvent: new (...given: unknown[]) => Event })
        .NotificationEvent
      dispatchEvent(new Click('notificationclick', { notification }))
    })
    await until(async () => (await notifications()).length === 0, 'the notification to be closed')
    await page.getByRole('button', { name: 'Stop messages on this phone' }).click()
    await page.getByRole('button', { name: 'Get messages on this phone' }).waitFor()
    expect(await devices()).toBe(0)
  })

  test('a phone that does not allow it says so, and what to do', async () => {
    await using phone = await app.newPilgrim('Chen')
    const { page } = phone
    await page.evaluate(() => {
      Notification.requestPermission = async () => 'denied'
      location.hash = 'me'
    })
    await page.getByRole('button', { name: 'Get messages on this phone' }).click()
    await page.getByText('Please allow notifications').waitFor()
  })

  test('a check-in is counted once, whatever a reading of the profile says before or after its answer', async () => {
    // The responses held back by the test have an untrusted certificate.
    await using phone = await app.newPilgrim('Lin', { ignoreHTTPSErrors: true })
    const { page, userId } = phone
    const sum = page.locator('[data-figure=checkins]')
    const profileSays = (checkIns: number) => hasKept(page, 'profile', `"checkins":${checkIns},`)
    await profileSays(0)
    // The service has counted it, and the profile says so before the check-in's response arrives.
    const answer = Promise.withResolvers<void>()
    await page.route('**/api/event/checkin', async (route) => {
      const response = await route.fetch()
      await answer.promise
      await route.fulfill({ response })
    })
    await checkInButton(page).click()
    const counted = async () => (await profileOf(app.stack, userId)).checkins === 1
    await until(counted, 'the check-in at the service')
    await lookAgain(page)
    await profileSays(1)
    expect(await sum.textContent()).toBe('1 check-in')
    answer.resolve()
    await page.locator('[data-state=counted]').waitFor()
    expect(await sum.textContent()).toBe('1 check-in')
    await page.unroute('**/api/event/checkin')

    // A read that began before a check-in arrives after later reads.
    const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const hold = '**/api/event/user/*'
    await page.route(
      hold,
      async (route) => {
        const response = await route.fetch()
        asked.resolve()
        await late.promise
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await lookAgain(page)
    await asked.promise
    await checkInButton(page).click()
    await profileSays(2)
    const arrived = page.waitForEvent('requestfinished', (request) => request.url().includes('/user/'))
    late.resolve()
    await arrived
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
    expect(await sum.textContent()).toBe('2 check-ins')
    await profileSays(2)

    // A profile that cannot be read blocks nothing: the service accepts check-ins while its database is
    // down.
    await page.route(hold, (route) => route.fulfill({ status: 503 }))
    await phone.context.setOffline(true)
    await phone.context.setOffline(false)
    await checkInButton(page).click()
    const sent = async () => (await profileOf(app.stack, userId)).checkins === 3
    await until(sent, 'the check-in without a profile')
  })

  test('a new privacy notice is shown; whoever declines it has taken back the consent, and can give it again', async () => {
    await using phone = await app.newPilgrim('Lin', { ignoreHTTPSErrors: true })
    const { page, userId } = phone
    const agrees = async () => (await profileOf(app.stack, userId)).privacy_agreed
    let version = 'two'
    await page.route('**/api/event/config', async (route) => {
      const response = await route.fetch()
      const { ok, data } = (await response.json()) as { ok: true; data: object }
      await route.fulfill({ response, json: { ok, data: { ...data, privacy_version: version } } })
    })
    await lookAgain(page)
    const changed = page.getByText('The privacy notice has changed.')
    await changed.waitFor()
    await page.getByText('Version two').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'walk-new-consent', true)
    // The walk continues meanwhile.
    await page.getByRole('button', { name: 'Start recording' }).click()
    expect(await agrees()).toBe(true)
    await page.getByRole('button', { name: 'I do not agree' }).click()
    await changed.waitFor({ state: 'detached' })
    await page.getByText('You have withdrawn your consent.').waitFor()
    await photograph(page, 'walk-consent-declined', true)
    await known(page)
    expect(await agrees()).toBe(false)
    // Nothing is recorded any more, and the question is not repeated.
    await page.getByText('Nothing is recorded until you agree.').waitFor()
    await page.reload()
    await page.getByText('You have withdrawn your consent.').waitFor()
    expect(await changed.count()).toBe(0)
    // The text to agree to can be read.
    await page.getByText('Version two').waitFor()
    await page.getByRole('button', { name: 'I agree again' }).click()
    await page.getByText('You have withdrawn your consent.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Start recording' }).waitFor()
    await known(page)
    expect(await agrees()).toBe(true)
    version = 'three'
    await lookAgain(page)
    await changed.waitFor()
    await page.getByRole('button', { name: 'I agree', exact: false }).click()
    await changed.waitFor({ state: 'detached' })
    await hasKept(page, 'person', '"three","known":true')
    expect(await agrees()).toBe(true)
  })
})

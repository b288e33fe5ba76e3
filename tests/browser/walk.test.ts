/** The pilgrims' app on a phone: the first minute, check-ins with and without a network, failures, a lost phone. */
import { expect, test } from 'bun:test'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { words as said } from '#shared/locales/en/walk.ts'
import { setStatus } from '#tests/helpers/test-stack.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import { typeCode } from './walk-code.ts'
import { checkInButton, firstMinute, userIdOf, waitingOf, walkApp, worksOffline } from './walk-harness.ts'

const TEST_MS = 30_000

describeOnServers('the app', () => {
  const app = walkApp({ EVENT_LIMIT_CHECKIN: '1000' })
  const counted = async (userId: string, checkins: number) =>
    until(async () => (await profileOf(app.stack, userId)).checkins === checkins, {
      timeoutMs: 15_000,
      what: `${checkins} check-ins at the service`,
    })

  test(
    'the first minute: a name, the consent with its version, done',
    async () => {
      await using phone = await app.newPhone()
      const { page } = phone
      await page.goto(app.address('?lang=en'))
      await page.getByRole('button', { name: 'I agree' }).click()
      expect(await page.getByRole('alert').textContent()).toBe('Please write a name.')
      await firstMinute(page, 'Grandmother Wang')
      const profile = await profileOf(app.stack, await userIdOf(page))
      expect(profile).toMatchObject({ display_name: 'Grandmother Wang', privacy_agreed: true })
    },
    TEST_MS,
  )

  test(
    'a check-in counts at once; without a network it is kept, said so, and sent by itself, each once',
    async () => {
      await using phone = await app.newPilgrim()
      const { page, context, userId } = phone
      await checkInButton(page).click()
      await page.locator('[data-state=counted]').waitFor()
      expect(await page.locator('[data-figure=checkins]').textContent()).toBe('1 check-in')

      await context.setOffline(true)
      await checkInButton(page).click()
      await page.locator('[data-state=kept]').waitFor()
      // It counts on the phone before the service knows it.
      expect(await page.locator('[data-figure=checkins]').textContent()).toBe('2 check-ins')
      await page.getByText('No network. Everything is saved').waitFor()
      expect(await waitingOf(page)).toBe(1)
      await page.reload().catch(() => undefined)
      await context.setOffline(false)
      await page.goto(app.address())
      await counted(userId, 2)
      // The service has counted it a moment before the phone has its answer.
      const isSettled = async () => (await waitingOf(page)) === 0
      await until(isSettled, { timeoutMs: 10_000, what: 'the answer to reach the phone' })
      expect(await page.locator('[data-figure=checkins]').textContent()).toBe('2 check-ins')
    },
    TEST_MS,
  )

  test(
    'a counted check-in is told while somebody looks, then Stop is in sight; one that is only kept stays told',
    async () => {
      await using phone = await app.newPhone({ viewport: { width: 360, height: 640 } })
      const { page, context } = phone
      const [told, kept] = [page.locator('[data-state=counted]'), page.locator('[data-state=kept]')]
      await page.clock.install()
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Grandmother Wang')
      await page.evaluate(() => (document.documentElement.dataset.letters = 'largest'))
      await context.setOffline(true)
      await checkInButton(page).click()
      await kept.waitFor()
      await page.clock.fastForward(60_000)
      await kept.waitFor()
      // It is counted while nobody looks, and told to whoever looks then.
      const turn = (state: string) =>
        page.evaluate((is) => {
          Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => is })
          document.dispatchEvent(new Event('visibilitychange'))
        }, state)
      await turn('hidden')
      await context.setOffline(false)
      await told.waitFor()
      await page.clock.fastForward(30_000)
      await told.waitFor()
      await turn('visible')
      await page.getByRole('button', { name: 'Start recording' }).click()
      await page.getByText('Recording.', { exact: true }).waitFor()
      await told.waitFor()
      await page.clock.fastForward(11_000)
      await told.waitFor({ state: 'detached' })
      await page.evaluate(() => scrollTo(0, 0))
      await photograph(page, 'walk-small-recording')
      const [state, stop, tabs] = await Promise.all([
        page.locator('[data-resting]').boundingBox(),
        page.getByRole('button', { name: 'Stop recording' }).boundingBox(),
        page.getByRole('navigation').boundingBox(),
      ])
      expect(state!.y).toBeGreaterThan(0)
      expect(stop!.y + stop!.height).toBeLessThanOrEqual(tabs!.y)
    },
    TEST_MS,
  )

  test(
    'opens in a dead zone, and a check-in waits for the network',
    async () => {
      await using phone = await app.newPilgrim()
      const { page, context, userId } = phone
      await worksOffline(page)
      await context.setOffline(true)
      await page.reload()
      await checkInButton(page).click()
      await page.locator('[data-state=kept]').waitFor()
      // The words of the recovery code and of the other tabs are there, too.
      await page.getByRole('button', { name: 'Show the code' }).click()
      await page.locator('.code-words li').first().waitFor()
      expect(await page.locator('.code-words li').count()).toBe(12)
      await context.setOffline(false)
      await counted(userId, 1)
    },
    TEST_MS,
  )

  test(
    'two windows are one app',
    async () => {
      await using phone = await app.newPilgrim()
      const { page, context, userId } = phone
      const other = await context.newPage()
      await other.goto(app.address())
      await page.getByRole('button', { name: 'Start recording' }).click()
      await page.getByText('Recording.', { exact: true }).waitFor()
      await photograph(page, 'walk-recording')
      // What to do with the phone now is above the tabs.
      const advice = await page.getByText('Do not press the power key.').boundingBox()
      const dark = await page.getByRole('button', { name: 'Dark screen' }).boundingBox()
      const tabs = await page.getByRole('navigation').boundingBox()
      expect(advice!.y).toBeGreaterThan(0)
      expect(dark!.y).toBeGreaterThan(advice!.y)
      expect(dark!.y + dark!.height).toBeLessThan(tabs!.y)
      await other.getByText('Another window records your walk.').waitFor()
      await checkInButton(page).click()
      await checkInButton(other).click()
      await counted(userId, 2)
      // The other one takes over.
      await page.close()
      await other.getByText('Recording.', { exact: true }).waitFor()
    },
    TEST_MS,
  )

  test(
    'a lost phone is no lost walk: the code brings it to another one (long)',
    async () => {
      await using lost = await app.newPilgrim('Old Li')
      await checkInButton(lost.page).click()
      await counted(lost.userId, 1)
      await lost.page.getByRole('button', { name: 'Show the code' }).click()
      await lost.page.locator('.code-words li').first().waitFor()
      const words = await lost.page.locator('.code-words li').allTextContents()
      expect(words).toHaveLength(12)
      // All of them are in sight at once.
      await lost.page.setViewportSize({ width: 390, height: 780 })
      const [last, tabs] = await Promise.all([
        lost.page.locator('.code-words').boundingBox(),
        lost.page.getByRole('navigation').boundingBox(),
      ])
      expect(last!.y + last!.height).toBeLessThan(tabs!.y)

      await using found = await app.newPhone()
      const { page } = found
      await page.goto(app.address('?lang=en'))
      await page.getByRole('button', { name: 'I walked before with another phone' }).click()
      await typeCode(page, words)
      await page.getByText('Is this you? Old Li').waitFor()
      expect(await page.getByText(said.recovery.byLink).count()).toBe(0)
      await page.getByRole('button', { name: 'Yes, that is me' }).click()
      await page.getByText('1 check-in').waitFor()
      await checkInButton(page).click()
      await counted(lost.userId, 2)

      // The QR code's address does the same.
      await using third = await app.newPhone()
      await third.page.goto(app.address(`?lang=en#restore=${lost.userId}`))
      await third.page.getByText('Is this you? Old Li').waitFor()
      // It may be somebody else's, who would then know where this pilgrim is.
      await third.page.getByText(said.recovery.byLink).waitFor()
      expect(third.page.url()).not.toContain(lost.userId)
    },
    TEST_MS,
  )

  test(
    'a pause is told with the organisers’ message; what is recorded meanwhile is kept, and sent after it',
    async () => {
      await using phone = await app.newPhone()
      const { page } = phone
      await page.clock.install()
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Idle Chen')
      // From now on the app does nothing by itself. A touch asks for what is older than ten seconds.
      await page.clock.pauseAt(Date.now() + 11_000)
      await setStatus(app.stack, { status: 'paused', message: 'Thunder. Wait at the temple.' })
      await page.getByRole('heading', { name: 'Idle Chen' }).click()
      await page.getByText('Thunder. Wait at the temple.').waitFor()
      await page.locator('.status').getByText(PAGE_WORDS.en.paused).waitFor()
      await checkInButton(page).click()
      // The service has refused it.
      await page.locator('[data-waiting]').getByText('The event is paused.').waitFor()
      await photograph(page, 'walk-event-paused', true)
      expect(await waitingOf(page)).toBe(1)
      // A touch is answered, also where nothing changes.
      await page.getByRole('button', { name: 'Send now' }).click()
      await page.locator('.toast').getByText('Not sent yet. The event is paused.').waitFor()
      await photograph(page, 'walk-not-sent')
      expect(await waitingOf(page)).toBe(1)
      // The app hears that the event goes on, and sends without waiting for its next try.
      await setStatus(app.stack, { status: 'active' })
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await page.locator('[data-state=counted]').waitFor()
      await counted(await userIdOf(page), 1)
      expect(await page.getByText('Thunder. Wait at the temple.').count()).toBe(0)
    },
    TEST_MS,
  )

  test.each([
    [429, 'rate-limited', 'Too many tries. It is sent by itself'],
    [503, 'unavailable', 'The service is busy. Everything is saved'],
    [401, 'unauthorized', 'LINE asks you to log in again.'],
    [403, 'forbidden', 'Please ask the organisers.'],
    [500, 'internal', 'The service is busy. Everything is saved'],
  ])(
    '%p is a sentence, and loses nothing',
    async (status, code, sentence) => {
      await using phone = await app.newPilgrim()
      const { page, userId } = phone
      expect(await page.getByText(sentence).count()).toBe(0)
      await page.route('**/api/event/checkin', (route) =>
        route.fulfill({ status, headers: { 'Retry-After': '30' }, json: { error: 'No.', code } }),
      )
      await checkInButton(page).click()
      await page.getByText(sentence).first().waitFor()
      await photograph(page, `walk-answer-${status}`, true)
      expect(await waitingOf(page)).toBe(1)
      await page.unroute('**/api/event/checkin')
      await page.getByRole('button', { name: 'Send now' }).click()
      await counted(userId, 1)
    },
    TEST_MS,
  )

  test(
    'without a position it says what to do',
    async () => {
      await using phone = await app.newPhone({ permissions: [] })
      const { page } = phone
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Nobody knows where')
      await checkInButton(page).click()
      await page.getByText('Not checked in: The phone does not allow the position.').waitFor()
      await photograph(page, 'walk-no-permission')
      // What was done after it is newer, and says itself what is wrong.
      await page.getByRole('button', { name: 'Start recording' }).click()
      await page.getByText('Not checked in').waitFor({ state: 'detached' })
    },
    TEST_MS,
  )

  test.each([
    [3, 'fast'],
    [-3, 'slow'],
  ])(
    'a clock that is wrong by %p hours is told, and the walk counts at the right time',
    async (hours, how) => {
      await using phone = await app.newPhone()
      const { page } = phone
      const before = Date.now()
      await page.clock.install({ time: before + hours * 3_600_000 })
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Three hours')
      await page.getByText(`This phone’s clock is 180 minutes ${how}.`).waitFor()
      await photograph(page, `walk-clock-${how}`)
      await checkInButton(page).click()
      const userId = await userIdOf(page)
      await counted(userId, 1)
      const answer = await app.stack.fetch('/api/event/me/walk', {
        method: 'POST',
        body: JSON.stringify({ user_id: userId }),
      })
      const { data } = (await answer.json()) as { data: { checkins: { t: string }[] } }
      expect(Math.abs(Date.parse(data.checkins[0]!.t) - before)).toBeLessThan(60_000)
    },
    TEST_MS,
  )
})

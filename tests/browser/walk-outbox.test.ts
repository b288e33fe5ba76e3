/**
 * Stored data belong to one pilgrim, arrive once, and the app says so if the browser cannot store them or
 * does not respond.
 */
import { expect, test } from 'bun:test'
import { userSyncEndpoint } from '#shared/contracts/profile.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { newAppId, readAs } from '#tests/helpers/test-stack.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import { fillUp } from './phone-storage.ts'
import {
  checkInButton,
  entriesOn,
  known,
  userIdOf,
  walkApp,
  hasKept,
  keptOn,
  allKeptOn,
} from './walk-harness.ts'

describeOnServers('the outbox', () => {
  const app = walkApp({ EVENT_LIMIT_CHECKIN: '1000' })
  const hasCheckIns = (userId: string, number: number) =>
    until(async () => (await profileOf(app.stack, userId)).checkins === number, `${number} check-ins`)

  test('another walk that is taken over asks what becomes of what waits, and begins clean', async () => {
    await using other = await app.newPilgrim('Old Lin')
    await using phone = await app.newPilgrim('Grandmother Wang')
    const { page, context, userId } = phone
    await page.route('**/api/event/checkin', (route) => route.abort())
    await page.route('**/api/event/track/sync', (route) => route.abort())
    // Before recording, whose position watch may keep the browser from responding.
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.goto(app.address('#way'))
    await hasKept(page, 'way', userId)
    await page.goto(app.address('#survey'))
    await page.getByLabel('First time', { exact: false }).first().check()
    await page.goto(app.address('#walk'))
    const takeOver = async () => {
      await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
      await page.getByRole('button', { name: 'Yes, that is me' }).click()
    }
    await takeOver()
    await page.getByText('This belongs to the walk of Grandmother Wang and is not sent yet.').waitFor()
    for (const [width, height] of [
      [360, 640],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      await photograph(page, `walk-taken-over-${height}`)
    }
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByText('The service does not answer.').first().waitFor()
    expect(await userIdOf(page)).toBe(userId)
    await page.unroute('**/api/event/checkin')
    await page.unroute('**/api/event/track/sync')
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
    await hasCheckIns(userId, 1)
    expect(await entriesOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Start recording' }).waitFor()
    expect(await allKeptOn(page)).not.toContain(userId)
    expect(await keptOn<object>(page, 'survey')).toEqual({})
    await page.reload()
    await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
    await context.setOffline(false)
    expect(await profileOf(app.stack, other.userId)).toMatchObject({ checkins: 0 })
  })

  test('what was on its way when another walk was taken over changes nothing of the other one', async () => {
    await using other = await app.newPilgrim('Old Lin')
    await using phone = await app.newPilgrim('Grandmother Wang')
    const { page, userId } = phone
    const [asked, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isAsked = false
    let checkIns = 0
    await page.route('**/api/event/checkin', async (route) => {
      // The app no longer waits for a response once it has asked for the outcome of the check-in.
      if (!isAsked) return route.abort()
      checkIns++
      await taken.promise
      return route.continue()
    })
    await page.route('**/api/event/me/walk', async (route) => {
      asked.resolve()
      await taken.promise
      return route.continue()
    })
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    await page.evaluate(() => (location.hash = 'way'))
    await asked.promise
    await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
    await page.getByRole('button', { name: 'Yes, that is me' }).click()
    const goOn = page.getByRole('button', { name: 'Delete it and go on' })
    await goOn.waitFor()
    isAsked = true
    await until(async () => checkIns > 0, 'the next try')
    await goOn.click()
    await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
    // Otherwise the profile would correct the error.
    await page.route('**/api/event/user/*', (route) => route.abort())
    const answers = ['checkin', 'me/walk'].map((path) =>
      page.waitForResponse((one) => one.url().endsWith(`/api/event/${path}`)),
    )
    taken.resolve()
    await Promise.all(answers)
    await Bun.sleep(1_000)
    expect(await page.locator('[data-figure=checkins]').textContent()).toBe('0 check-ins')
    expect(await allKeptOn(page)).not.toContain(userId)
  })

  test('a window that the phone has stopped keeps the one in front from sending for 15 s at most', async () => {
    await using phone = await app.newPilgrim()
    const { page, userId } = phone
    await page.clock.install()
    await page.evaluate(async () => {
      const held = Promise.withResolvers<void>()
      const hold = () => {
        held.resolve()
        return new Promise(() => undefined)
      }
      navigator.locks.request('track queue indexed-db-walk', hold).catch(() => undefined)
      await held.promise
    })
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    await page.clock.runFor(16_000)
    await hasCheckIns(userId, 1)
  })

  test('a page that the browser had stopped and shows again is loaded anew', async () => {
    await using phone = await app.newPilgrim()
    const { page } = phone
    const loaded = page.waitForEvent('load')
    await page.evaluate(() => void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await loaded
    await checkInButton(page).waitFor()
  })

  test('a walk without a consent is asked for it from its top, and the walk that it replaces shows its words', async () => {
    await using phone = await app.newPilgrim('Grandmother Wang', { viewport: { width: 360, height: 640 } })
    const { page } = phone
    const other = newAppId()
    await dataOf(
      await post(app.stack, 'user/sync', { user_id: other, display_name: 'Old Lin' }),
      userSyncEndpoint,
    )
    await page.evaluate((id) => (location.hash = `restore=${id}`), other)
    await page.getByText('Show the twelve words').click()
    await page.locator('.code-words li').nth(11).waitFor()
    await page.getByRole('button', { name: 'Yes, that is me' }).click()
    await page.getByText('The organisers do not have your consent yet.').waitFor()
    await until(() => page.evaluate(() => document.activeElement?.textContent === 'Old Lin'), 'the heading')
    expect(await page.evaluate(() => scrollY)).toBe(0)
  })

  test('a check-in that still looks for its place is not made for the walk that is taken over', async () => {
    await using other = await app.newPilgrim('Old Lin')
    await using phone = await app.newPhone({}, async (context) => {
      await context.addInitScript(() => {
        const ask = navigator.geolocation.getCurrentPosition.bind(navigator.geolocation)
        navigator.geolocation.getCurrentPosition = (...given) =>
          void Object.assign(globalThis, { tell: () => ask(...given) })
      })
    })
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await page.getByLabel('Your name').fill('Grandmother Wang')
    await page.getByRole('button', { name: 'I agree' }).click()
    await checkInButton(page).click()
    await page.getByText('Looking for your place').waitFor()
    await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
    await page.getByRole('button', { name: 'Yes, that is me' }).click()
    await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
    await page.evaluate(() => (globalThis as unknown as { tell: () => void }).tell())
    await checkInButton(page).waitFor()
    expect(await entriesOn(page)).toEqual([])
    expect(await profileOf(app.stack, other.userId)).toMatchObject({ checkins: 0 })
  })

  test('a phone that never answers is a sentence, and the next press asks again', async () => {
    await using phone = await app.newPhone({}, async (context) => {
      await context.addInitScript(() => (navigator.geolocation.getCurrentPosition = () => undefined))
    })
    const { page } = phone
    await page.clock.install()
    await page.goto(app.address('?lang=en'))
    await page.getByLabel('Your name').fill('Grandmother Wang')
    await page.getByRole('button', { name: 'I agree' }).click()
    await checkInButton(page).click()
    await page.getByText('Looking for your place').waitFor()
    await page.clock.runFor(26_000)
    await page.getByText('The phone does not answer.').waitFor()
    await photograph(page, 'walk-no-answer')
    expect(await checkInButton(page).getAttribute('aria-busy')).toBe('false')
  })

  test('a browser that keeps nothing says so, with the code that brings the walk back', async () => {
    await using phone = await app.newPhone()
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await fillUp(page, true)
    await page.getByLabel('Your name').fill('Grandmother Wang')
    await page.getByRole('button', { name: 'I agree' }).click()
    await page.locator('.status').getByText('This browser saves nothing.').waitFor()
    await photograph(page, 'walk-keeps-nothing')
    await page.locator('.status').getByRole('button', { name: 'Show the twelve words' }).click()
    await page.getByRole('heading', { name: 'Recovery code' }).waitFor()
  })

  test('a report that the device cannot keep stays in its form', async () => {
    await using phone = await app.newPilgrim()
    const { page, context } = phone
    await page.goto(app.address('#feedback'))
    await context.setOffline(true)
    await page.getByRole('combobox').selectOption({ index: 1 })
    await page.getByRole('textbox').first().fill('The bridge is closed.')
    await page.evaluate(() => {
      IDBObjectStore.prototype.add = () => {
        throw new DOMException('full', 'QuotaExceededError')
      }
    })
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('This browser saves nothing.').first().waitFor()
    expect(await page.getByRole('textbox').first().inputValue()).toBe('The bridge is closed.')
  })

  test('what release 1.1.0 has kept arrives, each for its pilgrim, and nothing of it stays behind', async () => {
    await using phone = await app.newPilgrim()
    const { page, userId } = phone
    const key = crypto.randomUUID()
    await page.evaluate(
      ([owner, report]) => {
        const waiting = {
          key: report,
          userId: owner,
          category: 'route',
          text: 'Written with 1.1.0.',
          picture: null,
          pictureUrl: null,
        }
        localStorage.setItem(
          'event-walk-reports',
          JSON.stringify([waiting, { ...waiting, userId: 'w-other' }]),
        )
        localStorage.setItem('event-walk-survey', JSON.stringify({ q1: 'few' }))
        localStorage.setItem('event-walk-survey-waits', JSON.stringify(owner))
      },
      [userId, key] as const,
    )
    await page.reload()
    const told = async () =>
      (await (await readAs(app.stack, 'manager', 'feedback')).text()).split('Written with 1.1.0.').length - 1
    await until(async () => (await told()) === 1, 'the report')
    await until(
      async () => (await (await readAs(app.stack, 'manager', 'admin/surveys')).text()).includes('"q1":"few"'),
      'the survey',
    )
    expect((await entriesOn(page)).map((entry) => entry.userId)).toEqual(['w-other'])
    const left = await page.evaluate(() => Object.keys(localStorage))
    expect(left.filter((name) => /reports|survey-waits/.test(name))).toEqual([])
  })

  test('a consent that is taken back while the way to the service is cut ends sending at once, and arrives', async () => {
    await using phone = await app.newPilgrim()
    const { page, userId } = phone
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.route('**/api/event/privacy', (route) => route.abort())
    await page.goto(app.address('#data'))
    await page.getByRole('button', { name: 'Withdraw my consent' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw my consent' }).click()
    await page.getByText('Saved on this phone. It is sent by itself.').waitFor()
    const sent: string[] = []
    page.on('request', (one) => void (one.method() === 'POST' && sent.push(new URL(one.url()).pathname)))
    // The service still has the consent, and reports it.
    const read = page.waitForResponse((one) => one.url().endsWith(`/api/event/user/${userId}`))
    await page.goto('about:blank')
    await page.goto(app.address('#walk'))
    await read
    await page.getByText('You have withdrawn your consent.').waitFor()
    expect(await checkInButton(page).isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: /^(Start|Stop) recording$/ }).count()).toBe(0)
    expect(await profileOf(app.stack, userId)).toMatchObject({ privacy_agreed: true })
    await page.unroute('**/api/event/privacy')
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await known(page)
    expect(await profileOf(app.stack, userId)).toMatchObject({ privacy_agreed: false })
    expect(sent.filter((path) => /checkin|track/.test(path))).toEqual([])
  })

  test('a language that is chosen later and a name of another phone are followed', async () => {
    await using phone = await app.newPilgrim('Ann')
    const { page, userId } = phone
    await page.goto(app.address('#display'))
    const sent = page.waitForRequest((request) => request.url().endsWith('/user/sync'))
    await page.getByLabel('Language').selectOption('ja')
    expect((await sent).postDataJSON()).toEqual({ user_id: userId, language: 'ja' })
    await app.stack.fetch('/api/event/user/sync', {
      method: 'POST',
      body: JSON.stringify({ user_id: userId, display_name: 'Anna' }),
    })
    await page.reload()
    await hasKept(page, 'person', '"Anna"')
    await known(page)
  })

  test('who comes from the map is not told of a new version', async () => {
    await using phone = await app.newPhone()
    const { page } = phone
    await page.goto(new URL('/', app.address()).href)
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
    await page.goto(app.address('?lang=en'))
    await page.getByLabel('Your name').fill('From the map')
    await page.getByRole('button', { name: 'I agree' }).click()
    await page.waitForFunction(() => navigator.serviceWorker.controller?.scriptURL.endsWith('/walk/sw.js'))
    await checkInButton(page).waitFor()
    expect(await page.getByText('A new version is ready.').count()).toBe(0)
  })
})

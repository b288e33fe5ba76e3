/**
 * The SOS button of the app: within thumb's reach, held, released early, by keyboard, and the state of each
 * press.
 */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { confirmEmergencyEndpoint, emergenciesEndpoint } from '#shared/contracts/emergencies.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { callAs, readAs, setStatus } from '#tests/helpers/test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { newRecorder } from './phone-watch.ts'
import { firstMinute, type Phone, walkApp } from './walk-harness.ts'

const app = walkApp({ EVENT_TIMEZONE: 'Europe/Madrid' })

const emergencies = async () =>
  (await dataOf(await readAs(app.stack, 'manager', 'admin/emergencies'), emergenciesEndpoint)).items

test('an SOS is sent after two seconds, waits for a network, and is told when it was sent and seen', async () => {
  await using phone = await app.newPhone()
  const { context, page } = phone
  await page.goto(app.address('?lang=en'))
  await firstMinute(page, 'Ana')
  const button = page.locator('.sos-button')
  const status = page.locator('.status')
  // Released early: nothing happens.
  await button.evaluate((one) => {
    for (const name of ['pointerdown', 'pointerup'])
      one.dispatchEvent(new PointerEvent(name, { bubbles: true }))
  })
  await page.getByText('Nothing is sent yet.').waitFor()
  await page.waitForTimeout(1_500)
  expect(await emergencies()).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  // By keyboard, offline.
  await context.setOffline(true)
  await button.focus()
  await page.keyboard.down('Enter')
  await status.getByText('is waiting for a connection').waitFor()
  await page.keyboard.up('Enter')
  await page.getByText('A call is faster.').waitFor()
  // The live region existed before its text, otherwise screen readers would not announce it.
  expect(await page.locator('.sos-said').innerText()).toContain('is waiting for a connection')
  expect(await page.locator('.status a[href="tel:112"]').count()).toBe(1)
  await photograph(page, 'walk-sos-waits', true)
  await context.setOffline(false)
  await status.getByText(/SOS sent at \d\d:\d\d/).waitFor()
  // Staff have neither LINE nor a device.
  await status.getByText(/SOS arrived at \d\d:\d\d, but nobody could be alerted/).waitFor({ timeout: 45_000 })
  await photograph(page, 'walk-sos-unalerted', true)
  expect(await seriousFaults(page)).toEqual([])
  const items = await emergencies()
  expect(items).toMatchObject([{ display_name: 'Ana', source: 'app', presses: 1, place: { lat: 24.15 } }])
  const path = `admin/emergencies/${items[0]!.id}/confirm`
  await dataOf(await callAs(app.stack, 'manager', 'POST', path), confirmEmergencyEndpoint)
  await status.getByText(/Seen by the organisers at \d\d:\d\d/).waitFor({ timeout: 45_000 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await photograph(page, 'walk-sos-seen-dark-360', true)
  // A screen reader presses without holding, and confirms.
  await button.evaluate((one: HTMLElement) => one.click())
  await page.getByRole('button', { name: 'Send the SOS now' }).click()
  await until(async () => (await emergencies()).length === 2, 'the second emergency')
})

const press = async (page: Page) => {
  await page.locator('.sos-button').evaluate((one: HTMLElement) => one.click())
  await page.getByRole('button', { name: 'Send the SOS now' }).click()
}

test('each SOS that waits is sent, also of walks that are no longer on the phone, and once', async () => {
  await using other = await app.newPilgrim('Old Lin')
  await using phone = await app.newPilgrim('Bo')
  const { page } = phone
  await page.route('**/api/event/emergency*', (route) => route.abort())
  await press(page)
  await page.locator('[data-sos=waits]').waitFor()
  await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
  await page.getByRole('button', { name: 'Yes, that is me' }).click()
  await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
  await press(page)
  // The name identifies the other pilgrim's press.
  await page.locator('.notice').filter({ hasText: 'Bo' }).locator('[data-sos=waits]').waitFor()
  await until(async () => (await page.locator('[data-sos=waits]').count()) === 2, 'both')
  await page.setViewportSize({ width: 320, height: 568 })
  await photograph(page, 'walk-sos-two-wait')
  await page.reload()
  await until(async () => (await page.locator('[data-sos=waits]').count()) === 2, 'both after a reload')
  await page.unroute('**/api/event/emergency*')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  const of = async (name: string) => (await emergencies()).filter((one) => one.display_name === name)
  await until(async () => (await of('Bo')).length + (await of('Old Lin')).length === 2, 'both emergencies')
  // The current walk shows only its own press.
  await page.locator('[data-sos=waits]').waitFor({ state: 'detached' })
  expect(await page.locator('[data-sos]').count()).toBe(1)
  expect([...(await of('Bo')), ...(await of('Old Lin'))].map(({ presses }) => presses)).toEqual([1, 1])
})

test.each([
  [403, 'forbidden', 'other-account'],
  [410, 'erased', 'refused'],
] as const)(
  'an SOS that is answered %p is not sent again, says so, and can be deleted',
  async (status, code, state) => {
    await using other = await app.newPilgrim('Old Lin')
    await using phone = await app.newPilgrim('Bo')
    const { page } = phone
    let sent = 0
    const answer = { status: 503, json: { error: 'No.', code: 'unavailable' } }
    await page.route('**/api/event/emergency*', (route) => {
      sent++
      return route.fulfill(answer)
    })
    await press(page)
    await page.locator('[data-sos=waits]').waitFor()
    await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
    await page.getByRole('button', { name: 'Yes, that is me' }).click()
    await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
    Object.assign(answer, { status, json: { error: 'No.', code } })
    await page.clock.install()
    await page.reload()
    await page.locator(`[data-sos=${state}]`).waitFor()
    await photograph(page, `walk-sos-${state}`)
    const before = sent
    await page.clock.runFor(120_000)
    expect(sent).toBe(before)
    await page.getByRole('button', { name: 'Delete this SOS' }).click()
    await page.locator('[data-sos]').waitFor({ state: 'detached' })
    await page.reload()
    await page.locator('.sos-button').waitFor()
    expect(await page.locator('[data-sos]').count()).toBe(0)
  },
)

test('the SOS of somebody who was erased elsewhere is told as refused, and one of another walk survives an erasure', async () => {
  await using other = await app.newPilgrim('Old Lin')
  await using phone = await app.newPilgrim('Bo')
  const { page } = phone
  await page.route('**/api/event/emergency*', (route) => route.abort())
  await press(page)
  await page.locator('[data-sos=waits]').waitFor()
  await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
  await page.getByRole('button', { name: 'Yes, that is me' }).click()
  await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
  await page.evaluate(() => (location.hash = 'data'))
  await page.getByRole('button', { name: 'Delete everything about me' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete everything about me' }).click()
  await page.waitForURL(/#eras/)
  await page.locator('.notice').filter({ hasText: 'Bo' }).locator('[data-sos=waits]').waitFor()
  await page.unroute('**/api/event/emergency*')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await until(async () => (await emergencies()).some((one) => one.display_name === 'Bo'), 'the SOS of Bo')

  await using erased = await app.newPilgrim('Ida')
  const { userId } = erased
  expect((await post(app.stack, 'me/erase', { user_id: userId, confirm: true })).ok).toBe(true)
  await press(erased.page)
  await erased.page.locator('[data-sos=refused]').waitFor()
})

const STATES: Readonly<Record<string, () => Promise<Phone>>> = {
  async 'no walk'() {
    const phone = await app.newPhone()
    await phone.page.goto(app.address())
    return phone
  },
  walking: () => app.newPilgrim(),
  async resting() {
    const phone = await newRecorder(app)
    for (const metres of [1, 2, 3]) {
      await phone.move(50_000)
      await phone.arrive(metres)
    }
    await phone.page.locator('[data-resting=true]').waitFor()
    await phone.context.clock.resume()
    return phone
  },
  async 'a view behind a tab'() {
    const phone = await app.newPilgrim()
    await phone.page.evaluate(() => (location.hash = 'feedback'))
    await phone.page.locator('.tabs > .primary').waitFor()
    return phone
  },
  async restoring() {
    const phone = await app.newPilgrim()
    await phone.page.evaluate(() => (location.hash = 'restore'))
    await phone.page.locator('.tabs > .primary').waitFor()
    return phone
  },
  async paused() {
    await setStatus(app.stack, { status: 'paused', message: 'Thunder at the temple. '.repeat(6) })
    const phone = await app.newPilgrim()
    await phone.page.getByText('Thunder at the temple.').waitFor()
    return phone
  },
}

/** Elements that keep the SOS or a tab out of a thumb's reach at this size; empty: none. */
const outOfReach = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.tabs > :is(a, button)')].flatMap((one) => {
      const { left, right, top, bottom, width, height } = one.getBoundingClientRect()
      const name = one.textContent
      const isInSight = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      return [
        ...(isInSight ? [] : [`${name} is out of sight`]),
        ...(hit !== null && one.contains(hit) ? [] : [`${name} is covered`]),
        ...(one.scrollWidth <= one.clientWidth ? [] : [`${name} is cut`]),
        ...(one.matches('.sos-button') && Math.min(width, height) < 48 ? [`${width} × ${height}`] : []),
      ]
    }),
  )

test.each(Object.keys(STATES))('in the state %p a thumb reaches the SOS on every phone', async (state) => {
  await using _ = {
    [Symbol.asyncDispose]: async () => void (await setStatus(app.stack, { status: 'active' })),
  }
  await using phone = await STATES[state]!()
  const { page } = phone
  await page.evaluate(() => history.replaceState(null, '', location.pathname + location.hash))
  for (const language of BuiltInLanguage.options) {
    await page.evaluate((name) => localStorage.setItem('event-language', name), language)
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.locator(`html[lang=${language}] .sos-button`).waitFor()
    for (const [width, height] of [
      [320, 568],
      [360, 640],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      for (const letters of ['', 'largest']) {
        await page.evaluate((size) => (document.documentElement.dataset.letters = size), letters)
        const at = `${language} ${width} ${letters}`
        expect({ at, faults: await outOfReach(page) }).toEqual({ at, faults: [] })
        if (width === 320) await photograph(page, `walk-sos-${state}-${language}-${letters}`)
      }
    }
  }
})

test('before a walk the SOS names whom to call', async () => {
  await using phone = await app.newPhone()
  const { page } = phone
  await page.goto(app.address('?lang=en'))
  await page.getByRole('button', { name: 'SOS' }).click()
  await page.getByText('Call for help.').waitFor()
  expect(await page.locator('dialog[open] a[href="tel:112"]').count()).toBe(1)
  await photograph(page, 'walk-sos-no-walk')
})

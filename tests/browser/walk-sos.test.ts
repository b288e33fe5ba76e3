/** The SOS button of the app: held, let go early, by keyboard, without a network, and what became of it. */
import { expect, test } from 'bun:test'
import { confirmEmergencyEndpoint, emergenciesEndpoint } from '#shared/contracts/emergencies.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { callAs, readAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { firstMinute, walkApp } from './walk-harness.ts'

const app = walkApp({ EVENT_TIMEZONE: 'Europe/Madrid' })

const emergencies = async () =>
  (await dataOf(await readAs(app.stack, 'manager', 'admin/emergencies'), emergenciesEndpoint)).items

test('an SOS is sent after two seconds, waits for a network, and is told when it was sent and seen', async () => {
  await using phone = await app.newPhone()
  const { context, page } = phone
  await page.goto(app.address('?lang=en'))
  await firstMinute(page, 'Ana')
  const button = page.locator('.sos-button')
  await button.scrollIntoViewIfNeeded()
  await photograph(page, 'walk-sos', true)
  // Let go early: nothing happens.
  await button.hover()
  await page.mouse.down()
  await page.waitForTimeout(1_000)
  await photograph(page, 'walk-sos-held')
  await page.mouse.up()
  await page.getByText('Hold the button for two seconds').waitFor()
  await page.waitForTimeout(1_500)
  expect(await emergencies()).toEqual([])
  // By the keyboard, in a dead zone.
  await context.setOffline(true)
  await button.focus()
  await page.keyboard.down('Enter')
  await page.getByText('is waiting for a connection').waitFor()
  await page.keyboard.up('Enter')
  await page.getByText('A call is faster.').waitFor()
  expect(await page.locator('.sos a[href="tel:112"]').count()).toBe(1)
  await photograph(page, 'walk-sos-waits', true)
  await context.setOffline(false)
  await page.getByText(/SOS sent at \d\d:\d\d/).waitFor()
  // No LINE and no device of anybody on duty.
  await page.getByText(/SOS arrived at \d\d:\d\d, but nobody could be alerted/).waitFor({ timeout: 45_000 })
  await photograph(page, 'walk-sos-unalerted', true)
  expect(await seriousFaults(page)).toEqual([])
  const items = await emergencies()
  expect(items).toMatchObject([{ display_name: 'Ana', source: 'app', presses: 1, place: { lat: 24.15 } }])
  const path = `admin/emergencies/${items[0]!.id}/confirm`
  await dataOf(await callAs(app.stack, 'manager', 'POST', path), confirmEmergencyEndpoint)
  await page.getByText(/Seen by the organisers at \d\d:\d\d/).waitFor({ timeout: 45_000 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 740 })
  await photograph(page, 'walk-sos-seen-dark-360', true)
  // A screen reader presses without holding, and confirms.
  await button.evaluate((one: HTMLElement) => one.click())
  await page.getByRole('button', { name: 'Send the SOS now' }).click()
  await until(async () => (await emergencies()).length === 2, 'the second emergency')
})

test('an SOS that waits is sent after another walk was taken over', async () => {
  await using other = await app.newPilgrim('Old Lin')
  await using phone = await app.newPilgrim('Bo')
  const { page } = phone
  await page.route('**/api/event/emergency*', (route) => route.abort())
  await page.locator('.sos-button').evaluate((one: HTMLElement) => one.click())
  await page.getByRole('button', { name: 'Send the SOS now' }).click()
  await page.getByText('is waiting for a connection').waitFor()
  await page.evaluate((id) => (location.hash = `restore=${id}`), other.userId)
  await page.getByRole('button', { name: 'Yes, that is me' }).click()
  await page.getByRole('heading', { name: 'Old Lin' }).waitFor()
  await page.getByText('is waiting for a connection').waitFor()
  await page.unroute('**/api/event/emergency*')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  const ofBo = async () => (await emergencies()).some(({ display_name: name }) => name === 'Bo')
  await until(ofBo, 'the emergency of the walk before')
  // The walk that was taken over is told nothing of it.
  await page.getByText(/SOS (sent|arrived|is waiting)/).waitFor({ state: 'detached' })
})

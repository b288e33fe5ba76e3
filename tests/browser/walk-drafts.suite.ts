/**
 * The phone ends the page, or a new release reloads it, during an unfinished input: it is restored when the
 * app returns.
 */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { readAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { holdPlace, look, searches, tellPlace } from './phone-watch.ts'
import { checkInButton, type WalkApp, worksOffline, keepOn } from './walk-harness.ts'
import { releaseAgain } from './walk-release.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const picture = { name: 'dog.png', mimeType: 'image/png', buffer: PNG }

/** Ends the app's page, and opens it again. */
async function end(app: WalkApp, page: Page, view = ''): Promise<void> {
  await page.goto('about:blank')
  await page.goto(app.address(view))
}

export function draftTests(app: WalkApp): void {
  const checkInsOf = async (userId: string): Promise<number> => (await profileOf(app.stack, userId)).checkins

  test('what was typed and chosen is there after the page was ended: names, phone, report, picture, recovery words', async () => {
    await using phone = await app.newPhone()
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await page.getByLabel('Your name').fill('Aunt Li')
    await end(app, page)
    expect(await page.getByLabel('Your name').inputValue()).toBe('Aunt Li')
    await page.getByRole('button', { name: 'I agree' }).click()
    await checkInButton(page).waitFor()
    await page.goto(app.address('#me'))
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Aunt Li')
    await page.getByLabel('Name', { exact: true }).fill('Aunt Lin')
    // Too short to be saved when the field loses focus.
    await page.getByLabel('Phone', { exact: true }).fill('0912')
    await page.goto(app.address('#restore'))
    await page.getByLabel('Word 3', { exact: true }).fill('abandon')
    await page.goto(app.address('#feedback'))
    await page.getByLabel('What is it about?').selectOption('safety')
    await page.getByLabel('What happened?').fill('A dog')
    await page.locator('input[type=file]').setInputFiles(picture)
    await page.getByAltText('Your picture').waitFor()
    await end(app, page, '#me')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Aunt Lin')
    expect(await page.getByLabel('Phone', { exact: true }).inputValue()).toBe('0912')
    await end(app, page, '#restore')
    expect(await page.getByLabel('Word 3', { exact: true }).inputValue()).toBe('abandon')
    await end(app, page, '#feedback')
    await page.getByAltText('Your picture').waitFor()
    expect(await page.getByLabel('What happened?').inputValue()).toBe('A dog')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Thank you. It arrived').waitFor()
    expect(await (await readAs(app.stack, 'manager', 'feedback')).text()).toContain('feedback-image')
    // It belongs to that report now, and to no other.
    await end(app, page, '#feedback')
    await page.getByLabel('What happened?').waitFor()
    expect(await page.getByAltText('Your picture').count()).toBe(0)
  })

  test('a check-in whose page is ended goes on with the next page, once, also with a second window', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await holdPlace(page)
    await checkInButton(page).click()
    await searches(page)
    // The first window is working on it: the second one does nothing.
    const other = await context.newPage()
    await other.goto(app.address('?lang=en'))
    await checkInButton(other).waitFor()
    expect(await other.getByText('Looking for your place').count()).toBe(0)
    await end(app, page)
    await page.bringToFront()
    await until(async () => (await checkInsOf(userId)) === 1, 'the check-in')
    await end(app, page)
    await checkInButton(page).waitFor()
    expect(await checkInsOf(userId)).toBe(1)
    // Too long ago: no check-in at another place than intended.
    await holdPlace(page)
    await checkInButton(page).click()
    await searches(page)
    await keepOn(page, 'check-in', Date.now() - 3_600_000)
    await other.close()
    await end(app, page)
    await page.getByText('Not checked in: the app was closed').waitFor()
    expect(await checkInsOf(userId)).toBe(1)
  })

  test('a new release is not loaded while a check-in looks for its place or a picture is chosen, but after that', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await worksOffline(page)
    await releaseAgain(app.stack)
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())!.update())
    await page.getByText('A new version is ready.').waitFor()
    await holdPlace(page)
    await checkInButton(page).click()
    await searches(page)
    await look(page, 'hidden')
    await look(page, 'visible')
    await tellPlace(page)
    await until(async () => (await checkInsOf(userId)) === 1, 'the check-in')
    await page.evaluate(() => (location.hash = 'feedback'))
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByText('Add a picture').click(),
    ])
    await look(page, 'hidden')
    await look(page, 'visible')
    await chooser.setFiles(picture)
    await page.getByAltText('Your picture').waitFor()
    const loaded = page.waitForEvent('load')
    await look(page, 'hidden').catch(() => undefined)
    await loaded
    await page.getByAltText('Your picture').waitFor()
    expect(await page.getByText('A new version is ready.').count()).toBe(0)
    await context.close()
  })
}

/** The survey in the app: drafts, a dead zone, and changed answers. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { readAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import { checkInButton, type WalkApp, hasKept } from './walk-harness.ts'

export function surveyTests(app: WalkApp): void {
  test('before the phone keeps all files, a survey that cannot be opened says so, and opens at another try', async () => {
    await using phone = await app.newPilgrim('Lin', { serviceWorkers: 'block' })
    const { page, context } = phone
    await context.setOffline(true)
    await page.evaluate(() => (location.hash = 'survey'))
    await page.getByText('Not done: no network.').waitFor()
    await context.setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByLabel('2 to 4 times').waitFor()
  })

  test('the survey keeps each answer, is sent by itself after a dead zone, and shows what was sent', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await page.goto(app.address('#survey'))
    await page.getByLabel('2 to 4 times').check()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('Family').check()
    await page.reload()
    expect(await page.getByLabel('Family').isChecked()).toBe(true)
    // On a small screen the next question starts at the top, not where the button was.
    await page.setViewportSize({ width: 360, height: 420 })
    for (let i = 2; i < 10; i++) {
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText(`Question ${i + 1} of 10`).waitFor()
      await page.waitForFunction(
        () => document.querySelector('legend, .question')!.getBoundingClientRect().top > 0,
      )
    }
    await page.getByLabel('What else').fill('The soup was good.')
    await page.getByText('7 questions have no answer').waitFor()
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Send the answers' }).click()
    await page.getByText('Not sent yet. Your answers are on this phone').waitFor()
    await page.getByText('No network.').first().waitFor()
    await photograph(page, 'walk-survey-waits')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByText('Your answers are saved on this phone. They are sent by themselves').waitFor()
    await context.setOffline(false)
    await page.getByText('Answered. You can change it.').waitFor()
    expect((await profileOf(app.stack, userId)).survey_completed).toBe(1)
    const surveys = await readAs(app.stack, 'manager', 'admin/surveys')
    const text = await surveys.text()
    expect(text).toContain('The soup was good.')
    expect(text).toContain('"q2":"family"')
    // Changing an answer keeps the others.
    await page.goto(app.address('#survey'))
    expect(await page.getByLabel('2 to 4 times').isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByLabel('Friends').check()
    for (let i = 2; i < 10; i++) await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('button', { name: 'Send the answers' }).click()
    await page.getByText('Your answers have arrived').waitFor()
    const again = await readAs(app.stack, 'manager', 'admin/surveys')
    await seesCard(app, page)
    expect(await again.text()).toContain('"q1":"few","q2":"friends","q10":"The soup was good."')
  })
}

/** The card's missing requirements are shown, and the complete card can be viewed and saved. */
async function seesCard(app: WalkApp, page: Page): Promise<void> {
  await page.goto(app.address('#me'))
  await page.getByText('Check-ins: 0 of 3').waitFor()
  const missing = page.getByRole('listitem').filter({ hasText: 'missing' })
  expect(await missing.count()).toBe(2)
  await page.getByLabel('Phone', { exact: true }).fill('0912-345-678')
  await page.keyboard.press('Enter')
  await until(async () => (await missing.count()) === 1, 'the number to be saved')
  for (let i = 1; i <= 3; i++) {
    await page.goto(app.address('#walk'))
    await checkInButton(page).click()
    await hasKept(page, 'profile', `"checkins":${i}`)
  }
  await page.goto(app.address('#me'))
  await page.getByRole('button', { name: 'See my card' }).click()
  const picture = page.getByAltText('Your card with level, distance and check-ins')
  await picture.waitFor()
  await page.waitForFunction(
    () => document.querySelector<HTMLImageElement>('.own-card')?.naturalWidth === 1_200,
  )
  await photograph(page, 'walk-own-card', true)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the picture' }).click()
  expect(
    readFileSync(await (await download).path())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')
}

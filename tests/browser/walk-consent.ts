/** The consent of a pilgrim with two phones: taken back with one, it ends the recording of both. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { checkInButton, type WalkApp } from './walk-harness.ts'

/** @param page a phone whose pilgrim has given the consent; afterwards it is given again, and nothing is recorded */
export async function stopsWithTheConsent(app: WalkApp, page: Page, userId: string): Promise<void> {
  await page.goto(app.address('#walk'))
  await page.getByRole('button', { name: 'Start recording' }).click()
  await using second = await app.newPhone()
  const other = second.page
  await other.goto(app.address(`?lang=en#restore=${userId}`))
  await other.getByText('Record with one phone only.').waitFor()
  await other.getByText('My phone is lost').click()
  await other.getByText('Whoever unlocks it can see your walk').waitFor()
  await other.getByRole('button', { name: 'Yes, that is me' }).click()
  // The walk has been taken to this phone.
  await checkInButton(other).waitFor()
  await other.goto(app.address('?lang=en#data'))
  const withdraw = other.getByRole('button', { name: 'Withdraw my consent' })
  await withdraw.waitFor()
  await second.context.setOffline(true)
  await withdraw.click()
  await other.getByRole('dialog').getByRole('button', { name: 'Withdraw my consent' }).click()
  await other.getByText('Not done: no network. Please try again').waitFor()
  await second.context.setOffline(false)
  await withdraw.click()
  await other.getByRole('dialog').getByRole('button', { name: 'Withdraw my consent' }).click()
  await other.getByRole('button', { name: 'I agree again' }).waitFor()
  expect((await profileOf(app.stack, userId)).privacy_agreed).toBe(false)
  await other.goto(app.address('?lang=en#walk'))
  for (const phone of [page, other]) {
    await phone.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await phone.getByText('Nothing is recorded without your consent.').waitFor()
    expect(await phone.getByRole('button', { name: /^(Start|Stop) recording$/ }).count()).toBe(0)
  }
  await page.getByRole('button', { name: 'I agree again' }).click()
  await page.getByRole('button', { name: 'Start recording' }).waitFor()
}

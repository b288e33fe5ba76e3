/** The phone number under “Me”. */
import type { Page } from 'playwright-core'

/** @param page shows “Me” with a number that is not saved yet; afterwards it is saved */
export async function removesTheNumber(page: Page, number: string): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click()
  const remove = page.getByRole('button', { name: 'Remove' })
  await remove.click()
  await page.getByText('Removed.').waitFor()
  await page.getByLabel('Phone', { exact: true }).fill(number)
  await page.keyboard.press('Tab')
  await remove.waitFor()
}

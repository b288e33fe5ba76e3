/** The views of the console: how each is opened, and what shows that its data have arrived. */
import type { Page } from 'playwright-core'

export const VIEWS = ['now', 'people', 'reports', 'feedback', 'messages', 'lifecycle', 'system'] as const
export type View = (typeof VIEWS)[number]

const FULL: Readonly<Record<View, string>> = {
  now: '.parts',
  people: '.people-list tbody tr',
  reports: '.questions section',
  feedback: '.feedback-card',
  messages: '.sent-messages .rows > li',
  lifecycle: '.end-event',
  system: '.audit tbody tr',
}

export async function openView(page: Page, view: View): Promise<void> {
  await page.locator(`.navigation a:not(.count)[href="#/${view}"]`).click()
  await page.locator(FULL[view]).first().waitFor()
}

/** Types a token and waits for the console. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.locator('#token').fill(token)
  await page.keyboard.press('Enter')
  await page.locator('.console').waitFor()
}

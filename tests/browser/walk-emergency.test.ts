/** The emergency numbers in the app, for an event outside Taiwan. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { setEvent } from '#tests/helpers/set-event.ts'
import { BROWSER_TIMEOUT_MS, photograph, testBrowser } from './browser.ts'
import { firstMinute } from './walk-harness.ts'

const browser = testBrowser()
let stack: TestStack

beforeAll(async () => {
  stack = await openEmbeddedTestStack({ EVENT_TIMEZONE: 'Europe/Madrid' })
  await setEvent(stack, 'contact', { organiser_phone: '+34 981 000 000' })
}, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)
afterAll(() => stack?.close())

test('a report and the set-up of a tracker app show the numbers of the event, to be tapped', async () => {
  await using opened = await browser.open(stack, { path: '/walk/?lang=en' })
  const { page } = opened
  await firstMinute(page, 'Ana')
  for (const view of ['feedback', 'trackers']) {
    await page.evaluate((hash) => (location.hash = hash), view)
    await page.getByRole('main').getByText('In an emergency, call').waitFor()
    const calls = page.locator('main a[href^="tel:"]')
    expect(await calls.allTextContents()).toEqual(['112', '+34 981 000 000'])
    expect(await Promise.all((await calls.all()).map((one) => one.getAttribute('href')))).toEqual([
      'tel:112',
      'tel:+34981000000',
    ])
    await photograph(page, `walk-emergency-${view}`, true)
  }
  await page
    .getByText(
      'If this app has an SOS button, it reaches the organisers. Calling the emergency number is faster.',
    )
    .waitFor()
})

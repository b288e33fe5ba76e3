/** A link to the walk, passed on in each of the ways that phones know. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { photograph } from './browser.ts'

const send = (page: Page): Promise<void> => page.getByRole('button', { name: 'Send', exact: true }).click()

/** Makes a link in the view of the way, and passes it on: shared, copied, and copied by hand. */
export async function passLinkOn(page: Page, userId: string): Promise<void> {
  // The phone's own sharing opens at once with the new link.
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'share', {
      configurable: true,
      value({ url }: ShareData) {
        document.body.dataset.shared = url
      },
    }),
  )
  await page.getByRole('button', { name: 'Share where I am for 12 hours' }).click()
  await page.getByText('Shows where you are when you record or check in, until').waitFor()
  await page.locator('body[data-shared]').waitFor()
  const url = await page.locator('[data-share] a').getAttribute('href')
  expect(url).not.toContain(userId)
  expect(url).toBe(`${await page.locator('body').getAttribute('data-shared')}#own`)
  // Without it the link is copied. What is said about it covers no button.
  await page.context().grantPermissions(['clipboard-write'])
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'share', { configurable: true, value: undefined }),
  )
  await send(page)
  await page.getByText('Copied. Paste it').waitFor()
  await photograph(page, 'walk-link-copied', true)
  expect(await page.locator('.toast').count()).toBe(0)
  // Where the browser can do neither, the link is there to be copied by hand.
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined }),
  )
  await send(page)
  await page.getByText('Send this address:').waitFor()
  const address = page.locator('[data-share] code')
  expect(await address.innerText()).toBe(url!.replace('#own', ''))
  // Its ground covers nothing of the sentence before it.
  const covered = await address.evaluate((code) => {
    const sentence = document.createRange()
    sentence.selectNode(code.previousSibling!)
    return sentence.getBoundingClientRect().bottom - code.getBoundingClientRect().top
  })
  expect(covered).toBeLessThanOrEqual(0)
  expect(await page.getByText('Copied. Paste it').count()).toBe(0)
  await photograph(page, 'walk-link-by-hand', true)
}

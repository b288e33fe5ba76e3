/**
 * An emergency in the console: shown in every view, with place and phone, until one of two operators confirms
 * it.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { checkIn, newAppId, type TestStack } from '#tests/helpers/test-stack.ts'
import { BROWSER_TIMEOUT_MS, photograph, seriousFaults } from './browser.ts'
import { consoleBrowser } from './console-harness.ts'
import { openView } from './console-tour.ts'

/** The console polls them every 30 s. */
const READ_MS = 60_000

const browser = consoleBrowser()
let stack: TestStack
beforeAll(async () => {
  stack = await openEmbeddedTestStack()
}, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)
afterAll(() => stack?.close())

test(
  'an emergency is shown on every view until somebody confirms it, and to no volunteer',
  async () => {
    const pilgrim = newAppId()
    await post(stack, 'user/sync', { user_id: pilgrim, display_name: 'Lin Mei' })
    await post(stack, 'user/phone', { user_id: pilgrim, phone: '0912 345 678' })
    await checkIn(stack, pilgrim)
    await using opened = await browser.console(stack, { role: 'manager', view: 'messages' })
    const { page } = opened
    await page.locator('#view h2').first().waitFor()
    expect(await page.locator('.emergency').count()).toBe(0)
    const press = { user_id: pilgrim, waited_ms: 0, lat: 24.1477, lng: 120.6736, accuracy: 12 }
    for (let i = 0; i < 2; i++)
      await post(stack, 'emergency', { ...press, pressed_at: new Date(Date.now() + i).toISOString() })
    const bar = page.getByRole('alert').locator('.emergency')
    await bar.waitFor({ timeout: READ_MS })
    expect(await bar.innerText()).toMatch(/SOS[^]*Lin Mei[^]*2 presses[^]*24\.1477, 120\.6736[^]*±12 m/)
    expect(await bar.getByRole('link', { name: '0912 345 678' }).getAttribute('href')).toBe('tel:0912345678')
    const top = async (selector: string) => (await page.locator(selector).boundingBox())!.y
    for (const view of ['lifecycle', 'now'] as const) {
      await openView(page, view)
      expect(await top('.emergency')).toBeLessThan(await top('.top-bar'))
    }
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'console-emergency')
    await page.emulateMedia({ colorScheme: 'dark' })
    await photograph(page, 'console-emergency-dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await bar.getByRole('button', { name: '24.1477, 120.6736' }).click()
    await page.locator('.person-dot', { hasText: 'Lin Mei' }).waitFor()
    await photograph(page, 'console-emergency-map')
    await page.setViewportSize({ width: 360, height: 740 })
    await photograph(page, 'console-emergency-360')

    await using volunteer = await browser.console(stack, { role: 'volunteer' })
    await volunteer.page.locator('.navigation').waitFor()
    expect(await volunteer.page.locator('.emergencies').count()).toBe(0)

    await using second = await browser.console(stack, { role: 'owner', view: 'people' })
    await second.page.getByRole('button', { name: 'I take care of it' }).click()
    await second.page.locator('.toast', { hasText: 'Confirmed' }).waitFor()
    await second.page.locator('.emergency').waitFor({ state: 'detached' })
    await bar.waitFor({ state: 'detached', timeout: READ_MS })
  },
  3 * READ_MS,
)

test(
  'emergencies that cannot be read are hidden, or a tab in the background does not show them',
  async () => {
    const pilgrim = newAppId()
    await checkIn(stack, pilgrim)
    await using opened = await browser.console(stack, {
      role: 'manager',
      view: 'system',
      expected: /500/,
      async before(page) {
        await page.addInitScript(() => Object.defineProperty(document, 'hidden', { get: () => true }))
        await page.route(
          '**/admin/emergencies',
          (route) =>
            route.fulfill({
              status: 500,
              json: { ok: false, error: 'Down.', code: 'internal' },
            }),
          { times: 1 },
        )
      },
    })
    const { page } = opened
    await page.getByRole('alert').getByText('SOS: Not read: Down.').waitFor()
    expect(await page.title()).toStartWith('⚠ ')
    await photograph(page, 'console-emergencies-unread')
    const press = { user_id: pilgrim, waited_ms: 0, lat: 24.1477, lng: 120.6736, accuracy: 12 }
    await post(stack, 'emergency', { ...press, pressed_at: new Date().toISOString() })
    await page.getByRole('alert').locator('.emergency').waitFor({ timeout: READ_MS })
    await page.getByText('Not read').waitFor({ state: 'detached' })
    expect(await page.title()).toStartWith('⚠ ')
    await page.getByRole('button', { name: 'I take care of it' }).click()
    await page.waitForFunction(() => !document.title.startsWith('⚠'))
  },
  2 * READ_MS,
)

/** The console with two operators, a proxy, key presses and a wrong clock: none of them may do harm. */
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { messagesEndpoint } from '#shared/contracts/messages.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import {
  callAs,
  checkIn,
  newAppId,
  readActivity,
  readAs,
  setStatus,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { BROWSER_TIMEOUT_MS, photograph, seriousFaults } from './browser.ts'
import { consoleBrowser, type Page } from './console-harness.ts'

const HOUR_MS = 3_600_000
const TEST_MS = 90_000

const browser = consoleBrowser()
let stack: TestStack
beforeAll(async () => {
  // These operators act faster than people, who have 30 calls a minute.
  stack = await openEmbeddedTestStack({ EVENT_LIMIT_ADMIN: '300' })
}, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)
afterAll(() => stack?.close())

const isDryRun = (route: Route): boolean =>
  (route.request().postDataJSON() as { dry_run?: boolean } | null)?.dry_run === true

/** Answers a dry run with one recipient: LINE is not configured here. */
async function countOne(route: Route): Promise<void> {
  const counted = (await (await route.fetch()).json()) as { data: object }
  await route.fulfill({ json: { ...counted, data: { ...counted.data, recipients: 1, cost: 1 } } })
}

test(
  'saving the text of a pause that another operator has ended pauses nobody',
  async () => {
    await setStatus(stack, { status: 'paused', message: 'Wait at the temple.' })
    await using opened = await browser.console(stack, { view: 'lifecycle', expected: /409/ })
    const { page } = opened
    await page.getByRole('button', { name: 'Change message' }).click()
    await page.locator('textarea[name="message"]').fill('Wait at the school.')
    // The other operator's change is in flight when the button is clicked.
    await page.route('**/api/event/admin/status', async (route) => {
      if (route.request().method() === 'PUT') await setStatus(stack, { status: 'active' })
      await route.continue()
    })
    await page.locator('.pause').getByRole('button', { name: 'Save' }).click()
    await page.getByText('has set the event to active meanwhile').waitFor()
    expect((await readActivity(stack)).status).toBe('active')
  },
  TEST_MS,
)

test(
  'text typed during a save is lost, a busy dialog closes, or a reminder that somebody removed takes the text with it',
  async () => {
    await using opened = await browser.console(stack, { view: 'messages' })
    const { page } = opened
    /** Holds back the answer to a write until it is called. */
    const held = async (url: string) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      await page.route(url, async (route) => {
        if (isDryRun(route)) return countOne(route)
        if (route.request().method() !== 'GET') await promise
        return route.continue()
      })
      return resolve
    }
    const form = page.locator('.slot-form')
    const text = form.locator('textarea[name="zh"]')
    const row = (of: string) => page.locator('.schedule .rows > li', { hasText: of })
    const saved = page.locator('.toast', { hasText: 'Saved.' })
    await page.locator('.schedule').getByRole('button', { name: 'Add', exact: true }).click()
    await text.fill('集合一')
    const store = await held('**/admin/notifications')
    await form.getByRole('button', { name: 'Save' }).click()
    await text.fill('集合二')
    await photograph(page, 'console-reminder-saving')
    store()
    await saved.waitFor()
    await row('集合一').waitFor()
    expect(await text.inputValue()).toBe('集合二')
    await form.getByRole('button', { name: 'Save' }).click()
    await row('集合二').waitFor()
    expect(await row('集合一').count()).toBe(0)

    await row('集合二').getByRole('button', { name: 'Edit' }).click()
    await text.fill('集合三')
    const plan = (await (await readAs(stack, 'owner', 'admin/notifications')).json()) as {
      data: { slots: { text: Record<string, string> }[]; changed_at: string }
    }
    const slots = plan.data.slots.filter((slot) => slot.text['zh-Hant'] !== '集合二')
    await callAs(stack, 'owner', 'PUT', 'admin/notifications', { slots, seen: plan.data.changed_at })
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody has removed this reminder meanwhile.').waitFor()
    expect(await text.inputValue()).toBe('集合三')
    await photograph(page, 'console-reminder-removed')
    await form.getByRole('button', { name: 'Save' }).click()
    await row('集合三').waitFor()

    await checkIn(stack, newAppId())
    await page.locator('.compose textarea').fill('Water at the next temple')
    await page.locator('.compose select').selectOption('all')
    const send = await held('**/api/event/push')
    await page.getByRole('button', { name: 'Send…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Send now' }).click()
    for (let i = 0; i < 2; i++) await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await dialog.isVisible()).toBe(true)
    await photograph(page, 'console-dialog-busy')
    send()
    await dialog.waitFor({ state: 'hidden' })
    await page.locator('.toast', { hasText: 'On its way' }).waitFor()
    expect(await page.locator('.compose textarea').inputValue()).toBe('')
  },
  TEST_MS,
)

test(
  'a message whose answer a proxy has lost is perhaps done, and pressed again it is sent once',
  async () => {
    await using opened = await browser.console(stack, { view: 'messages', expected: /504/ })
    const { page } = opened
    const sent = async (): Promise<number> =>
      (await dataOf(await readAs(stack, 'owner', 'push?cause=push'), messagesEndpoint)).items.length
    const before = await sent()
    await checkIn(stack, newAppId())
    await page.locator('.compose textarea').fill('Water at the next temple')
    await page.locator('.compose select').selectOption('all')
    await page.getByRole('button', { name: 'Send…' }).click()
    const send = page.getByRole('dialog').getByRole('button', { name: 'Send now' })
    let lost = 0
    await page.route('**/api/event/push', async (route) => {
      if (isDryRun(route)) return countOne(route)
      if (lost++ > 0) return route.continue()
      await route.fetch()
      return route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>Gateway Timeout</h1>' })
    })
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Send…' }).click()
    await send.click()
    await page.getByRole('dialog').getByText('Perhaps done').waitFor()
    await send.click()
    await page.locator('.toast', { hasText: 'On its way' }).waitFor()
    expect(await sent()).toBe(before + 1)
  },
  TEST_MS,
)

test(
  'a key on a list changes nobody before it is saved, and what was saved is taken back',
  async () => {
    const pilgrim = newAppId()
    await post(stack, 'user/sync', { user_id: pilgrim, display_name: 'Lin Mei' })
    await checkIn(stack, pilgrim)
    await using opened = await browser.console(stack, { view: 'people' })
    const { page } = opened
    const writes: string[] = []
    page.on('request', (request) => {
      if (/admin\/(?:roles|users\/.*\/status)$/.test(request.url()) && request.method() !== 'GET')
        writes.push(request.method())
    })
    await page.getByRole('button', { name: 'Lin Mei' }).click()
    await page.locator('.person').getByRole('button', { name: 'About' }).click()
    const actions = page.locator('.person-actions')
    await actions.getByLabel('Status').focus()
    await page.keyboard.press('ArrowDown')
    await actions.getByLabel('Role').focus()
    await page.keyboard.press('ArrowDown')
    expect(writes).toEqual([])
    await photograph(page, 'console-person-unsaved')
    await actions.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Status: Completed').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Status: Active').waitFor()
    expect(writes).toEqual(['PUT', 'PUT'])
  },
  TEST_MS,
)

test.each([
  ['4 hr', 'slow', -4 * HOUR_MS],
  ['3 hr', 'fast', 3 * HOUR_MS],
] as const)(
  'a clock that is %s %s is told, and makes nobody silent or fresh',
  async (by, way, offMs) => {
    const pilgrim = newAppId()
    await checkIn(stack, pilgrim)
    await using opened = await browser.console(stack, {
      view: 'now',
      async before(page) {
        await page.addInitScript((ms) => {
          const right = Date.now
          Date.now = () => right() + ms
        }, offMs)
      },
    })
    const { page } = opened
    await page.getByText(`The clock of this device is ${by} ${way}`).waitFor()
    // The same as with a correct clock.
    await using right = await browser.console(stack, { view: 'now' })
    const oldIn = (of: Page) =>
      of.locator('.stale').evaluateAll((parts) => parts.map((part) => part.className))
    await until(
      async () => isDeepStrictEqual(await oldIn(page), await oldIn(right.page)),
      'the same parts to be old',
    )
    const shown = await page.locator('.top-bar .clock').textContent()
    const inTaipei = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Asia/Taipei',
      hour: '2-digit',
      hourCycle: 'h23',
    })
    const hours = [Date.now() - 60_000, Date.now()].map((ms) => inTaipei.format(ms))
    expect(hours).toContain(shown!.slice(0, 2))
    await photograph(page, `console-clock-${way}`)
  },
  TEST_MS,
)

test(
  'a report is taken off the public board for a reason, and put back',
  async () => {
    const words = 'Call Anna: 0912 345 678'
    await post(stack, 'feedback', { category: 'app', description: words })
    const board = async () => (await stack.fetch('/api/event/feedback')).text()
    expect(await board()).toContain(words)
    await using opened = await browser.console(stack, { view: 'feedback', role: 'manager' })
    const { page } = opened
    await page.locator('.feedback-card', { hasText: words }).click()
    await page.getByText('looks like a telephone number').waitFor()
    await page.getByRole('button', { name: 'Take off the public board…' }).click()
    const dialog = page.getByRole('dialog')
    const take = dialog.getByRole('button', { name: 'Take off the public board' })
    expect(await take.isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('A telephone number')
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'console-take-off-board')
    await take.click()
    await page
      .locator('.one-item', { hasText: 'Off the public board' })
      .getByText('A telephone number')
      .waitFor()
    expect(await board()).not.toContain(words)
    await photograph(page, 'console-off-board')
    await page.getByRole('button', { name: 'Put back on the public board' }).click()
    await dialog.getByRole('button', { name: 'Put back on the public board' }).click()
    await page.locator('.toast', { hasText: 'On the board again' }).waitFor()
    expect(await board()).toContain(words)
  },
  TEST_MS,
)

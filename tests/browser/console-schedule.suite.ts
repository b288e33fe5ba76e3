/** Reminders: one for a single day, its next sending and recipients; edited, removed, and restored. */
import { expect, test } from 'bun:test'
import { type OpenPage, photograph, seriousFaults } from './browser.ts'
import type { ConsoleOptions } from './console-harness.ts'

const DAY_MS = 86_400_000
/** Time zone of the tests' event. */
const dayOf = (ms: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Taipei' }).format(new Date(ms))

export function scheduleTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('a reminder for one day is counted, saved, changed, removed and taken back', async () => {
    await using opened = await open({ view: 'messages' })
    const { page } = opened
    const schedule = page.locator('.schedule')
    const rows = schedule.locator('.rows > li')
    await rows
      .first()
      .getByText(/^(?:Next: (?:today|tomorrow), |This hour, since )/)
      .waitFor()
    const before = await rows.count()
    const removed = await rows.allInnerTexts()

    await schedule.getByRole('button', { name: 'Add', exact: true }).click()
    const form = schedule.locator('.slot-form')
    await form.getByText('Text · 繁體中文 (required)').waitFor()
    await form.getByText('Text · English (optional)').waitFor()
    await form.locator('textarea[name="zh"]:focus').fill('明早六點集合')
    await form.getByText(/^Recipients: \d+ · LINE messages: \d+ · LINE is not configured\./).waitFor()
    const tomorrow = dayOf(Date.now() + DAY_MS)
    expect(await form.getByLabel('Day 1', { exact: true }).inputValue()).toBe(tomorrow)
    await form.getByLabel('Day 1', { exact: true }).fill(dayOf(Date.now() - DAY_MS))
    await form.getByText('Never: all its times are over.').waitFor()
    await form.getByLabel('Day 1', { exact: true }).fill(tomorrow)
    await form.getByText(/^Next: tomorrow, .+, 06:00$/).waitFor()
    await form.getByRole('button', { name: 'Another day' }).click()
    await form.getByRole('button', { name: 'Remove 2' }).click()
    await photograph(page, 'console-reminder')
    expect(await seriousFaults(page)).toEqual([])
    await form.getByRole('button', { name: 'Save' }).click()
    await page.locator('.toast', { hasText: 'Saved.' }).waitFor()

    const row = rows.filter({ hasText: '明早六點集合' })
    await row.getByText(/^Next: tomorrow, .+, 06:00$/).waitFor()
    await row.getByRole('button', { name: 'Edit' }).click()
    await form.locator('select[name="hour"]').selectOption('7')
    await form.getByRole('button', { name: 'Save' }).click()
    await row.getByText(/^Next: tomorrow, .+, 07:00$/).waitFor()
    expect(await rows.count()).toBe(before + 1)

    const remove = async () => {
      await row.getByRole('button', { name: 'Edit' }).click()
      await form.getByRole('button', { name: 'Remove', exact: true }).click()
      await form.waitFor({ state: 'detached' })
      await row.waitFor({ state: 'detached' })
    }
    await remove()
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await row.getByText(/^Next: tomorrow, .+, 07:00$/).waitFor()
    await remove()
    expect(await rows.allInnerTexts()).toEqual(removed)

    // The log describes each of the five changes.
    await page.locator('.navigation a', { hasText: 'System' }).click()
    const log = page.locator('.audit')
    await log.getByText('changed 07:00: 06:00 → 07:00').waitFor()
    await log.getByText('removed 07:00').first().waitFor()
    await log.getByText(`added 06:00: 繁體中文: “明早六點集合”`).waitFor()
  })

  test('of a reminder whose hour has begun it is said whether it was sent', async () => {
    const hour = Number(
      new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Taipei', hour: '2-digit' }).format(Date.now()),
    )
    const slot = (id: string, audience: string) => ({
      id,
      audience,
      hour,
      enabled: true,
      dates: null,
      text: { 'zh-Hant': id },
    })
    const tomorrow = { ...slot('明天', 'participants'), dates: [dayOf(Date.now() + DAY_MS)] }
    const slots = [slot('早安', 'participants'), slot('志工', 'volunteers'), tomorrow]
    const sent = { cause: 'notification', state: 'sent', audience: { audience: 'participants' } }
    await using opened = await open({
      view: 'now',
      async before(page) {
        await page.route('**/admin/notifications', (route) =>
          route.fulfill({ json: { ok: true, data: { slots } } }),
        )
        await page.route('**/api/event/push?cause=notification*', (route) =>
          route.fulfill({
            json: {
              ok: true,
              data: { items: [{ ...sent, created_at: new Date().toISOString() }], next_cursor: null },
            },
          }),
        )
      },
    })
    const { page } = opened
    await page.locator('.navigation a[href="#/messages"]').click()
    for (const [id, state] of [
      ['早安', 'sent'],
      ['志工', 'waiting'],
    ] as const)
      await page
        .locator('.schedule .rows > li', { hasText: id })
        .getByText(new RegExp(`^This hour, since \\d\\d:\\d\\d \\(${state}\\)$`))
        .waitFor()
  })

  test('the palette leads to what alerts the owner; the panel says that nobody gets alerts', async () => {
    await using opened = await open({ view: 'people' })
    const { page } = opened
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search' })
    await palette.waitFor()
    const height = async () => (await palette.boundingBox())!.height
    const before = await height()
    // The command that Enter runs is marked, and it is never the end of the event.
    await page.keyboard.type('end the event')
    expect(await palette.locator('button.first').innerText()).toContain('Search pilgrims')
    await page.keyboard.press('ControlOrMeta+a')
    for (const [typed, first] of [
      ['health', 'Now › Status'],
      ['dead letters', 'System › Dead letters'],
      ['backup', 'System › Alerts'],
    ] as const) {
      await palette.locator('input').fill(typed)
      await palette.locator('button.first', { hasText: first }).waitFor()
    }
    expect(await height()).toBe(before)
    await photograph(page, 'console-palette')
    await page.keyboard.press('Enter')
    const alerts = page.locator('.alerting:focus')
    await alerts.getByText('Nobody gets alerts').waitFor()
    await alerts.getByText('None sent so far.').waitFor()
    await alerts.getByText('bun run backup').waitFor()
    await photograph(page, 'console-alerting')
    expect(await seriousFaults(page)).toEqual([])
    await page.keyboard.press('Control+k')
    await page.keyboard.type('x')
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
  })

  test('reminder and alerts on a phone', async () => {
    const viewport = { width: 390, height: 844 }
    await using opened = await open({ view: 'messages', viewport, language: 'zh-Hant', colorScheme: 'dark' })
    const { page } = opened
    const usage = {
      quota: {
        type: 'none',
        value: null,
      },
      consumption: { total_usage: 3 },
      remaining: null,
      usage_percent: null,
      followers: 9,
      configured: true,
    }
    await page.route('**/line-usage', (route) => route.fulfill({ json: { ok: true, data: usage } }))
    await page.getByRole('button', { name: '新增', exact: true }).click()
    await page
      .locator('.slot-form')
      .getByText(/^收件人：\d+ · LINE 訊息：\d+/)
      .waitFor()
    expect(
      await page
        .locator('.slot-form textarea[name="zh"]')
        .evaluate((field) => field.getBoundingClientRect().bottom <= innerHeight),
    ).toBe(true)
    await photograph(page, 'console-reminder-phone')
    await page.locator('.navigation a[href="#/system"]').click()
    await page.getByText('尚未發送過。').waitFor()
    await photograph(page, 'console-alerting-phone')
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false)
  })
}

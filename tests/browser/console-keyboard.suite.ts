/** The console with the keyboard only: views, triage, and the focus afterwards. */
import { expect, test } from 'bun:test'
import type { OpenPage } from './browser.ts'
import type { ConsoleOptions } from './console-harness.ts'

export function keyboardTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('the keyboard alone: the palette, a view, triage', async () => {
    await using opened = await open({ role: 'manager' })
    const { page } = opened
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search' }).waitFor()
    await page.keyboard.type('feedb')
    await page.keyboard.press('Enter')
    await page.locator('.feedback-card').first().waitFor()
    await page.locator('#view:focus').waitFor()
    const listed = await page.locator('.column.new .feedback-card').allInnerTexts()
    const [first, second, third] = listed.map((text) => text.split(' ')[0]!)
    const isChosen = async (id: string) => {
      await page.locator('.one-item h2', { hasText: `${id} ·` }).waitFor()
      await page.locator('.feedback-card[aria-pressed="true"]:focus', { hasText: `${id} ` }).waitFor()
    }
    await page.keyboard.press('j')
    await isChosen(first!)
    await page.keyboard.press('3')
    // As in a mail program: the next item of the list, not the one that was moved.
    await isChosen(second!)
    await page.locator('.toast', { hasText: `${first}: In progress` }).waitFor()
    await page.locator('.column.fixing .feedback-card', { hasText: `${first} ` }).waitFor()
    await page.keyboard.press('ArrowDown')
    await isChosen(third!)
    await page.keyboard.press('z')
    await page.locator('.toast', { hasText: `${first}: New` }).waitFor()
    await isChosen(first!)
    // A toast covers nothing, and restores the focus when it is closed.
    const [notice, view] = await Promise.all(
      ['.toasts', '#view'].map((part) => page.locator(part).boundingBox()),
    )
    expect(notice!.y).toBeGreaterThanOrEqual(view!.y + view!.height)
    await page.locator('.toast .icon').focus()
    await page.keyboard.press('Escape')
    await page.locator('.toast').waitFor({ state: 'detached' })
    await isChosen(first!)
  })

  test('on a phone the focus goes to the pilgrim who is opened', async () => {
    await using opened = await open({ view: 'people', viewport: { width: 390, height: 844 } })
    await opened.page.locator('.name-button').first().focus()
    await opened.page.keyboard.press('Enter')
    await opened.page.locator('.person:focus').waitFor()
  })

  test('the focus stays near what has gone', async () => {
    await using opened = await open({ view: 'messages', expected: /503/ })
    const { page } = opened
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search' }).waitFor()
    await page.keyboard.type('schedule')
    await page.keyboard.press('Enter')
    await page.locator('.schedule:focus').waitFor()
    await page.getByRole('button', { name: 'Add', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.slot-form textarea[name="zh"]:focus').waitFor()
    await page.getByRole('button', { name: 'Close' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('.schedule:focus').waitFor()
    // A rejection removes nothing, and says what to do.
    const rows = page.locator('.schedule .rows > li')
    const body = JSON.stringify({ error: 'The store is away.', code: 'unavailable' })
    await page.route('**/admin/notifications', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 503, contentType: 'application/json', body })
        : route.continue(),
    )
    await rows.nth(1).getByRole('button', { name: 'Edit' }).focus()
    await page.keyboard.press('Enter')
    const remove = rows.nth(1).getByRole('button', { name: 'Remove', exact: true })
    await remove.focus()
    await page.keyboard.press('Enter')
    await page
      .locator('.toast.warning', { hasText: 'Perhaps done: The store is away. Look before you try again.' })
      .waitFor()
    await remove.and(page.locator(':focus')).waitFor()
    await page.unroute('**/admin/notifications')
    // A removed row passes the focus to the next row, not to its button.
    await page.keyboard.press('Enter')
    await page.locator('.schedule .rows > li:nth-child(2):focus').waitFor()
    expect(await rows.count()).toBe(2)
  })
}

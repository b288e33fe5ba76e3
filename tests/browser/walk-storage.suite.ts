/** The browser's database fails: it is closed, cleared, rejects, or does not respond. No check-in is lost. */
import { expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { until } from '#tests/helpers/wait.ts'
import { breakable, closeConnections, setFault } from './phone-storage.ts'
import { checkInButton, firstMinute, userIdOf, waitingOf, type WalkApp } from './walk-harness.ts'

const TEST_MS = 60_000

const setAsideOn = (page: Page): Promise<number> =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('aside')).length)

export function storageTests(app: WalkApp): void {
  const hasCounted = (userId: string, number: number): Promise<unknown> =>
    until(
      async () => (await profileOf(app.stack, userId)).checkins === number,
      `${number} check-ins at the service`,
      { timeoutMs: 30_000 },
    )

  async function checkInTwice(lose: (page: Page, context: BrowserContext) => Promise<unknown>) {
    await using phone = await app.newPhone({}, async (context) => void (await breakable(context)))
    const { page, context } = phone
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Grandmother Wang')
    const userId = await userIdOf(page)
    await checkInButton(page).click()
    await hasCounted(userId, 1)
    await lose(page, context)
    await checkInButton(page).click()
    await hasCounted(userId, 2)
    await page.getByText('2 check-ins').waitFor()
    await page.locator('[data-state=counted]').waitFor()
    expect(await setAsideOn(page)).toBe(0)
  }

  test('the browser clears the database, or closes it, with or without saying so: the next check-in is sent', async () => {
    await checkInTwice(async (page, context) => {
      const { origin } = new URL(app.address())
      const session = await context.newCDPSession(page)
      await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' })
    })
    for (const isTold of [true, false]) await checkInTwice((page) => closeConnections(page, isTold))
  })

  test(
    'a database that refuses for a while, or does not answer: what is kept meanwhile is counted, and sent by itself',
    async () => {
      for (const fault of ['refused', 'silent'] as const) {
        await using phone = await app.newPhone({}, async (context) => void (await breakable(context)))
        const { page } = phone
        await page.goto(app.address('?lang=en'))
        await firstMinute(page, 'Grandfather Lin')
        const userId = await userIdOf(page)
        await checkInButton(page).click()
        await hasCounted(userId, 1)
        await page.locator('[data-state=counted]').waitFor()
        await setFault(page, fault)
        await closeConnections(page, true)
        await checkInButton(page).click()
        await page.locator('[data-state=kept]').waitFor()
        expect(await setAsideOn(page)).toBe(1)
        expect(await waitingOf(page)).toBe(1)
        await page.getByText('2 check-ins').waitFor()
        await setFault(page, null)
        await hasCounted(userId, 2)
        await page.locator('[data-state=counted]').waitFor()
        expect(await waitingOf(page)).toBe(0)
      }
    },
    2 * TEST_MS,
  )

  test('a database that cannot be opened at the start is opened later, and says so until then', async () => {
    await using phone = await app.newPhone({}, async (context) => void (await breakable(context, 'refused')))
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    // The pilgrim is unknown, so the app must not ask for a name.
    await page.getByText('This browser saves nothing.').waitFor()
    expect(await page.getByLabel('Your name').count()).toBe(0)
    await setFault(page, null)
    await firstMinute(page, 'Old Chen')
    await checkInButton(page).click()
    await hasCounted(await userIdOf(page), 1)
  })
}

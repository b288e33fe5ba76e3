/** Data left in a tab after an operator signs out: nothing that the next one could see or request. */
import { expect, test } from 'bun:test'
import type { OpenPage } from './browser.ts'
import { pilgrimId } from './console-data.ts'
import { type ConsoleOptions, signIn, tokenOf } from './console-harness.ts'
import { openView } from './console-tour.ts'

/** @param open opens the console of an event filled by `fillEvent` */
export function signOutTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('who signs out leaves nothing to the next operator: no name, no figure, no draft, no token', async () => {
    await using opened = await open({ view: 'messages', expected: /401/ })
    const { page } = opened
    const [token, name, text] = [tokenOf('owner'), 'Pilgrim 9', 'A draft for the volunteers']
    await page.locator('.compose textarea').fill(text)
    await openView(page, 'people')
    await page.locator('.people-search').fill(pilgrimId(9))
    await page.locator('.people-list').getByText('1–1 of 1').waitFor()
    await page.locator('.name-button').click()
    await page.locator('.person h2', { hasText: name }).waitFor()
    await page.reload()
    // A reload shows the same pilgrim; the history of the browser does not name them.
    await page.locator('.person h2', { hasText: name }).waitFor()
    expect(await page.evaluate(() => JSON.stringify(history.state))).not.toContain(pilgrimId(9))
    await openView(page, 'messages')
    await page.locator('.compose textarea').fill(text)
    await page.locator('.who').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()

    const left = () =>
      page.evaluate(async () => {
        const paths = ['users?sort=last_seen&order=desc&limit=50', 'timeline', 'condition', 'status']
        const fetched = await Promise.all(
          paths.map(async (path) => {
            const answer = await fetch(`/api/event/admin/${path}`, { cache: 'force-cache' })
            return answer.ok ? answer.text() : ''
          }),
        )
        const { documentElement: root } = document
        const kept = JSON.stringify([sessionStorage, localStorage, history.state])
        return { page: root.outerHTML, title: document.title, kept, fetched }
      })
    const expectNothing = async () => {
      const found = await left()
      expect(found.fetched.join('')).toBe('')
      for (const secret of [token, name, pilgrimId(9), text])
        expect(JSON.stringify(found)).not.toContain(secret)
    }
    await expectNothing()
    await page.goBack()
    await page.locator('#token').waitFor()
    await expectNothing()
    // The next operator navigates back to where the first one viewed a pilgrim.
    await signIn(page, tokenOf('manager'))
    await page.locator('.people-list tbody tr').nth(1).waitFor()
    expect(await page.locator('.person').count()).toBe(0)
    expect(await page.locator('.people-search').inputValue()).toBe('')
    await openView(page, 'messages')
    expect(await page.locator('.compose textarea').inputValue()).toBe('')
  })
}

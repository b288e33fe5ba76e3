/** The console on the real stack: signing in at each tier, what happens live, pausing, losing the connection. */
import { expect, test } from 'bun:test'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { checkIn, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { photograph, seriousFaults } from './browser.ts'
import { consoleBrowser, signIn, tokenOf } from './console-harness.ts'

const browser = consoleBrowser()

describeBothStacks('the console', (stack) => {
  test('each tier sees what it may do, and nothing else', async () => {
    const views = {
      volunteer: ['Now', 'Reports', 'Feedback'],
      manager: ['Now', 'People', 'Reports', 'Feedback', 'Messages', 'Lifecycle', 'House'],
      owner: ['Now', 'People', 'Reports', 'Feedback', 'Messages', 'Lifecycle', 'House'],
    }
    for (const role of ['volunteer', 'manager', 'owner'] as const) {
      await using opened = await browser.console(stack, { role })
      const names = await opened.page.locator('.navigation a').allInnerTexts()
      expect(names.map((name) => name.trim())).toEqual(views[role])
    }
  })

  test('a wrong token is refused in words; the right one stays in the tab, and in no address', async () => {
    await using opened = await browser.open(stack, { path: '/admin/?lang=en', expected: /401/ })
    const { page } = opened
    await page.locator('#token').fill('wrong-wrong-wrong-wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The X-Admin-Token is not valid').waitFor()
    const token = tokenOf('manager')
    await signIn(page, token)
    expect(page.url()).not.toContain('token-of')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('token-of')
    await page.reload()
    await page.locator('.console').waitFor()
  })

  test('a check-in appears without reloading', async () => {
    await using opened = await browser.console(stack)
    const { page } = opened
    await page.locator('.connection.live').waitFor()
    const figure = page.locator('.rate.checkins strong')
    await figure.waitFor({ timeout: 20_000 })
    for (let i = 0; i < 3; i++) await checkIn(stack, newPilgrimId())
    await page.waitForFunction(
      () => {
        const shown = document.querySelector('.tiles .figure')?.textContent ?? ''
        return Number(shown) > 0
      },
      undefined,
      { timeout: 20_000 },
    )
    await photograph(page, `console-now-${stack.kind}`)
    expect(await seriousFaults(page)).toEqual([])
  }, 60_000)

  test('pause: a phone is refused with the message; resume; another operator sees both', async () => {
    await using opened = await browser.console(stack, { view: 'lifecycle', role: 'manager' })
    await using other = await browser.console(stack, { role: 'owner' })
    const { page } = opened
    await page.locator('textarea').fill('Storm <b>now</b>: stay where you are')
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('The service answers: Paused').waitFor()
    await other.page.getByText('Storm <b>now</b>: stay where you are').waitFor()
    const refused = await checkIn(stack, newPilgrimId())
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ error: 'Storm <b>now</b>: stay where you are' })
    await photograph(page, `console-paused-${stack.kind}`)
    await page.getByRole('button', { name: 'Resume', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).click()
    await other.page.locator('.badge.status', { hasText: 'Active' }).waitFor()
    expect((await checkIn(stack, newPilgrimId())).status).toBe(202)
  }, 60_000)
})

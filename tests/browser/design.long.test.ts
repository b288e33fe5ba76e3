/** The design page: every component in every state, in all themes and languages. */
import { expect, test } from 'bun:test'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { photograph, seriousFaults, testBrowser } from './browser.ts'

const browser = testBrowser()
const THEMES = ['light', 'dark', 'sun'] as const

describeBothStacks('the design page', (stack) => {
  test('has no serious fault of accessibility in any theme, and is photographed', async () => {
    for (const width of [390, 1_440]) {
      await using opened = await browser.open(stack, {
        path: '/design/?lang=zh-Hant',
        viewport: { width, height: 900 },
      })
      const { page } = opened
      await page.waitForSelector('h2')
      for (const theme of THEMES) {
        await page.locator('select').nth(1).selectOption(theme)
        expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
        expect(await seriousFaults(page)).toEqual([])
        await photograph(page, `design-${theme}-${width}`, true)
      }
    }
  })

  test('its dialog opens and closes by the keyboard and gives the focus back', async () => {
    await using opened = await browser.open(stack, { path: '/design/?lang=en' })
    const { page } = opened
    await page.getByRole('button', { name: 'Open a dialog' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'End the event?' }).waitFor()
    await photograph(page, 'design-dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Open a dialog')
    await page.getByRole('button', { name: 'Show a toast' }).click()
    await page.getByRole('status').getByText('大甲').waitFor()
  })

  test('is in the language that is asked for, chosen, or the browser’s', async () => {
    await using opened = await browser.open(stack, { path: '/design/', locale: 'ja-JP' })
    const { page } = opened
    await page.getByRole('option', { name: '日なた' }).waitFor({ state: 'attached' })
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('ja')
    await page.locator('select').first().selectOption('简体')
    await page.getByRole('option', { name: '大太阳' }).waitFor({ state: 'attached' })
    await page.reload()
    await page.getByRole('option', { name: '大太阳' }).waitFor({ state: 'attached' })
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans')
    await page.goto(`${new URL(page.url()).origin}/design/?lang=en`)
    await page.getByRole('option', { name: 'Sun', exact: true }).waitFor({ state: 'attached' })
  })
})

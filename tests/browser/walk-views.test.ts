/** All views of the pilgrims' app: nothing serious for axe-core, in four languages and three themes, and small. */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Language } from '#shared/contracts/bot.ts'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { bundleWorker } from '#proxy/pages/build/bundle.ts'
import { PAGES } from '#proxy/pages/pages.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { walk as northward } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { syncTrack } from '#tests/helpers/test-stack.ts'
import { photograph, seriousFaults } from './browser.ts'
import { checkInButton, walkApp } from './walk-harness.ts'

const TEST_MS = 60_000
const VIEWS = [
  'walk',
  'way',
  'say',
  'me',
  'survey',
  'feedback',
  'code',
  'restore',
  'trackers',
  'data',
  'pauses',
]
const FIRST_LOAD_BYTES = 90_000
const WORKER_BYTES = 1_500

/** Texts below 18 px, and buttons, links and fields below 48 px, that are in sight. */
const smallParts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const shown = [...document.querySelectorAll<HTMLElement>('#page *')].filter((one) =>
      one.checkVisibility(),
    )
    const name = (one: HTMLElement) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 30)}`
    const texts = shown.filter(
      (one) =>
        [...one.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim()) &&
        Number.parseFloat(getComputedStyle(one).fontSize) < 18,
    )
    const targets = shown.filter(
      (one) =>
        one.matches('button, a, select, textarea, input:not([type=checkbox], [type=radio], [type=file])') &&
        (one.offsetHeight < 48 || one.offsetWidth < 48),
    )
    return [...texts.map((one) => `text: ${name(one)}`), ...targets.map((one) => `target: ${name(one)}`)]
  })

describeOnServers('the views of the app', () => {
  const app = walkApp()

  test(
    'the first load is small, and so is the service worker',
    async () => {
      await using phone = await app.newPhone()
      const { page } = phone
      const loaded: Promise<number>[] = []
      page.on('requestfinished', (request) => {
        if (request.serviceWorker() === null)
          loaded.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
      })
      await page.goto(app.address('?lang=zh-Hant'))
      await page.getByRole('button', { name: '我同意' }).waitFor()
      const bytes = (await Promise.all(loaded)).reduce((sum, one) => sum + one, 0)
      expect(bytes).toBeGreaterThan(20_000)
      expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
      const walkPage = PAGES.find(({ folder }) => folder === 'walk')!
      expect((await bundleWorker(walkPage, [])).length).toBeLessThan(WORKER_BYTES)
    },
    TEST_MS,
  )

  test.each(Language.options)(
    'in %s',
    async (language) => {
      await using phone = await app.newPilgrim('王阿嬤')
      const { page, userId } = phone
      await dataOf(await syncTrack(app.stack, userId, northward(40, Date.now())), trackSyncEndpoint)
      await checkInButton(page).click()
      await page.locator('[data-state=counted]').waitFor()
      await page.evaluate((name) => localStorage.setItem('event-language', name), language)
      for (const theme of language === 'zh-Hant' ? ['sun', 'dark', 'light'] : ['light']) {
        await page.evaluate((name) => localStorage.setItem('event-theme', name), theme)
        await page.goto(app.address())
        await page.reload()
        for (const view of VIEWS) {
          await page.evaluate((name) => (location.hash = name), view)
          await page.locator('h1').waitFor()
          await page.waitForLoadState('networkidle')
          if (view === 'code') await page.locator('.code-words').waitFor()
          if (view === 'way') await page.locator('.way-map').waitFor()
          expect(await seriousFaults(page)).toEqual([])
          expect(await smallParts(page)).toEqual([])
          // Nothing is wider than the phone.
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
          await photograph(page, `walk-${view}-${language}-${theme}`, true)
        }
      }
    },
    TEST_MS,
  )

  test(
    'works by the keyboard alone, and without motion',
    async () => {
      await using phone = await app.newPhone({ reducedMotion: 'reduce' })
      const { page } = phone
      await page.goto(app.address('?lang=en'))
      await page.getByLabel('Your name').focus()
      await page.keyboard.type('Keys')
      await page.keyboard.press('Enter')
      await checkInButton(page).waitFor()
      await checkInButton(page).focus()
      await page.keyboard.press('Enter')
      await page.locator('[data-state=counted]').waitFor()
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
      await page.getByRole('link', { name: 'Me', exact: true }).focus()
      await page.keyboard.press('Enter')
      // The heading of the view has the focus, so that a screen reader reads it.
      await page.waitForFunction(() => document.activeElement?.tagName === 'H1')
    },
    TEST_MS,
  )
})

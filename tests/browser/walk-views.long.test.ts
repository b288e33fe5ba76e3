/**
 * All views of the pilgrims' app: no serious violation for axe-core, in four languages and three themes, at a
 * small size.
 */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { bundleWorker } from '#proxy/pages/build/bundle.ts'
import { PAGES } from '#proxy/pages/pages.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { walk as northward } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { syncTrack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { checkInButton, walkApp, worksOffline, keptOn } from './walk-harness.ts'

const VIEWS = [
  'walk',
  'way',
  'map',
  'say',
  'me',
  'survey',
  'feedback',
  'code',
  'restore',
  'trackers',
  'file',
  'data',
  'display',
  'share',
  'pauses',
]
const DAY_MS = 86_400_000
const FIRST_LOAD_BYTES = 90_000
const WORKER_BYTES = 1_500

/** Visible texts below 18 px, and buttons, links and fields below 48 px. */
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

/** The smallest gap between the labels of the tabs, in pixels. */
const tabGap = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const labels = [...document.querySelectorAll('.tabs > a')].map((tab) => {
      const range = document.createRange()
      range.selectNodeContents([...tab.childNodes].find(({ nodeType }) => nodeType === 3)!)
      return range.getBoundingClientRect()
    })
    return Math.min(...labels.slice(1).map(({ left }, i) => left - labels[i]!.right))
  })

const width = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)

/** Buttons, links and headings whose text overflows and would be cut off or cover something. */
const cutTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        'button, .button, .tabs a, h1:not(.visually-hidden), h2, .segments',
      ),
    ]
      .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
      .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 30)}`),
  )

/** What is drawn of the way; another place, zoom or day gives another text. */
const drawnWay = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { width, height } = document.querySelector<HTMLCanvasElement>('canvas.crowd')!
    const context = document.querySelector<HTMLCanvasElement>('canvas.crowd')!.getContext('2d')!
    const { data } = context.getImageData(0, 0, width, height)
    let [pixels, sum] = [0, 0]
    for (let i = 3; i < data.length; i += 4)
      if (data[i]! > 0) {
        pixels++
        sum = (sum * 31 + i) % 1_000_000_007
      }
    return pixels === 0 ? '' : `${pixels} ${sum}`
  })

describeOnServers('the views of the app', () => {
  const app = walkApp()

  test('the first load is small, and so is the service worker', async () => {
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
    // On a small phone the button is visible too.
    await page.setViewportSize({ width: 360, height: 640 })
    await photograph(page, 'walk-welcome-small')
    const agree = await page.getByRole('button', { name: '我同意' }).boundingBox()
    expect(agree!.y + agree!.height).toBeLessThan(640)
    // Readers who cannot read this enlarge it here.
    await page.getByRole('button', { name: '最大' }).click()
    expect(await page.locator('html').getAttribute('data-letters')).toBe('largest')
    const walkPage = PAGES.find(({ folder }) => folder === 'walk')!
    expect((await bundleWorker(walkPage, '', [])).length).toBeLessThan(WORKER_BYTES)
  })

  test.each(BuiltInLanguage.options)('in %s', async (language) => {
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
        if (view === 'way' || view === 'map') await page.locator('canvas.crowd[width]').waitFor()
        expect(await seriousFaults(page)).toEqual([])
        expect(await smallParts(page)).toEqual([])
        // Nothing is wider than the phone.
        expect(await width(page)).toBe(390)
        await photograph(page, `walk-${view}-${language}-${theme}`, true)
        if (theme !== 'light') continue
        // Also with the largest letters.
        await page.evaluate(() => (document.documentElement.dataset.letters = 'largest'))
        expect(`${view} ${await width(page)}`).toBe(`${view} 390`)
        expect(await cutTexts(page)).toEqual([])
        if (view === 'way') {
          await page.setViewportSize({ width: 360, height: 640 })
          expect(await tabGap(page)).toBeGreaterThanOrEqual(8)
          await page.setViewportSize({ width: 390, height: 844 })
        }
        expect(await smallParts(page)).toEqual([])
        if (process.env.SCREENSHOTS) await photograph(page, `walk-${view}-${language}-largest`, true)
        await page.evaluate(() => delete document.documentElement.dataset.letters)
      }
    }
  })

  test('my way is on the map day by day, moved by a finger, the wheel and keys, in a dead zone too', async () => {
    await using phone = await app.newPilgrim('Wang', { hasTouch: true })
    const { page, context, userId } = phone
    await worksOffline(page)
    for (const ago of [1, 0])
      await dataOf(
        await syncTrack(app.stack, userId, northward(20 - 8 * ago, Date.now() - ago * DAY_MS)),
        trackSyncEndpoint,
      )
    await page.evaluate(() => (location.hash = 'way'))
    // The phone stores every day, not only the selected one.
    const daysKept = async () => (await keptOn<{ days: object }>(page, 'days'))?.days ?? {}
    await until(async () => Object.keys(await daysKept()).length >= 2, 'both days')
    await context.setOffline(true)
    await page.reload()
    await page.locator('a.way-map canvas.crowd[width]').waitFor()
    await page.locator('a.way-map').click()
    await page.locator('.large-map canvas.crowd[width]').waitFor()
    const changed = async (what: string, act: () => Promise<unknown>): Promise<void> => {
      const before = await drawnWay(page)
      await act()
      await until(async () => ![before, ''].includes(await drawnWay(page)), what)
    }
    await until(async () => (await drawnWay(page)) !== '', 'the way')
    await changed('the day before', () => page.getByRole('button', { name: 'The day before' }).click())
    await changed('a key', () => page.locator('.map-frame').press('ArrowLeft'))
    await changed('the wheel', async () => {
      await page.mouse.move(195, 420)
      await page.mouse.wheel(0, -200)
    })
    await changed('the whole day', () => page.getByRole('button', { name: 'Whole day' }).click())
    const touch = async (type: string, touches: readonly [number, number][]) =>
      cdp.send('Input.dispatchTouchEvent', {
        type: type as 'touchStart',
        touchPoints: touches.map(([x, y], id) => ({ x, y, id })),
      })
    const cdp = await context.newCDPSession(page)
    await changed('a finger', async () => {
      await touch('touchStart', [[195, 420]])
      await touch('touchMove', [[150, 420]])
      await touch('touchMove', [[110, 420]])
      await touch('touchEnd', [])
    })
    await changed('two fingers', async () => {
      await touch('touchStart', [
        [180, 420],
        [210, 420],
      ])
      await touch('touchMove', [
        [150, 420],
        [240, 420],
      ])
      await touch('touchMove', [
        [120, 420],
        [270, 420],
      ])
      await touch('touchEnd', [])
    })
    await page.getByRole('button', { name: 'Back' }).click()
    await page.locator('a.way-map').waitFor()
  })

  test('works by the keyboard alone, and without motion', async () => {
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
    const letterSize = () => page.evaluate(() => getComputedStyle(document.body).fontSize)
    const normal = Number.parseFloat(await letterSize())
    await page.keyboard.press('Enter')
    // The view's heading has the focus, so that a screen reader announces it.
    const headed = () => page.waitForFunction(() => document.activeElement?.tagName === 'H1')
    await headed()
    // The letter size belongs to the device and is stored.
    await page.getByRole('button', { name: 'Text size and language' }).press('Enter')
    // Until then the key press may go to the heading, which takes the focus.
    await headed()
    await page.getByRole('button', { name: 'Largest', exact: true }).press('Enter')
    await page.reload()
    await page.locator('button[aria-pressed=true]', { hasText: 'Largest' }).waitFor()
    expect(Number.parseFloat(await letterSize())).toBeCloseTo(normal * 1.4, 1)
  })
})

/** The public map in Chromium: what it shows, announces and stores. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { checkIn, flushed, newPilgrimId, setStatus, type TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { type OpenOptions, photograph, seriousFaults, testBrowser, type Page } from './browser.ts'
import { ARCHIVE, detailedTests } from './map-detailed.suite.ts'
import { gestureTests } from './map-gestures.suite.ts'
import { readerTests } from './map-reader.suite.ts'
import {
  expectNoSidewaysScroll,
  gzippedBytes,
  heard,
  interactiveMs,
  paintedCells,
  settledPlace,
  shiftClock,
  slowed,
  smallTargets,
  tabTo,
} from './map-page.ts'

// The detailed map uses WebGL, here on the processor.
const browser = testBrowser(['--enable-unsafe-swiftshader'])
const ROUTE = join(import.meta.dir, '../tools/crowd/route.geojson')
const SETTINGS = {
  EVENT_NAME: '媽祖徒步進香',
  EVENT_ROUTE: ROUTE,
  EVENT_MAP_CROWD: '2',
  EVENT_MAP_TILES: ARCHIVE,
}

/** On the route near Dajia. */
const DAJIA = { lat: 24.3489, lng: 120.6224 }
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1_440, height: 900 }

async function walkers(stack: TestStack, count: number, place: { lat: number; lng: number }): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => checkIn(stack, newPilgrimId(), place)))
}

const onMap = (page: Page) => page.locator('.details').getByText('地圖上有')

describeBothStacks(
  'the map',
  (stack) => {
    const open = (options: Partial<OpenOptions> = {}) =>
      browser.open(stack, { path: '/?lang=zh-Hant', viewport: DESK, ...options })

    test('a check-in shows on the map and in words, without reloading', async () => {
      await using opened = new AsyncDisposableStack()
      const page = await (async () => {
        try {
          const { page } = opened.use(await open())
          await page.getByRole('heading', { name: '媽祖徒步進香' }).waitFor()
          await page.getByText('地圖上還沒有人。').waitFor()
          return page
        } finally {
          // The other tests need them too.
          await walkers(stack, 4, DAJIA)
        }
      })()
      await page.locator('.summary').getByText('大甲附近').first().waitFor({ timeout: 45_000 })
      await page.locator('.marker-front svg').waitFor()
      expect(await onMap(page).textContent()).toContain('4')
      expect(await paintedCells(page)).toBeGreaterThan(0)
      await flushed(stack)
    })

    test('paused, a message of the organisers, and active again (long)', async () => {
      await using opened = await open()
      const { page } = opened
      await page.getByText('活動進行中').waitFor()
      await setStatus(stack, { status: 'paused' })
      // The same words as in the app.
      await heard(page, PAGE_WORDS['zh-Hant'].paused)
      await setStatus(stack, { status: 'paused', message: '颱風 <b>接近</b>\n請留在室內' })
      await heard(page, '颱風')
      expect(await page.locator('.message').textContent()).toBe('颱風 <b>接近</b>\n請留在室內')
      await photograph(page, `map-paused-${stack.kind}`)
      await setStatus(stack, { status: 'active' })
      await heard(page, '活動進行中')
    })

    test('without a network it opens with the last news and says so; old news lose their crowd; then it goes on', async () => {
      await using opened = await open({
        viewport: PHONE,
        expected: /ERR_INTERNET_DISCONNECTED|Failed to fetch|ERR_FAILED/,
      })
      const { page } = opened
      await page.getByText('活動進行中').waitFor()
      await page.evaluate(async () => void (await navigator.serviceWorker.ready))
      await page.context().setOffline(true)
      await page.reload()
      await page.getByRole('heading', { name: '媽祖徒步進香' }).waitFor()
      await page.getByText('大甲附近').first().waitFor()
      // If the clock was set back, the age is unknown, so nothing is shown as current.
      const setBack = await page.context().newPage()
      await setBack.addInitScript(() => {
        const { now } = Date
        Date.now = () => now() - 5 * 3_600_000
      })
      await setBack.goto(page.url())
      await setBack.locator('.map[data-freshness="gone"]').waitFor()
      await setBack.close()
      await shiftClock(page, 10 * 60_000)
      await page.getByText('目前連不上').waitFor()
      await page.getByText(/ 的狀況（1\d 分鐘前）/).waitFor()
      expect(await page.locator('.map').getAttribute('data-freshness')).toBe('old')
      await photograph(page, `map-old-${stack.kind}`)
      await shiftClock(page, 40 * 60_000)
      await page.getByText('不再顯示人潮').waitFor()
      expect(await page.locator('.marker-front svg').isVisible()).toBe(false)
      expect(await paintedCells(page)).toBe(0)
      await photograph(page, `map-gone-${stack.kind}`)
      await shiftClock(page, 0)
      await page.context().setOffline(false)
      await page.locator('.map[data-freshness="fresh"]').waitFor({ timeout: 45_000 })
      await page.locator('.marker-front svg').waitFor()
    })

    test('a map that rests is not drawn again, also where a name fits nowhere (long)', async () => {
      // The marks are at one place, and their names together are wider than a side of this map.
      await using opened = await open({ path: '/?lang=en', viewport: { width: 300, height: 640 } })
      const { page } = opened
      await page.locator('.marker-front svg').waitFor()
      await page.locator('.marker-front[data-name="none"]').waitFor({ state: 'attached' })
      const drawings = await page.evaluate(async () => {
        const context = document.querySelector<HTMLCanvasElement>('canvas.names')!.getContext('2d')!
        const clear = context.clearRect.bind(context)
        let count = 0
        context.clearRect = (...box) => {
          count++
          clear(...box)
        }
        await new Promise((resolve) => setTimeout(resolve, 3_000))
        return count
      })
      // One update may arrive in between.
      expect(drawings).toBeLessThanOrEqual(4)
    })

    test('my station is chosen by the keyboard, remembered, and shown in the first lines', async () => {
      await using opened = await open({ viewport: PHONE })
      const { page } = opened
      await page.getByText('大甲附近').first().waitFor()
      await tabTo(page, (focus) => focus === '展開')
      await page.keyboard.press('Enter')
      await tabTo(page, (focus) => focus === 'my-station')
      // The eleventh station.
      for (let i = 0; i < 11; i++) await page.keyboard.press('ArrowDown')
      await page.locator('.next-arrival').getByText('彰化').waitFor()
      expect(await page.locator('.next-arrival').textContent()).toMatch(/我的站彰化\d+ 公里/)
      await page.reload()
      await page.locator('.next-arrival').getByText('彰化').waitFor()
      await photograph(page, `map-station-${stack.kind}`)
    })

    test('the letters grow in the settings, and nothing that is touched is small then (long)', async () => {
      await using opened = await open({ viewport: { width: 360, height: 640 } })
      const { page } = opened
      await page.locator('.marker-front svg').waitFor()
      expect(await smallTargets(page)).toEqual([])
      const before = await page.evaluate(() => Number.parseFloat(getComputedStyle(document.body).fontSize))
      await page.getByRole('button', { name: '設定' }).click()
      await page.getByRole('button', { name: '最大' }).click()
      const after = await page.evaluate(() => Number.parseFloat(getComputedStyle(document.body).fontSize))
      expect(after / before).toBeCloseTo(1.4)
      expect(await smallTargets(page)).toEqual([])
      await expectNoSidewaysScroll(page)
      await photograph(page, `map-letters-${stack.kind}`)
    })

    test('the map is moved by keys, by dragging and by the wheel, and finds the procession again', async () => {
      await using opened = await open()
      const { page } = opened
      await page.locator('.marker-front svg').waitFor()
      const frame = page.getByRole('application', { name: '隊伍地圖' })
      const start = await settledPlace(page)
      await frame.focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      const byKeys = await settledPlace(page)
      expect(byKeys.x).toBeLessThan(start.x - 150)
      await page.mouse.move(1_000, 300)
      await page.mouse.down()
      await page.mouse.move(1_100, 350, { steps: 4 })
      await page.mouse.up()
      const dragged = await settledPlace(page)
      expect(Math.round(dragged.x - byKeys.x)).toBe(100)
      expect(Math.round(dragged.y - byKeys.y)).toBe(50)
      await page.mouse.wheel(0, -400)
      await page.keyboard.press('-')
      await page.getByRole('button', { name: '看隊伍' }).click()
      const back = await settledPlace(page)
      expect([Math.round(back.x), Math.round(back.y)]).toEqual([Math.round(start.x), Math.round(start.y)])
    })

    if (stack.isFirst === true) {
      gestureTests(stack, open)
      readerTests(open)
    }
    detailedTests(stack, open)

    test('its size stays within its budgets', async () => {
      await using opened = await open({ viewport: PHONE, before: slowed })
      const { page, fetched } = opened
      const startMs = Math.round(await interactiveMs(page))
      console.log(`map, ${stack.kind}: interactive after ${startMs} ms, processor 4 × slower`)
      await page.locator('.marker-front svg').waitFor()
      // Towns and places along the way load some time after the page.
      const atFirst = (await fetched()).filter(({ path }) => !/\/(?:towns|map-places|map-later)-/.test(path))
      const first = await gzippedBytes(
        stack,
        atFirst.map(({ path }) => path),
      )
      await until(async () => (await fetched()).some(({ path }) => path.includes('towns')), 'the towns')
      const all = await gzippedBytes(
        stack,
        (await fetched()).map(({ path }) => path),
      )
      const sent = (await fetched()).reduce((sum, { bytes }) => sum + bytes, 0)
      console.log(`map, ${stack.kind}: ${first} B first view, ${all} B in all (gzip); ${sent} B sent`)
      expect(first).toBeLessThanOrEqual(60_000)
      expect(all).toBeLessThanOrEqual(100_000)
    })

    test.if(stack.isFirst === true)(
      'nothing serious for accessibility in any theme, language and width (long)',
      async () => {
        for (const viewport of [PHONE, DESK])
          for (const [i, language] of BuiltInLanguage.options.entries()) {
            await using opened = await open({ path: `/?lang=${language}`, viewport })
            const { page } = opened
            await page.locator('.marker-front svg').waitFor()
            if (viewport === PHONE) await page.locator('.sheet-grip').click()
            for (const [nth, theme] of ['light', 'dark', 'sun'].entries()) {
              // Each language in one theme, and the first one in all.
              if (i > 0 && nth !== i % 3) continue
              await page.locator('.summary .button').click()
              await page.locator('dialog select').last().selectOption(theme)
              await page.keyboard.press('Escape')
              await page.locator('dialog').waitFor({ state: 'hidden' })
              expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
              expect({ language, theme, faults: await seriousFaults(page) }).toEqual({
                language,
                theme,
                faults: [],
              })
              if (i === 0) await photograph(page, `map-${theme}-${viewport.width}`)
            }
            await photograph(page, `map-${language}-${viewport.width}`)
            await expectNoSidewaysScroll(page)
          }
      },
      120_000,
    )
  },
  SETTINGS,
)

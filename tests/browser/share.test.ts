/** The share page in a browser: its looks, its automatic updates, and its end. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SHARE_POLICY } from '#services/feedback-media/shares/share-page.ts'
import { createShareEndpoint, listSharesEndpoint } from '#shared/contracts/shares.ts'
import { SHARE_WORDS } from '#shared/locales/by-language.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newAppId, PLACE, syncTrack } from '#tests/helpers/test-stack.ts'
import { BOTS } from '#tests/journeys/share-previews.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults, testBrowser } from './browser.ts'
import { smallTargets } from './map-page.ts'
import { routeAnswer, shareInState, type ShareState } from './share-states.ts'

const browser = testBrowser()
const TIMEOUT_MS = 90_000
const CARD = join(import.meta.dir, '../../services/feedback-media/cards/example-card.png')

describeBothStacks('the page of a link in a browser', (stack) => {
  const share = async (userId: string, fields: object) =>
    dataOf(await post(stack, 'shares', { user_id: userId, ...fields }), createShareEndpoint)
  const walk = (userId: string, from: number) =>
    syncTrack(
      stack,
      userId,
      Array.from({ length: 20 }, (_, i) => ({
        lat: PLACE.lat + (from + i) * 0.0006,
        lng: PLACE.lng + 0.002 * Math.sin((from + i) / 6),
        timestamp: Date.now() + (from + i) * 1_000,
      })),
    )

  test(
    'it looks right in all languages and themes, without a serious fault of accessibility (long)',
    async () => {
      const userId = newAppId()
      await post(stack, 'user/sync', { user_id: userId, display_name: '林美玉' })
      const [live, still] = [
        await share(userId, { live_hours: 8, show_name: true }),
        await share(userId, { show_name: true }),
      ]
      await walk(userId, 0)
      for (const [name, path, locale, width, colorScheme] of [
        ['live', live.id, 'zh-TW', 390, 'light'],
        ['live', live.id, 'ja', 1_440, 'dark'],
        ['still', still.id, 'en', 390, 'dark'],
        ['still', still.id, 'zh-CN', 1_440, 'light'],
        ['ended', 'x'.repeat(24), 'en', 390, 'light'],
      ] as const) {
        await using opened = await browser.open(stack, {
          path: `/s/${path}`,
          locale,
          colorScheme,
          viewport: { width, height: 900 },
          expected: /410|favicon/,
        })
        expect(await seriousFaults(opened.page)).toEqual([])
        const overflow = await opened.page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        )
        expect(overflow).toBeLessThanOrEqual(0)
        await photograph(opened.page, `share-${name}-${locale}-${width}-${colorScheme}`, true)
      }
    },
    TIMEOUT_MS,
  )

  const looks: [ShareState, 'zh-Hant' | 'en', number, 'light' | 'dark', RegExp][] = [
    ['live', 'zh-Hant', 390, 'light', /臺中市清水區[^]*清水[^]*預計/],
    ['live', 'en', 1_440, 'dark', /Qingshui, Taichung[^]*expected about/],
    ['paused', 'en', 390, 'dark', /paused/],
    ['silent', 'zh-Hant', 390, 'light', /40 ?分鐘前/],
    ['silent', 'en', 1_440, 'light', /40 min/],
    ['still', 'zh-Hant', 1_440, 'dark', /31 公里/],
    ['ended', 'zh-Hant', 390, 'dark', /31 公里/],
    ['gone', 'zh-Hant', 390, 'light', /沒有內容/],
  ]
  const named = looks.map((look, i) => {
    const [state, language, width, colorScheme] = look
    return [
      `${state}, in ${language} at ${width} pixels, ${colorScheme}${i < 2 ? '' : ' (long)'}`,
      look,
    ] as const
  })
  test.if(stack.isFirst === true).each(named)(
    'a link that is %s',
    async (_name, [state, language, width, colorScheme, says]) => {
      const html = shareInState(state, language, `https://localhost:${stack.port}/s/${'x'.repeat(24)}`)
      // It is requested every 30 seconds.
      expect(gzipSync(html).length).toBeLessThan(3_500)
      const headers = { 'Content-Security-Policy': SHARE_POLICY }
      const loads: Promise<number>[] = []
      await using opened = await browser.open(stack, {
        path: '/s/state',
        colorScheme,
        viewport: { width, height: width === 390 ? 844 : 900 },
        expected: /favicon/,
        before: async (page) => {
          page.on('response', (answer) => {
            if (/\.(?:js|css|json)$/.test(answer.url()))
              loads.push(answer.body().then((body) => gzipSync(body).length))
          })
          await page.route('**/s/*.png*', (route) => route.fulfill({ path: CARD }))
          await page.route('**/api/event/route', async (route) =>
            route.fulfill({ body: await routeAnswer(), contentType: 'application/json' }),
          )
          await page.route('**/views', (route) => route.fulfill({ status: 202, body: '{}' }))
          await page.route('**/s/state', (route) =>
            route.fulfill({ body: html, contentType: 'text/html; charset=utf-8', headers }),
          )
        },
      })
      const { page } = opened
      const alts = await page
        .locator('img')
        .evaluateAll((all) => all.map((one) => (one as HTMLImageElement).alt))
      expect([await page.locator('main').innerText(), ...alts].join('\n')).toMatch(says)
      if (await page.locator('.map').isVisible()) {
        await page.locator('.marker-me svg').waitFor()
        // Coasts, towns and stations.
        await page.waitForLoadState('networkidle')
        await page.locator('.map-source').waitFor()
        // Script and style, coasts and towns.
        expect(loads).toHaveLength(5)
      }
      const bytes = (await Promise.all(loads)).reduce((sum, one) => sum + one, 0)
      expect(bytes).toBeLessThan(loads.length === 5 ? 48_000 : 7_000)
      expect(await seriousFaults(page)).toEqual([])
      expect(await smallTargets(page)).toEqual([])
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(overflow).toBeLessThanOrEqual(0)
      await photograph(page, `share-state-${state}-${language}-${width}-${colorScheme}`, true)
    },
  )

  test(
    'it shows a new place without being loaded again, no old one as now, and that it has ended (long)',
    async () => {
      const userId = newAppId()
      const { id } = await share(userId, { live_hours: 8 })
      await walk(userId, 0)
      await using opened = await browser.open(stack, {
        path: `/s/${id}`,
        locale: 'en',
        expected: /410|favicon|DISCONNECTED/,
      })
      const { page } = opened
      await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }))
      const way = () => page.locator('.map').getAttribute('data-way')
      /** Number of pixels of the map with the walked way. */
      const walkedPixels = () =>
        page.evaluate(() => {
          const canvas = document.querySelector<HTMLCanvasElement>('canvas.crowd')!
          if (canvas.width === 0) return 0
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
          let walked = 0
          for (let i = 0; i < data.length; i += 4)
            if (data[i] === 0x9c && data[i + 1] === 0x1f && data[i + 2] === 0x1a) walked++
          return walked
        })
      await until(async () => (await walkedPixels()) > 50, 'the way')
      await page.locator('.marker-me svg').waitFor()
      const [before, pixels] = [await way(), await walkedPixels()]
      await page.locator('.map-controls button').first().focus()
      await page.evaluate(() => Object.assign(document.querySelector('.map')!, { sameMap: true }))
      await walk(userId, 20)
      // The page retries at once when the network is back.
      await until(
        async () => {
          await page.evaluate(() => dispatchEvent(new Event('online')))
          return (await way()) !== before
        },
        'the new place',
        { everyMs: 1_200 },
      )
      await until(async () => (await walkedPixels()) > pixels, 'the longer way')
      // The map stays the same element, and the focus stays.
      expect(await page.evaluate(() => 'sameMap' in document.querySelector('.map')!)).toBe(true)
      expect(await page.evaluate(() => document.activeElement?.closest('.map') !== null)).toBe(true)
      expect(await page.evaluate(() => 'sameDocument' in globalThis)).toBe(true)
      const now = page.getByText(SHARE_WORDS.en.now)
      await now.waitFor()
      await page.context().setOffline(true)
      await page.evaluate(() => dispatchEvent(new Event('online')))
      await page.locator('[data-offline]').waitFor()
      expect(await now.isVisible()).toBe(false)
      await photograph(page, 'share-offline')
      await page.context().setOffline(false)
      await now.waitFor()
      const revoked = await stack.fetch(`/api/event/shares/${id}?user_id=${userId}`, { method: 'DELETE' })
      expect(revoked.status).toBe(200)
      await page.evaluate(() => dispatchEvent(new Event('online')))
      await page.getByRole('heading', { name: SHARE_WORDS.en.goneTitle }).waitFor()
    },
    TIMEOUT_MS,
  )

  test.if(stack.isFirst === true)(
    'it goes on where the clock is set back',
    async () => {
      const { id } = await share(newAppId(), {})
      await using opened = await browser.open(stack, {
        path: `/s/${id}`,
        expected: /favicon/,
        before: (page) => page.clock.install(),
      })
      const { page } = opened
      const renewed = page.waitForRequest((request) => request.url().endsWith(`/s/${id}`), { timeout: 5_000 })
      await page.clock.setSystemTime(Date.now() - 3_600_000)
      await page.clock.runFor(32_000)
      await renewed
    },
    TIMEOUT_MS,
  )

  test(
    'the pilgrim sees how often it was opened: not by previews, not twice by who reloads, not by themselves',
    async () => {
      const userId = newAppId()
      const { id, url } = await share(userId, {})
      const views = async () => {
        const list = await stack.fetch(`/api/event/shares?user_id=${userId}`)
        const [link] = (await dataOf(list, listSharesEndpoint)).items
        return link!.views
      }
      for (const agent of BOTS) await stack.fetch(new URL(url).pathname, { headers: { 'User-Agent': agent } })
      await using own = await browser.open(stack, { path: `/s/${id}#own`, expected: /favicon/ })
      await own.page.reload()
      expect(own.page.url()).not.toContain('own')
      for (let readers = 0; readers < 2; readers++) {
        await using opened = await browser.open(stack, { path: `/s/${id}`, expected: /favicon/ })
        await opened.page.reload()
      }
      await until(async () => (await views()) >= 2, 'the views', { everyMs: 500 })
      expect(await views()).toBe(2)
    },
    TIMEOUT_MS,
  )
})

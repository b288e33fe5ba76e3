/** Help for the map's reader: their own position, and when the procession reaches their station. */
import { expect, test } from 'bun:test'
import { type Page, photograph } from './browser.ts'
import type { OpenMap } from './map-gestures.suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { heard } from './map-page.ts'

/** In Qingshui, south of Dajia. */
const READER = { latitude: 24.27, longitude: 120.57 }
/** Zhanghua, the eleventh station, is ahead of the procession. */
const STATION = 10
const HALF_HOUR_MS = 30 * 60_000

interface Answer {
  data: {
    front: { route_km: number } | null
    palanquin: { lat: number; lng: number; route_km: number; station: number; seen_at: string } | null
    estimates: { station: number; front_at: string | null; middle_at: string; by: 'speed' | 'plan' }[]
  }
}

/**
 * Extends the service's responses: a speed, and so an expected time, would need a quarter of an hour of
 * walking.
 * @returns a function that changes the next responses
 */
async function whatIsAnswered(page: Page): Promise<(change: (data: Answer['data']) => void) => void> {
  let change: (data: Answer['data']) => void = () => undefined
  await page.route('**/api/event/map*', async (route) => {
    // Always the full response, never a delta.
    const { pathname, origin } = new URL(route.request().url())
    const { 'if-none-match': _, ...headers } = route.request().headers()
    // The service may close a kept-alive connection just as it is reused.
    const response = await route.fetch({ url: `${origin}${pathname}`, headers, maxRetries: 2 })
    const answer = (await response.json()) as Answer
    change(answer.data)
    await route.fulfill({ response, json: answer })
  })
  return (next) => {
    change = next
  }
}

/** Each station has a planned time, as a long text. */
async function planned(page: Page): Promise<void> {
  const answer = await whatIsAnswered(page)
  // Tomorrow at eight in the evening in Taiwan: a long text at any time of day.
  const [hourMs, dayMs] = [3_600_000, 86_400_000]
  const midnightMs = Math.floor((Date.now() + 8 * hourMs) / dayMs) * dayMs - 8 * hourMs
  const at = new Date(midnightMs + dayMs + 20 * hourMs).toISOString()
  answer((data) => {
    data.estimates = Array.from({ length: 30 }, (_, station) => ({
      station,
      front_at: at,
      middle_at: at,
      by: 'plan',
    }))
  })
}

const shownNotifications = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    return (await registration.getNotifications()).map(({ title }) => title)
  })

/** The page announces it at once; the service worker shows it a moment later. */
const notified = (page: Page, text: string) =>
  until(async () => (await shownNotifications(page)).join() === text, `the notification alone: ${text}`, {
    timeoutMs: 5_000,
  })

export function readerTests(open: OpenMap): void {
  test('who waits at a station is told once when the procession is near, and once when it is there (long)', async () => {
    let answers: Awaited<ReturnType<typeof whatIsAnswered>> | undefined
    await using opened = await open({
      permissions: ['notifications'],
      before: async (page) => {
        answers = await whatIsAnswered(page)
      },
    })
    const { page } = opened
    await page.locator('#my-station').selectOption(String(STATION))
    await page.getByRole('button', { name: '快到時通知我' }).click()
    await page.getByText('請保持頁面開啟').waitFor()
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    answers!((data) => {
      data.estimates = [{ station: STATION, front_at: inMinutes(90), middle_at: inMinutes(120), by: 'speed' }]
    })
    await heard(page, '約 ')
    expect(await shownNotifications(page)).toEqual([])
    answers!((data) => {
      data.estimates = [{ station: STATION, front_at: inMinutes(15), middle_at: inMinutes(30), by: 'speed' }]
    })
    await heard(page, '隊伍約 15 分鐘後到達彰化')
    await notified(page, '隊伍約 15 分鐘後到達彰化')
    // 30 m before arrival: "0 km to go" is never shown.
    const km = await page.evaluate(async (station) => {
      const { data } = await (await fetch('/api/event/route')).json()
      return data.stations[station].route_km as number
    }, STATION)
    answers!((data) => {
      data.front!.route_km = km - 0.03
    })
    await heard(page, '隊頭到達彰化了')
    // The second notification replaces the first: both have the same tag.
    await notified(page, '隊頭到達彰化了')
    await page.reload()
    // The tail is far behind, so the procession does not count as passing now.
    await page.getByText('部分已通過').first().waitFor()
    expect(await page.getByText('隊頭到達彰化了').count()).toBe(0)
    // There is nothing left to wait for.
    expect(await page.getByRole('button', { name: '快到時通知我' }).count()).toBe(0)
  })

  test('who waits at a station is told while another tab is in front, also when the front has come without a warning (long)', async () => {
    let answers: Awaited<ReturnType<typeof whatIsAnswered>> | undefined
    await using opened = await open({
      permissions: ['notifications'],
      before: async (page) => {
        await page.clock.install()
        answers = await whatIsAnswered(page)
      },
    })
    const { page } = opened
    await page.locator('#my-station').selectOption(String(STATION))
    await page.getByRole('button', { name: '快到時通知我' }).click()
    await page.getByText('請保持頁面開啟').waitFor()
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { get: () => true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    // Requests just before the page is hidden are answered as before.
    await page.clock.fastForward(61_000)
    answers!((data) => {
      data.front!.route_km = 90
    })
    await until(
      async () => {
        await page.clock.fastForward(61_000)
        return (await shownNotifications(page)).join() === '隊頭到達彰化了'
      },
      'the notification',
      { everyMs: 500 },
    )
  })

  test('a service that asks to wait is not asked before', async () => {
    let asked = -1
    await using opened = await open({ before: (page) => page.clock.install(), expected: /429/ })
    const { page } = opened
    await page.route('**/api/event/map*', (route) => {
      asked++
      return route.fulfill({ status: 429, headers: { 'Retry-After': '120' }, json: {} })
    })
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await until(async () => asked === 0, 'the refusal')
    for (let s = 0; s < 110; s += 10) {
      await Bun.sleep(50)
      await page.clock.runFor(10_000)
    }
    expect(asked).toBe(0)
    await page.clock.runFor(20_000)
    await until(async () => asked === 1, 'the next request')
  })

  test('where a palanquin is named, it is the largest mark, and the times are its own', async () => {
    let answers: Awaited<ReturnType<typeof whatIsAnswered>> | undefined
    await using opened = await open({
      before: async (page) => {
        answers = await whatIsAnswered(page)
      },
    })
    const { page } = opened
    const atMs = Math.ceil(Date.now() / HALF_HOUR_MS + 1) * HALF_HOUR_MS
    const at = new Date(atMs).toISOString()
    answers!((data) => {
      const place = (lat: number, routeKm: number) => ({ lat, lng: 120.58, route_km: routeKm, station: 5 })
      data.front = place(24.2, 72)
      data.palanquin = { ...place(24.3, 60), seen_at: new Date().toISOString() }
      data.estimates = [{ station: STATION, front_at: null, middle_at: at, by: 'speed' }]
    })
    await page.locator('#my-station').selectOption(String(STATION))
    await heard(page, '鑾轎')
    await page.locator('.marker-palanquin svg').waitFor()
    const width = (mark: string) =>
      page.locator(`.marker-${mark} svg`).evaluate((one) => one.getBoundingClientRect().width)
    expect(await width('palanquin')).toBeGreaterThan(await width('front'))
    // After 23:00 the time is tomorrow's, so it has a day.
    const clock = new Date(atMs).toLocaleTimeString('en-GB', { timeStyle: 'short', timeZone: 'Asia/Taipei' })
    await page.locator('.next-arrival .when', { hasText: new RegExp(`^約 (.+ )?${clock}$`) }).waitFor()
    // In the list of stations, the time is at the end of its own row.
    const row = page.locator('.passage.expected', { hasText: clock })
    const [name, time] = [
      await row.locator('.grow').boundingBox(),
      await row.locator('> .small').boundingBox(),
    ]
    expect(time!.x).toBeGreaterThanOrEqual(name!.x + name!.width)
    expect(time!.y).toBeLessThan(name!.y + name!.height)
  })

  for (const path of ['/', '/?screen'])
    test(`a palanquin that reports nothing for ten minutes is grey, says since when, and leads no times or messages (${path})`, async () => {
      let answers: Awaited<ReturnType<typeof whatIsAnswered>> | undefined
      await using opened = await open({
        path,
        viewport: path === '/' ? { width: 390, height: 844 } : { width: 1_280, height: 800 },
        before: async (page) => {
          answers = await whatIsAnswered(page)
        },
      })
      const { page } = opened
      const soonMs = Math.ceil(Date.now() / HALF_HOUR_MS) * HALF_HOUR_MS
      const [frontAt, middleAt] = [1, 3].map((hours) => new Date(soonMs + hours * 3_600_000).toISOString())
      let [seenMs, palanquinKm] = [Date.now(), 50]
      answers!((data) => {
        const place = (lat: number, routeKm: number) => ({ lat, lng: 120.58, route_km: routeKm, station: 5 })
        data.front = place(24.2, 60)
        data.palanquin = { ...place(24.205, palanquinKm), seen_at: new Date(seenMs).toISOString() }
        data.estimates = [{ station: STATION, front_at: frontAt!, middle_at: middleAt!, by: 'speed' }]
      })
      const clockOf = (at: string | number) =>
        new Date(at).toLocaleTimeString('en-GB', { timeStyle: 'short', timeZone: 'Asia/Taipei' })
      const map = page.locator('section.map')
      await page.locator('.marker-palanquin svg').waitFor()
      expect(await map.getAttribute('data-palanquin')).toBeNull()
      if (path === '/') {
        await page.locator('#my-station').selectOption(String(STATION))
        await page.getByRole('button', { name: '快到時通知我' }).click()
      }
      // Its last place is beyond the station.
      seenMs -= 3_600_000
      palanquinKm = 90
      await heard(page, '鑾轎最後一次回報')
      await page.locator('section.map[data-palanquin="silent"]').waitFor()
      const lastSeen = clockOf(seenMs)
      expect(await page.locator('.notices .notice.warning').innerText()).toContain(lastSeen)
      expect(await page.locator('.marker-palanquin span').textContent()).toContain(lastSeen)
      const filter = await page
        .locator('.marker-palanquin svg')
        .evaluate((one) => getComputedStyle(one).filter)
      expect(filter).toContain('grayscale(1)')
      if (path === '/') {
        await page.locator('.next-arrival .when', { hasText: clockOf(frontAt!) }).waitFor()
        expect(await page.getByText('隊頭到達彰化了').count()).toBe(0)
      } else expect(await page.locator('.screen-facts').innerText()).toContain('隊頭')
      await photograph(page, `map-silent-palanquin-${path === '/' ? 'phone' : 'screen'}`)
    })

  test('on a wall the facts stay in one row, also with a long time, and nothing covers the credit (long)', async () => {
    await using opened = await open({
      path: '/?screen&lang=en',
      viewport: { width: 1_280, height: 800 },
      before: planned,
    })
    const { page } = opened
    await page.getByText('planned').waitFor()
    await page.locator('.map-source').waitFor()
    const boxes = async (selector: string) =>
      Promise.all((await page.locator(selector).all()).map(async (one) => (await one.boundingBox())!))
    const facts = await boxes('.screen-facts dt')
    expect(facts).toHaveLength(3)
    expect(new Set(facts.map(({ y }) => Math.round(y))).size).toBe(1)
    const [foot] = await boxes('.screen-foot')
    const [credit] = await boxes('.map-source')
    const [scan] = await boxes('.screen figcaption')
    expect(credit!.y + credit!.height).toBeLessThanOrEqual(foot!.y)
    const fits = (all: typeof facts, [right, bottom]: readonly [number, number]) => {
      for (const { x, y, width, height } of all) {
        expect(x + width).toBeLessThanOrEqual(right)
        expect(y + height).toBeLessThanOrEqual(bottom)
      }
    }
    fits([...(await boxes('.screen-facts dd')), scan!], [1_280, 800])
    await page.setViewportSize({ width: 390, height: 844 })
    await photograph(page, 'map-screen-phone')
    fits(await boxes('.screen-facts dd'), [390, 844])
  })

  test('on a phone a long time begins below the name of its station (long)', async () => {
    await using opened = await open({
      path: '/?lang=en',
      before: planned,
    })
    const { page } = opened
    const when = await page.locator('.next-arrival .long').boundingBox()
    const place = await page.locator('.next-arrival .place').boundingBox()
    expect(when!.x).toBe(place!.x)
    expect(when!.y).toBeGreaterThanOrEqual(place!.y + place!.height)
  })

  test('without notifications the page itself tells it (long)', async () => {
    let answers: Awaited<ReturnType<typeof whatIsAnswered>> | undefined
    await using opened = await open({
      before: async (page) => {
        answers = await whatIsAnswered(page)
      },
    })
    const { page } = opened
    await page.locator('#my-station').selectOption(String(STATION))
    await page.getByRole('button', { name: '快到時通知我' }).click()
    await page.getByText('瀏覽器不允許通知').waitFor()
    answers!((data) => {
      const soon = new Date(Date.now() + 10 * 60_000).toISOString()
      data.estimates = [{ station: STATION, front_at: soon, middle_at: soon, by: 'speed' }]
    })
    await heard(page, '隊伍約 10 分鐘後到達彰化')
  })

  test('where the reader is: shown on the map, told as a distance, and gone with a second press', async () => {
    await using opened = await open({ permissions: ['geolocation'], geolocation: READER })
    const { page } = opened
    await page.locator('.marker-front svg').waitFor()
    const button = page.getByRole('button', { name: '我的位置' })
    await button.click()
    await page.locator('.marker-me svg').waitFor()
    expect(await button.getAttribute('aria-pressed')).toBe('true')
    await page.getByText(/您距離隊伍中段約 1\d(\.\d)? 公里/).waitFor()
    await page.getByText('位置只在這支手機上使用').waitFor()
    await button.click()
    await page.locator('.marker-me').waitFor({ state: 'hidden' })
    expect(await page.getByText('您距離隊伍中段約').count()).toBe(0)
  })

  test('a position that is refused, and one that is not found, are each told (long)', async () => {
    await using opened = await open()
    const { page } = opened
    const button = page.getByRole('button', { name: '我的位置' })
    await button.click()
    await page.getByText('瀏覽器不允許定位').waitFor()
    await page.context().grantPermissions(['geolocation'])
    const session = await page.context().newCDPSession(page)
    // Without coordinates Chromium reports that no position is available.
    await session.send('Emulation.setGeolocationOverride', {})
    await button.click()
    await page.getByText('目前找不到您的位置').waitFor()
    expect(await button.getAttribute('aria-busy')).toBe('false')
    expect(await page.locator('.marker-me').isVisible()).toBe(false)
  })
}

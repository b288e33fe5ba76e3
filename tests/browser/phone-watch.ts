/** Requests of a page to the phone: positions, wake lock, storage. */
import { expect } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { until } from '#tests/helpers/wait.ts'
import { firstMinute, PLACE, type Phone, type walkApp, keptOn } from './walk-harness.ts'

/** Requests that the page made to the phone. */
export interface Asked {
  /** Times of requests for a position, by the page's clock. */
  readonly positions: number[]
  readonly locks: { released: boolean }[]
  persist: number
}

/** Records the page's requests to the phone, and passes them on. */
const watchPhone = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    const asked: Asked = { positions: [], locks: [], persist: 0 }
    const { geolocation, wakeLock, storage } = navigator
    const noting =
      <Given extends unknown[], Result>(note: () => void, real: (...given: Given) => Result) =>
      (...given: Given): Result => {
        note()
        return real(...given)
      }
    const notePosition = () => void asked.positions.push(Date.now())
    geolocation.watchPosition = noting(notePosition, geolocation.watchPosition.bind(geolocation))
    geolocation.getCurrentPosition = noting(notePosition, geolocation.getCurrentPosition.bind(geolocation))
    storage.persist = noting(() => void asked.persist++, storage.persist.bind(storage))
    const request = wakeLock.request.bind(wakeLock)
    wakeLock.request = async (type) => {
      const lock = await request(type)
      asked.locks.push(lock)
      return lock
    }
    Object.assign(globalThis, { asked })
  })

export const askedOf = (page: Page) =>
  page.evaluate(() => {
    const { positions, locks, persist } = (globalThis as unknown as { asked: Asked }).asked
    return { positions, persist, awake: locks.filter(({ released }) => !released).length }
  })

/**
 * Simulates that the screen turns off or another app comes to the front, which headless Chromium does not
 * support.
 */
export const look = (page: Page, visibilityState: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate(async (state) => {
    Object.defineProperty(document, 'visibilityState', { get: () => state, configurable: true })
    // The browser releases the lock of a hidden page.
    const { asked } = globalThis as unknown as { asked?: { locks?: WakeLockSentinel[] } }
    if (state === 'hidden') await Promise.all(asked?.locks?.map((lock) => lock.release()) ?? [])
    document.dispatchEvent(new Event('visibilitychange'))
  }, visibilityState)

/** The phone searches for a position without finding one. */
export const holdPlace = (page: Page): Promise<void> =>
  page.evaluate(() => {
    navigator.geolocation.getCurrentPosition = (tell, fail) =>
      void Object.assign(globalThis, { tell, fail: () => fail!({ code: 3 } as GeolocationPositionError) })
  })
export const searches = (page: Page): Promise<unknown> => page.waitForFunction(() => 'tell' in globalThis)

/** The phone finds the position that was held back. */
export const tellPlace = (page: Page): Promise<void> =>
  page.evaluate((coords) => {
    const { tell } = globalThis as unknown as { tell: PositionCallback }
    tell({ coords: { ...coords, altitude: null, speed: null }, timestamp: Date.now() } as GeolocationPosition)
  }, PLACE)

/** The phone gives up after the app's timeout. */
export const findNoPlace = (page: Page): Promise<void> =>
  page.evaluate(() => (globalThis as unknown as { fail: () => void }).fail())

/** Time of the last position that the app took. */
const lastMs = async (page: Page): Promise<number> =>
  (await keptOn<{ lastMs?: number }>(page, 'pauses'))?.lastMs ?? 0

/** The service's time is that of the end of a step: a longer one would look like a wrong clock to the app. */
const STEP_MS = 15_000
/** How long ago simulated time begins. */
const AGO_MS = 3 * 3_600_000

/** A place this many metres to the north. */
export const north = (metres: number) => ({ ...PLACE, latitude: PLACE.latitude + metres / 111_195 })

export interface Recorder extends Phone {
  /** Advances time. */
  readonly move: (ms: number) => Promise<void>
  /** The phone moves this many metres to the north, and the app takes that position. */
  readonly arrive: (metres: number) => Promise<void>
}
/** A pilgrim who records, on a clock that the test moves. */
export async function newRecorder(app: ReturnType<typeof walkApp>): Promise<Recorder> {
  const phone = await app.newPhone(
    { permissions: ['geolocation', 'screen-wake-lock'] },
    async (context) => void (await watchPhone(context)),
  )
  const { page, context } = phone
  let pausedMs: number | null = null
  // The service's clock is the simulated one, too.
  await context.route('**/api/event/config', async (route) => {
    const answer = await app.stack.fetch('/api/event/config')
    const { data } = (await answer.json()) as { data: object }
    const as_of = new Date(pausedMs ?? Date.now() - AGO_MS).toISOString()
    await route.fulfill({ json: { ok: true, data: { ...data, as_of } } })
  })
  await context.clock.install({ time: Date.now() - AGO_MS })
  await page.goto(app.address('?lang=en'))
  await firstMinute(page, 'Old Chen')
  expect((await askedOf(page)).persist).toBe(0)
  await page.getByRole('button', { name: 'Start recording' }).click()
  await page.getByText('Recording.', { exact: true }).waitFor()
  await context.clock.pauseAt((pausedMs = (await page.evaluate(() => Date.now())) + 5_000))
  return {
    ...phone,
    async move(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        const step = Math.min(left, STEP_MS)
        pausedMs! += step
        await context.clock.runFor(step)
      }
    },
    async arrive(metres) {
      const before = await lastMs(page)
      await context.setGeolocation(north(metres))
      await until(async () => (await lastMs(page)) > before, `the position at ${metres} m`, { everyMs: 5 })
    },
  }
}

/** Makes the page request the configuration, and holds back the response. */
export async function holdConfig(app: ReturnType<typeof walkApp>, page: Page) {
  const held = Promise.withResolvers<() => Promise<void>>()
  await page.route(
    '**/api/event/config',
    async (route) => {
      const body = await (await app.stack.fetch('/api/event/config')).text()
      held.resolve(() => route.fulfill({ contentType: 'application/json', body }))
    },
    { times: 1 },
  )
  await page.evaluate(() => void dispatchEvent(new Event('online')))
  const arrive = await held.promise
  return {
    async arrive() {
      const arrived = page.waitForEvent('requestfinished', (one) => one.url().endsWith('/api/event/config'))
      await arrive()
      await arrived
    },
  }
}

/** The phone's clock is changed while offline, and the phone returns a cached position. */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { QueuedPoint } from '#shared/client/index.ts'
import { until } from '#tests/helpers/wait.ts'
import { PLACE, checkInButton, firstMinute, type WalkApp, worksOffline, hasKept } from './walk-harness.ts'
import { look, newRecorder, north } from './phone-watch.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Pending points on the device, oldest first. */
const pointsOn = (page: Page): Promise<QueuedPoint[]> =>
  page.evaluate(
    () =>
      new Promise<QueuedPoint[]>((resolve, reject) => {
        const opening = indexedDB.open('walk')
        opening.onerror = () => reject(opening.error!)
        opening.onsuccess = () => {
          const reading = opening.result.transaction('points').objectStore('points').getAll()
          reading.onerror = () => reject(reading.error!)
          reading.onsuccess = () => {
            opening.result.close()
            resolve((reading.result as QueuedPoint[]).sort((a, b) => a.t - b.t))
          }
        }
      }),
  )

const inTaipei = (t: number): string =>
  new Date(t).toLocaleTimeString('en-GB', { timeZone: 'Asia/Taipei', hour: '2-digit', minute: '2-digit' })

type Place = typeof PLACE
interface Stub {
  readonly told: PositionCallback[]
}

/** Lets the test control which positions the phone returns, and their age. */
const stubPositions = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const stub: Stub = { told: [] }
    navigator.geolocation.watchPosition = (tell) => stub.told.push(tell)
    navigator.geolocation.getCurrentPosition = (tell) => void stub.told.push(tell)
    Object.assign(globalThis, { stub })
  })

/** Answers the latest position request. */
async function tell(page: Page, { latitude, longitude, accuracy }: Place, ageMs: number): Promise<void> {
  await page.waitForFunction(() => (globalThis as unknown as { stub: Stub }).stub.told.length > 0)
  await page.evaluate(
    ([coords, age]) => {
      const { told } = (globalThis as unknown as { stub: Stub }).stub
      told.at(-1)!({ coords, timestamp: Date.now() - age } as unknown as GeolocationPosition)
    },
    [{ latitude, longitude, accuracy, altitude: null, speed: null }, ageMs] as const,
  )
}

export function clockTests(app: WalkApp): void {
  test('a wrong clock that is set right without a network dates nothing by its old error', async () => {
    for (const errorMs of [HOUR, -HOUR, 24 * HOUR]) {
      await using phone = await app.newPhone({}, (context) =>
        context.clock.install({ time: Date.now() + errorMs }),
      )
      const { page, context } = phone
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Old Chen')
      const wrong = page.getByText(/This phone’s clock is [\d,]+ minutes (fast|slow)\./)
      await wrong.waitFor()
      await context.setOffline(true)
      await checkInButton(page).click()
      const next = page.getByText(/Next try at \d\d:\d\d\./)
      await next.waitFor()
      const [, told = ''] = /Next try at (\d\d:\d\d)\./.exec((await next.textContent()) ?? '') ?? []
      expect([0, 1, 2].map((minutes) => inTaipei(Date.now() + minutes * MINUTE))).toContain(told)
      await look(page, 'hidden')
      await context.clock.setSystemTime(Date.now())
      await look(page, 'visible')
      await wrong.waitFor({ state: 'hidden' })
      await checkInButton(page).click()
      await until(async () => (await pointsOn(page)).length === 2, 'two check-ins')
      for (const { t } of await pointsOn(page)) expect(Math.abs(t - Date.now())).toBeLessThan(MINUTE)
    }
  })

  test('a clock that is set back while the app is closed is noticed at its next start', async () => {
    // A fast clock is corrected, or a correct one is set back by a day.
    for (const [beforeMs, afterMs] of [
      [HOUR, 0],
      [0, -24 * HOUR],
    ] as const) {
      await using phone = await app.newPhone({}, (context) =>
        context.clock.install({ time: Date.now() + beforeMs }),
      )
      const { page, context } = phone
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Old Chen')
      await worksOffline(page)
      await context.setOffline(true)
      await page.goto('about:blank')
      await context.clock.setSystemTime(Date.now() + afterMs)
      await page.goto(app.address('?lang=en'))
      await checkInButton(page).click()
      await page.locator('[data-state=kept]').waitFor()
      const [kept] = await pointsOn(page)
      expect(Math.abs(kept!.t - Date.now())).toBeLessThan(2 * MINUTE)
    }
  })

  test('a place that the phone has kept since before a gap is neither recorded nor checked in at', async () => {
    await using phone = await newRecorder(app)
    const { page, context, move, arrive } = phone
    await context.setOffline(true)
    await move(31_000)
    await arrive(40)
    const before = (await pointsOn(page)).length
    await look(page, 'hidden')
    await move(30 * MINUTE)
    await stubPositions(page)
    await look(page, 'visible')
    await tell(page, north(40), 29 * MINUTE)
    await move(31_000)
    await tell(page, north(2_040), 500)
    await hasKept(page, 'pauses', 'hidden')
    const after = await pointsOn(page)
    expect(after).toHaveLength(before + 1)
    expect(after.at(-1)!.fields.lat).toBe(north(2_040).latitude)

    await page.getByRole('button', { name: 'Stop recording' }).click()
    await stubPositions(page)
    await checkInButton(page).click()
    await tell(page, north(40), 20 * MINUTE)
    await tell(page, north(2_100), 0)
    await page.locator('[data-state=kept]').waitFor()
    const checkIn = (await pointsOn(page)).find(({ kind }) => kind === 'checkin')
    expect(checkIn!.fields.lat).toBe(north(2_100).latitude)
  })
}

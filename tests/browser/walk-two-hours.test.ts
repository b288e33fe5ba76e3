/**
 * A recorded walk of two hours in simulated time, with dead zones, reloads, a crash, a pause, two windows, a service that
 * is killed and a new release: it ends with exactly the kilometres of a plain replay, and with every check-in once.
 */
import { expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import { checkInEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { checkIn, newPilgrimId, setStatus, syncTrack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import recorded from './recorded-walk.json'
import { checkInButton, firstMinute, userIdOf, waitingOf, walkApp, worksOffline } from './walk-harness.ts'
import { releaseAgain } from './walk-release.ts'

const TEST_MS = 120_000
const EVENT = 'Two hours on foot'
/** Latitude, longitude, and seconds since the start: the first two hours of a walk in Istria. */
const WALK = recorded as unknown as readonly (readonly [lat: number, lng: number, s: number])[]

const DEAD_ZONES = [
  [20, 35],
  [50, 58],
  [80, 95],
  [112, 125],
  [150, 165],
  [195, 205],
] as const
const CHECK_INS = new Set([5, 25, 40, 70, 90, 135, 160, 175, 187, 225])
const isDead = (i: number): boolean => DEAD_ZONES.some(([from, to]) => i >= from && i < to)

interface Fix {
  readonly t: number
  readonly lat: number
  readonly lng: number
}

/** Every position that the browser gave to the app, as it gave it. */
async function watchFixes(context: BrowserContext): Promise<Fix[]> {
  const fixes: Fix[] = []
  await context.exposeFunction('noteFix', (fix: Fix) => void fixes.push(fix))
  await context.addInitScript(() => {
    const { noteFix } = globalThis as unknown as { noteFix: (fix: Fix) => void }
    const noted =
      (then: PositionCallback): PositionCallback =>
      (position) => {
        const { latitude: lat, longitude: lng } = position.coords
        noteFix({ t: Date.now(), lat, lng })
        then(position)
      }
    const { geolocation } = navigator
    const watch = geolocation.watchPosition.bind(geolocation)
    const once = geolocation.getCurrentPosition.bind(geolocation)
    geolocation.watchPosition = (then, ...more) => watch(noted(then), ...more)
    geolocation.getCurrentPosition = (then, ...more) => once(noted(then), ...more)
  })
  return fixes
}

describeOnServers('two hours', () => {
  const app = walkApp({
    EVENT_NAME: EVENT,
    EVENT_LIMIT_CHECKIN: '1000',
    EVENT_LIMIT_SYNC: '1000',
    EVENT_LIMIT_USER_WRITE: '1000',
  })

  test(
    'of walking end with exactly the km of a plain replay, and with every check-in once',
    async () => {
      const startMs = Math.floor((Date.now() - 3 * 3_600_000) / 1_000) * 1_000
      let nowMs = startMs
      let offline = false
      await using phone = await app.newPhone({
        geolocation: { latitude: WALK[0]![0], longitude: WALK[0]![1], accuracy: 8 },
      })
      const { context } = phone
      const fixes = await watchFixes(context)
      // The service's clock is the simulated one, too.
      await context.route('**/api/event/config', async (route) => {
        if (offline) return route.abort()
        const answer = await app.stack.fetch('/api/event/config').catch(() => null)
        if (!answer?.ok) return route.abort()
        const { ok, data } = (await answer.json()) as { ok: true; data: object }
        return route.fulfill({ json: { ok, data: { ...data, as_of: new Date(nowMs).toISOString() } } })
      })
      await context.clock.install({ time: startMs })
      let page: Page = phone.page
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Walker')
      await worksOffline(page)
      const userId = await userIdOf(page)
      await page.getByRole('button', { name: 'Start recording' }).click()
      await context.clock.pauseAt(startMs + 5_000)
      nowMs = startMs + 5_000

      const reopen = async (): Promise<void> => {
        page = await context.newPage()
        await page.goto(app.address('?lang=en'))
        await page.locator('[data-resting]').waitFor()
      }
      const happen: Record<number, () => Promise<unknown>> = {
        45: () => page.reload(),
        // Two windows; the one that records is closed.
        60: async () => {
          const first = page
          await reopen()
          await first.close()
        },
        85: () => page.reload(),
        100: async () => {
          const crashed = page.waitForEvent('crash')
          void page.goto('chrome://crash').catch(() => undefined)
          await crashed
          await page.close()
          await reopen()
        },
        130: () => setStatus(app.stack, { status: 'paused', message: 'Thunder' }),
        145: () => setStatus(app.stack, { status: 'active' }),
        170: () => app.stack.service('tracking').stop('SIGKILL'),
        180: () => app.stack.service('tracking').restart(),
        185: async () => {
          await releaseAgain({ EVENT_NAME: EVENT })
          await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update())
          await page.getByRole('button', { name: 'Use it now' }).click()
          await page.locator('[data-resting]').waitFor()
        },
      }
      for (const [i, [lat, lng, s]] of WALK.entries()) {
        await happen[i]?.()
        if (isDead(i) !== offline) await context.setOffline((offline = isDead(i)))
        const t = Math.max(startMs + 6_000 + s * 1_000, nowMs + 1)
        await context.clock.runFor(t - nowMs)
        nowMs = t
        const before = fixes.length
        await context.setGeolocation({ latitude: lat, longitude: lng, accuracy: 8 })
        await until(
          async () =>
            fixes.slice(before).some((fix) => fix.lat === lat && fix.lng === lng) ||
            (await page.locator('[data-resting=true]').count()) > 0,
          { timeoutMs: 10_000, everyMs: 5, what: `position ${i} of the walk` },
        )
        if (CHECK_INS.has(i)) {
          await checkInButton(page).click()
          await page.locator('[data-state]').waitFor()
          // The next one is another instant.
          await context.clock.runFor(1)
          nowMs++
        }
      }
      await until(
        async () => {
          await context.clock.runFor(5_000)
          nowMs += 5_000
          return (
            (await waitingOf(page)) === 0 && (await profileOf(app.stack, userId)).checkins === CHECK_INS.size
          )
        },
        { timeoutMs: 30_000, everyMs: 50, what: 'everything to be sent' },
      )
      await page.getByRole('button', { name: 'Stop recording' }).click()
      await context.clock.runFor(15_000)

      const own = await dataOf(await post(app.stack, 'me/walk', { user_id: userId }), ownWalkEndpoint)
      // A plain phone sends everything that it sees, when it is over.
      const plain = newPilgrimId()
      for (const { t, lat, lng } of own.checkins)
        await dataOf(await checkIn(app.stack, plain, { lat, lng, timestamp: t }), checkInEndpoint)
      const points = fixes.map(({ t, lat, lng }) => ({ lat, lng, timestamp: t }))
      await dataOf(await syncTrack(app.stack, plain, points), trackSyncEndpoint)
      const [mine, theirs] = [await profileOf(app.stack, userId), await profileOf(app.stack, plain)]
      expect(mine.km).toBeGreaterThan(2)
      expect(mine.km).toBe(theirs.km)
      expect(mine.checkins).toBe(CHECK_INS.size)
      expect(mine.carbon_kg).toBe(theirs.carbon_kg)
      // Few positions of the recording were missed, so the file itself gives nearly the same.
      const file = newPilgrimId()
      const track = WALK.map(([lat, lng, s]) => ({ lat, lng, timestamp: startMs + s * 1_000 }))
      await dataOf(await syncTrack(app.stack, file, track), trackSyncEndpoint)
      const { km } = await profileOf(app.stack, file)
      expect(Math.abs(mine.km - km) / km).toBeLessThan(0.02)
    },
    TEST_MS,
  )
})

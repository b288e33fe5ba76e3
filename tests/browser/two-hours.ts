/**
 * A recorded walk of two hours in simulated time, with dead zones, reloads, a crash, a pause, two windows, a service that
 * is killed and a new release: it ends with exactly the kilometres of a plain replay, and with every check-in once.
 */
import { expect } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import { checkInEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { newPilgrimId, setStatus } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import recorded from './recorded-walk.json'
import { checkInButton, storedOf, waitingOf, type walkApp, worksOffline } from './walk-harness.ts'
import { type Fix, isThrough, takenOn, watchFixes } from './walk-positions.ts'
import { releaseAgain } from './walk-release.ts'

export const TWO_HOURS_MS = 120_000
/** Latitude, longitude, and seconds since the start: the first two hours of a walk in Istria. */
const WALK = recorded as unknown as readonly (readonly [lat: number, lng: number, s: number])[]

/** By the simulated clock the walk begins three hours ago. */
const START_MS = Math.floor((Date.now() - 3 * 3_600_000) / 1_000) * 1_000

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

/** The simulated time, and whether the phone is in a dead zone. */
export interface Surroundings {
  nowMs: () => number
  offline: () => boolean
}

/** What differs between identities. */
export interface Walker {
  /** Called before the app is opened. */
  readonly prepare?: (context: BrowserContext, around: Surroundings) => Promise<void>
  /** The first minute. @returns the pilgrim's id */
  readonly begin: (page: Page) => Promise<string>
  /** Called at each position of the walk. */
  readonly onPosition?: (i: number, page: Page) => Promise<void>
  /** Headers with which a pilgrim's requests prove who they are. */
  readonly proof: (userId: string) => Promise<Record<string, string>>
}

type App = ReturnType<typeof walkApp>

/** Walks. @returns the positions that the browser gave to the app, and whose they are */
async function walk(app: App, walker: Walker): Promise<{ fixes: readonly Fix[]; userId: string }> {
  const startMs = START_MS
  const installedMs = Date.now()
  let nowMs = 0
  let offline = false
  const around: Surroundings = {
    nowMs: () => (nowMs === 0 ? startMs + Date.now() - installedMs : nowMs),
    offline: () => offline,
  }
  await using phone = await app.newPhone({
    geolocation: { latitude: WALK[0]![0], longitude: WALK[0]![1], accuracy: 8 },
  })
  const { context } = phone
  const fixes = await watchFixes(context)
  await walker.prepare?.(context, around)
  // The service's clock is the simulated one, too: the page's own, which runs ahead of this process while it is moved.
  await context.route('**/api/event/config', async (route) => {
    const page = route.request().frame().page()
    const answer = offline ? null : await app.stack.fetch('/api/event/config').catch(() => null)
    const asOfMs = await page.evaluate(() => Date.now()).catch(() => null)
    if (!answer?.ok || asOfMs === null) return route.abort()
    const { ok, data } = (await answer.json()) as { ok: true; data: object }
    return route.fulfill({ json: { ok, data: { ...data, as_of: new Date(asOfMs).toISOString() } } })
  })
  await context.clock.install({ time: startMs })
  let page: Page = phone.page
  await page.goto(app.address('?lang=en'))
  const userId = await walker.begin(page)
  await worksOffline(page)
  await page.getByRole('button', { name: 'Start recording' }).click()
  const pausedMs = (await page.evaluate(() => Date.now())) + 5_000
  await context.clock.pauseAt(pausedMs)
  nowMs = pausedMs

  const reopen = async (): Promise<void> => {
    page = await context.newPage()
    await page.goto(app.address('?lang=en'))
    await page.locator('[data-resting]').waitFor()
  }
  const become = async (status: object) => expect((await setStatus(app.stack, status)).status).toBe(200)
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
    130: () => become({ status: 'paused', message: 'Thunder' }),
    145: () => become({ status: 'active' }),
    170: () => app.stack.service('tracking').stop('SIGKILL'),
    180: () => app.stack.service('tracking').restart(),
    185: async () => {
      await releaseAgain(app.stack)
      await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update())
      await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Use it now' }).click()])
      await page.locator('[data-resting]').waitFor()
    },
  }
  const goOn = async (i: number): Promise<void> => {
    const [lat, lng, s] = WALK[i]!
    await happen[i]?.()
    if (isDead(i) !== offline) await context.setOffline((offline = isDead(i)))
    await walker.onPosition?.(i, page)
    const t = Math.max(startMs + 6_000 + s * 1_000, nowMs + 1)
    await context.clock.runFor(t - nowMs)
    nowMs = t
    const before = fixes.length
    await context.setGeolocation({ latitude: lat, longitude: lng, accuracy: 8 })
    await until(
      async () => {
        const taken = await takenOn(page)
        const isHere = fixes.slice(before).some((fix) => fix.lat === lat && fix.lng === lng)
        return (isHere || taken.rests) && isThrough(taken, fixes.at(-1)!)
      },
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
  for (const i of WALK.keys())
    await goOn(i).catch(async (cause: Error) => {
      const seen = await page
        .evaluate(() => `${location.href} ${document.body.innerText}`)
        .catch((error: Error) => error.message)
      throw new Error(`position ${i}: ${cause.message}; seen: ${seen}`, { cause })
    })
  let said = ''
  await until(
    async () => {
      await context.clock.runFor(5_000)
      nowMs += 5_000
      const waits = await waitingOf(page)
      const { checkins } = await profileOf(app.stack, userId)
      if (waits === 0 && checkins === CHECK_INS.size) return true
      said = `${checkins} check-ins are counted; ${await page.locator('.status').textContent()} ${(await page.locator('[data-waiting]').allTextContents()).join()}`
      return false
    },
    { timeoutMs: 30_000, everyMs: 50, what: 'everything to be sent' },
  ).catch((error: Error) => {
    throw new Error(`${error.message}; ${said}`, { cause: error })
  })
  await page.getByRole('button', { name: 'Stop recording' }).click()
  const isSent = async () => {
    await context.clock.runFor(15_000)
    return (await storedOf(page)) === 0
  }
  await until(isSent, { timeoutMs: 30_000, everyMs: 50, what: 'the last points to be sent' })
  return { fixes, userId }
}

/** Walks for two hours, and expects what a plain phone would have counted that sends everything when it is over. */
export async function walkTwoHours(app: App, walker: Walker): Promise<void> {
  const { fixes, userId } = await walk(app, walker)
  const post = async (path: string, body: { user_id: string; [field: string]: unknown }) =>
    app.stack.fetch(`/api/event/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(await walker.proof(body.user_id)) },
      body: JSON.stringify(body),
    })
  const own = await dataOf(await post('me/walk', { user_id: userId }), ownWalkEndpoint)
  const plain = newPilgrimId()
  for (const { t, lat, lng } of own.checkins)
    await dataOf(await post('checkin', { user_id: plain, lat, lng, timestamp: t }), checkInEndpoint)
  const points = fixes.map(({ t, lat, lng }) => ({ lat, lng, timestamp: t }))
  await dataOf(await post('track/sync', { user_id: plain, points }), trackSyncEndpoint)
  const [mine, theirs] = [await profileOf(app.stack, userId), await profileOf(app.stack, plain)]
  expect(mine.km).toBeGreaterThan(2)
  expect(mine.km).toBe(theirs.km)
  expect(mine.checkins).toBe(CHECK_INS.size)
  expect(mine.carbon_kg).toBe(theirs.carbon_kg)
  // Few positions of the recording were missed, so the file itself gives nearly the same.
  const file = newPilgrimId()
  const track = WALK.map(([lat, lng, s]) => ({ lat, lng, timestamp: START_MS + s * 1_000 }))
  await dataOf(await post('track/sync', { user_id: file, points: track }), trackSyncEndpoint)
  const { km } = await profileOf(app.stack, file)
  expect(Math.abs(mine.km - km) / km).toBeLessThan(0.02)
}

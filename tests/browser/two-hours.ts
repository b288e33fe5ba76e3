/**
 * A recorded walk in simulated time, with dead zones, reloads, a crash, a pause, two windows, a killed
 * service and a new release: it ends with exactly the kilometres of a plain replay, and each check-in once.
 */
import { expect } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import {
  afterCheckIn,
  EMPTY,
  filterFix,
  type FilterState,
} from '#proxy/pages/walk/recording/position-filter.ts'
import { appIdOf, BYTES } from '#shared/core/rules/app-id.ts'
import { isRough } from '#shared/core/rules/geo.ts'
import { ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import { privacyEndpoint, userSyncEndpoint } from '#shared/contracts/profile.ts'
import { checkInEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { newPilgrimId, setStatus } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import recorded from './recorded-walk.json'
import { checkInButton, storedOf, waitingOf, type WalkApp, worksOffline, keptOn } from './walk-harness.ts'
import { releaseAgain } from './walk-release.ts'

/** A position that the phone gave to the app, and what the app did with it. */
interface Fix {
  readonly t: number
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
}

/**
 * Records every position that the browser gave to the app. Each page counts the positions that it still waits
 * for, and records the values changed by a window, which its database may reject.
 */
async function watchFixes(context: BrowserContext): Promise<Fix[]> {
  const fixes: Fix[] = []
  await context.exposeFunction('noteFix', (fix: Fix) => void fixes.push(fix))
  await context.addInitScript(() => {
    const { noteFix } = globalThis as unknown as { noteFix: (fix: Fix) => void }
    const noted =
      (then: PositionCallback): PositionCallback =>
      (position) => {
        const { latitude: lat, longitude: lng, accuracy } = position.coords
        noteFix({ t: Date.now(), lat, lng, accuracy })
        then(position)
      }
    const { geolocation } = navigator
    const watch = geolocation.watchPosition.bind(geolocation)
    const once = geolocation.getCurrentPosition.bind(geolocation)
    const heard: Record<string, unknown> = {}
    const page = Object.assign(globalThis, { asked: 0, heard })
    new BroadcastChannel('walk-values').addEventListener('message', ({ data }: MessageEvent) =>
      Object.assign(heard, Object.fromEntries(data as [string, unknown][])),
    )
    const answered =
      <Given>(then: ((given: Given) => void) | null | undefined) =>
      (given: Given): void => {
        page.asked--
        then?.(given)
      }
    geolocation.watchPosition = (then, ...more) => watch(noted(then), ...more)
    geolocation.getCurrentPosition = (then, failed, options) => {
      page.asked++
      once(answered(noted(then)), answered(failed), options)
    }
  })
  return fixes
}

/** How far the phone has processed the positions. */
interface Taken {
  /** Time of the last position that it took. */
  readonly lastMs: number
  /** State of its filter after the last stored position. */
  readonly filter: FilterState
  /** Whether it is resting and asks every 30 s. */
  readonly rests: boolean
  /** Whether it waits for a requested position. */
  readonly asks: boolean
}

/** The last value of the app under a name, stored or about to be. */
const lastValue = async <T>(page: Page, name: string): Promise<T | undefined> =>
  (await page.evaluate(
    (name) => (globalThis as unknown as { heard: Record<string, T> }).heard[name],
    `walk-${name}`,
  )) ?? keptOn<T>(page, name)

/** @param page any window of the phone */
async function takenOn(page: Page): Promise<Taken> {
  const windows = await Promise.all(
    page
      .context()
      .pages()
      .map((one) =>
        one.evaluate(() => ({
          rests: document.querySelector('[data-resting=true]') !== null,
          asks: (globalThis as unknown as { asked: number }).asked > 0,
        })),
      ),
  )
  return {
    lastMs: (await lastValue<{ lastMs?: number }>(page, 'pauses'))?.lastMs ?? 0,
    filter: (await lastValue<FilterState>(page, 'filter')) ?? EMPTY,
    // One of them records.
    rests: windows.some(({ rests }) => rests),
    asks: windows.some(({ asks }) => asks),
  }
}

const whole = (fix: Fix) => ({ ...fix, altitude: null, speed: null })

/**
 * Whether the phone has processed a position: it is stored or skipped. A page that ends earlier may lose it,
 * and the number of positions missed at rest would depend on the machine's load.
 */
const isThrough = ({ lastMs, filter, asks }: Taken, fix: Fix): boolean =>
  !asks && lastMs >= fix.t && filterFix(filter, whole(fix)).record.length === 0

export const TWO_HOURS_MS = 120_000
/** Accuracy of positions with a signal, metres. */
export const GOOD_M = 8

type Position = readonly [lat: number, lng: number, s: number]
/** Latitude, longitude, and seconds since the start: the first two hours of a walk in Istria. */
export const WALK = recorded as unknown as readonly Position[]

/** Whole seconds, this many hours ago. */
export const hoursAgo = (hours: number): number =>
  Math.floor((Date.now() - hours * 3_600_000) / 1_000) * 1_000

/** A walking pilgrim's phone. */
export interface WalkingPhone {
  readonly app: WalkApp
  readonly context: BrowserContext
  /** The current pilgrim. */
  userId: string
  /** The page in the foreground. */
  page: Page
  /** Opens the app in another page, which becomes the foreground page. */
  readonly reopen: () => Promise<void>
}

/** A walk and the events on the way. */
export interface Day {
  readonly positions: readonly Position[]
  /** The start by the simulated clock. */
  readonly startMs: number
  /** Number of open windows of the app. Default: 1. */
  readonly windows?: number
  /** Before this position the phone takes over another pilgrim's walk. */
  readonly takenOverAt?: number
  /** The positions at which the pilgrim checks in. */
  readonly checkIns: ReadonlySet<number>
  readonly isDead: (i: number) => boolean
  /** Accuracy of a position, in metres. Null: the app gets none, or cannot store it. */
  readonly accuracy: (i: number) => number | null
  /** Called before a position. */
  readonly happen: (i: number, phone: WalkingPhone) => Promise<unknown>
}

const DEAD_ZONES = [
  [20, 35],
  [50, 58],
  [80, 95],
  [112, 125],
  [150, 165],
  [195, 205],
] as const

const become = async ({ stack }: WalkApp, status: object): Promise<void> =>
  expect((await setStatus(stack, status)).status).toBe(200)

/** Events that may happen to a phone and to the service. */
export const EVENTS = {
  /** The app is open before time continues, because its timeout for the database uses simulated time. */
  async reload({ page }) {
    await page.reload()
    await page.locator('[data-resting]').waitFor()
  },
  /** With two windows, the recording one is closed. */
  async anotherWindow(phone) {
    const first = phone.page
    await phone.reopen()
    await first.close()
  },
  async crash(phone) {
    const { page } = phone
    const crashed = page.waitForEvent('crash')
    void page.goto('chrome://crash').catch(() => undefined)
    await crashed
    await page.close()
    await phone.reopen()
  },
  pause: ({ app }) => become(app, { status: 'paused', message: 'Thunder' }),
  resume: ({ app }) => become(app, { status: 'active' }),
  killTracking: ({ app }) => app.stack.service('tracking').stop('SIGKILL'),
  restartTracking: ({ app }) => app.stack.service('tracking').restart(),
  async release({ app, page }) {
    await releaseAgain(app.stack)
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update())
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Use it now' }).click()])
    await page.locator('[data-resting]').waitFor()
  },
} satisfies Record<string, (phone: WalkingPhone) => Promise<unknown>>

const HAPPENING: Readonly<Record<number, keyof typeof EVENTS>> = {
  45: 'reload',
  60: 'anotherWindow',
  85: 'reload',
  100: 'crash',
  130: 'pause',
  145: 'resume',
  170: 'killTracking',
  180: 'restartTracking',
  185: 'release',
}

const TWO_HOURS: Day = {
  positions: WALK,
  startMs: hoursAgo(3),
  checkIns: new Set([5, 25, 40, 70, 90, 135, 160, 175, 187, 225]),
  isDead: (i) => DEAD_ZONES.some(([from, to]) => i >= from && i < to),
  accuracy: () => GOOD_M,
  happen: async (i, phone) => {
    const name = HAPPENING[i]
    if (name !== undefined) await EVENTS[name](phone)
  },
}

/** The simulated time, and whether the phone is in a dead zone. */
export interface Surroundings {
  nowMs: () => number
  offline: () => boolean
}

/** Parts that depend on the identity setting. */
export interface Walker {
  /** Called before the app is opened. */
  readonly prepare?: (context: BrowserContext, around: Surroundings) => Promise<void>
  /** Registers. @returns the pilgrim's id */
  readonly begin: (page: Page) => Promise<string>
  /** Called at each position of the walk. */
  readonly onPosition?: (i: number, page: Page) => Promise<void>
  /** Headers that authenticate a pilgrim's requests. */
  readonly proof: (userId: string) => Promise<Record<string, string>>
}

/** A time without positions, from the app's own log. */
interface Gap {
  readonly cause: string
  readonly from: number
  readonly to: number
}

/** Positions given to the recorder, gaps that the app reports, and the walk's owner. */
interface Walked {
  readonly fixes: readonly Fix[]
  readonly gaps: readonly Gap[]
  readonly userId: string
  readonly checkIns: number
}

/**
 * Takes over the walk of a new pilgrim and continues recording.
 * @returns the new pilgrim, and how far simulated time advanced
 */
async function takeOver({ app, page, context }: WalkingPhone): Promise<{ userId: string; movedMs: number }> {
  const userId = appIdOf(crypto.getRandomValues(new Uint8Array(BYTES)))
  const { privacyVersion: version } = (await keptOn<{ privacyVersion: string }>(page, 'person'))!
  const named = await post(app.stack, 'user/sync', { user_id: userId, display_name: 'Second' })
  await dataOf(named, userSyncEndpoint)
  const agreed = await post(app.stack, 'privacy', { user_id: userId, agreed: true, version })
  await dataOf(agreed, privacyEndpoint)
  await page.evaluate((id) => (location.hash = `restore=${id}`), userId)
  let movedMs = 0
  const isTaken = async () => {
    await context.clock.runFor(1_000)
    movedMs += 1_000
    // Pending data of the previous walk are sent first.
    for (const name of ['Yes, that is me', 'Send now']) {
      const button = page.getByRole('button', { name })
      if (await button.isVisible()) await button.click()
    }
    return (await keptOn<{ userId: string }>(page, 'person'))!.userId === userId
  }
  await until(isTaken, 'the walk to be taken over', { timeoutMs: 30_000, everyMs: 50 })
  await page.getByRole('button', { name: 'Start recording' }).click()
  await page.locator('[data-resting]').waitFor()
  return { userId, movedMs }
}

/** Interval at which a phone repeats its position; the browser reports it once. */
const STEP_MS = 30_000

async function walk(app: WalkApp, walker: Walker, day: Day): Promise<Walked[]> {
  const { positions, startMs, checkIns, isDead, windows = 1, takenOverAt = Infinity } = day
  const installedMs = Date.now()
  let nowMs = 0
  let offline = false
  const around: Surroundings = {
    nowMs: () => (nowMs === 0 ? startMs + Date.now() - installedMs : nowMs),
    offline: () => offline,
  }
  const placeOf = ([latitude, longitude]: Position, accuracy: number) => ({ latitude, longitude, accuracy })
  await using opened = await app.newPhone({ geolocation: placeOf(positions[0]!, 8) })
  const { context } = opened
  const fixes = await watchFixes(context)
  /** Positions of check-ins, which the recorder does not get. */
  const ofCheckIns = new Set<Fix>()
  await walker.prepare?.(context, around)
  // The service's clock is simulated too: the page's own, which runs ahead of this process while it is
  // advanced.
  await context.route('**/api/event/config', async (route) => {
    const page = route.request().frame().page()
    const answer = offline ? null : await app.stack.fetch('/api/event/config').catch(() => null)
    const asOfMs = await page.evaluate(() => Date.now()).catch(() => null)
    if (!answer?.ok || asOfMs === null) return route.abort()
    const { ok, data } = (await answer.json()) as { ok: true; data: object }
    return route.fulfill({ json: { ok, data: { ...data, as_of: new Date(asOfMs).toISOString() } } })
  })
  await context.clock.install({ time: startMs })
  await opened.page.goto(app.address('?lang=en'))
  const userId = await walker.begin(opened.page)
  await worksOffline(opened.page)
  await opened.page.getByRole('button', { name: 'Start recording' }).click()
  await opened.page.locator('[data-resting]').waitFor()
  for (let n = 1; n < windows; n++) {
    const further = await context.newPage()
    await further.goto(app.address('?lang=en'))
    await further.getByText('Another window records your walk.').waitFor()
  }
  const pausedMs = (await opened.page.evaluate(() => Date.now())) + 5_000
  await context.clock.pauseAt(pausedMs)
  nowMs = pausedMs

  const phone: WalkingPhone = {
    app,
    context,
    userId,
    page: opened.page,
    async reopen() {
      phone.page = await context.newPage()
      await phone.page.goto(app.address('?lang=en'))
      await phone.page.locator('[data-resting]').waitFor()
    },
  }
  /** The phone gives a position, and waits until the app has processed it. */
  const beAt = async (i: number): Promise<void> => {
    const accuracy = day.accuracy(i)
    if (accuracy === null) return
    const [lat, lng] = positions[i]!
    const before = fixes.length
    await context.setGeolocation(placeOf(positions[i]!, accuracy))
    const isHere = () => fixes.slice(before).some((fix) => fix.lat === lat && fix.lng === lng)
    const isTaken = async () => {
      const taken = await takenOn(phone.page)
      if (!isHere() && !taken.rests) return false
      const last = fixes.findLast((fix) => !isRough(fix) && !ofCheckIns.has(fix))!
      return isRough({ lat, lng, accuracy }) || isThrough(taken, last)
    }
    await until(isTaken, `position ${i} of the walk`, { everyMs: 5 })
  }
  const parts: Walked[] = []
  /** Ends the current pilgrim's part. */
  const endPart = async (from: number, before: number): Promise<void> => {
    const { pauses: gaps } = (await lastValue<{ pauses: Gap[] }>(phone.page, 'pauses'))!
    const sum = parts.reduce((all, part) => all + part.fixes.length, 0)
    const own = fixes.filter((fix) => !ofCheckIns.has(fix)).slice(sum)
    const made = [...checkIns].filter((i) => i >= from && i < before)
    parts.push({ fixes: own, gaps, userId: phone.userId, checkIns: made.length })
  }
  const checkIn = async (): Promise<void> => {
    const given = fixes.length
    await checkInButton(phone.page).click()
    await phone.page.locator('[data-state]').waitFor()
    for (const fix of fixes.slice(given)) ofCheckIns.add(fix)
    // The next one gets another instant.
    await context.clock.runFor(1)
    nowMs++
  }
  const goOn = async (i: number): Promise<void> => {
    const [, , s] = positions[i]!
    const t = Math.max(startMs + 6_000 + s * 1_000, nowMs + 1)
    while (t - nowMs > STEP_MS) {
      await context.clock.runFor(STEP_MS)
      nowMs += STEP_MS
      await beAt(i - 1)
    }
    await day.happen(i, phone)
    if (i === takenOverAt) {
      await endPart(0, i)
      const { userId: taken, movedMs } = await takeOver(phone)
      phone.userId = taken
      nowMs += movedMs
    }
    if (isDead(i) !== offline) await context.setOffline((offline = isDead(i)))
    await walker.onPosition?.(i, phone.page)
    await context.clock.runFor(Math.max(0, t - nowMs))
    nowMs = Math.max(t, nowMs)
    await beAt(i)
    if (checkIns.has(i)) await checkIn()
  }
  for (const i of positions.keys())
    await goOn(i).catch(async (cause: Error) => {
      const windows = context
        .pages()
        .map((page) =>
          page
            .evaluate(() => `${location.href} ${document.body.innerText.replaceAll(/\s+/g, ' ')}`)
            .catch((error: Error) => error.message),
        )
      const seen = (await Promise.all(windows)).join('; ')
      throw new Error(`position ${i}: ${cause.message}; seen: ${seen}`, { cause })
    })
  const { page } = phone
  const own = [...checkIns].filter((i) => takenOverAt === Infinity || i >= takenOverAt)
  let screenText = ''
  await until(
    async () => {
      await context.clock.runFor(5_000)
      nowMs += 5_000
      const waits = await waitingOf(page)
      const { checkins } = await profileOf(app.stack, phone.userId)
      if (waits === 0 && checkins === own.length) return true
      screenText = `${checkins} check-ins are counted; ${await page.locator('.status').textContent()} ${(await page.locator('[data-waiting]').allTextContents()).join()}`
      return false
    },
    'everything to be sent',
    { timeoutMs: 30_000, everyMs: 50 },
  ).catch((error: Error) => {
    throw new Error(`${error.message}; ${screenText}`, { cause: error })
  })
  await page.getByRole('button', { name: 'Stop recording' }).click()
  const isSent = async () => {
    await context.clock.runFor(15_000)
    return (await storedOf(page)) === 0
  }
  await until(isSent, 'the last points to be sent', { timeoutMs: 30_000, everyMs: 50 })
  await endPart(takenOverAt === Infinity ? 0 : takenOverAt, Infinity)
  return parts
}

/**
 * Walks, and expects the figures of a plain phone that sends the same positions afterwards, without rough
 * ones and without the gaps that the app reports.
 */
export async function walkAndCompare(app: WalkApp, walker: Walker, day: Day): Promise<readonly Walked[]> {
  const parts = await walk(app, walker, day)
  for (const part of parts) await compare(app, walker, part)
  return parts
}

async function compare(app: WalkApp, walker: Walker, { fixes, gaps, userId, checkIns: made }: Walked) {
  const ask = async (path: string, body: { user_id: string; [field: string]: unknown }) =>
    app.stack.fetch(`/api/event/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(await walker.proof(body.user_id)) },
      body: JSON.stringify(body),
    })
  const own = await dataOf(await ask('me/walk', { user_id: userId }), ownWalkEndpoint)
  const plain = newPilgrimId()
  for (const { t, lat, lng } of own.checkins)
    await dataOf(await ask('checkin', { user_id: plain, lat, lng, timestamp: t }), checkInEndpoint)
  const recorded = fixes.filter(
    (fix) => !isRough(fix) && !gaps.some(({ from, to }) => fix.t > from && fix.t < to),
  )
  // A new watch gets the last position, and the next one in the same millisecond: the first one counts.
  const once = recorded.filter(({ t }, n) => recorded.findIndex((fix) => fix.t === t) === n)
  const checkIns = own.checkins.map(({ t, lat, lng }) => ({ t: Date.parse(t), lat, lng, accuracy: GOOD_M }))
  const points = plainlyRecorded(once, checkIns).map(({ t, lat, lng }) => ({ lat, lng, timestamp: t }))
  await dataOf(await ask('track/sync', { user_id: plain, points }), trackSyncEndpoint)
  const [mine, theirs] = [await profileOf(app.stack, userId), await profileOf(app.stack, plain)]
  expect(mine.km).toBeGreaterThan(0.1)
  expect(mine.km).toBe(theirs.km)
  expect(mine.checkins).toBe(made)
  expect(mine.carbon_kg).toBe(theirs.carbon_kg)
}

/** Positions that the filter keeps on a phone without any events. */
function plainlyRecorded(fixes: readonly Fix[], checkIns: readonly Fix[]): readonly Fix[] {
  let state = EMPTY
  return [...fixes, ...checkIns]
    .sort((a, b) => a.t - b.t)
    .flatMap((fix) => {
      if (checkIns.includes(fix)) {
        state = afterCheckIn(state, fix)
        return []
      }
      const next = filterFix(state, whole(fix))
      state = next.state
      return next.record
    })
}

/** Walks for two hours. */
export async function walkTwoHours(app: WalkApp, walker: Walker): Promise<void> {
  const [{ userId }] = (await walkAndCompare(app, walker, TWO_HOURS)) as [Walked]
  // Few positions of the recording were missed, so the file itself gives nearly the same result.
  const file = newPilgrimId()
  const points = WALK.map(([lat, lng, s]) => ({ lat, lng, timestamp: TWO_HOURS.startMs + s * 1_000 }))
  const sent = await app.stack.fetch('/api/event/track/sync', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(await walker.proof(file)) },
    body: JSON.stringify({ user_id: file, points }),
  })
  await dataOf(sent, trackSyncEndpoint)
  const [{ km: mine }, { km }] = [await profileOf(app.stack, userId), await profileOf(app.stack, file)]
  expect(Math.abs(mine - km) / km).toBeLessThan(0.02)
}

/**
 * Each page in each state of an event, from an unconfigured installation to its end: the required sentence,
 * and sentences that would be untrue. With `SCREENSHOTS` each cell of the table becomes a picture.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { eventSettingsEndpoint } from '#shared/contracts/event-settings.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import {
  callAs,
  checkIn,
  endActivity,
  flushed,
  newAppId,
  setStatus,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { BROWSER_TIMEOUT_MS, type OpenPage, type Page, photograph } from './browser.ts'
import { consoleBrowser } from './console-harness.ts'
import { shiftClock } from './map-page.ts'
import { firstMinute, userIdOf } from './walk-harness.ts'

/** The small phone uses Chinese, the others English. */
const PAUSE = { 'zh-Hant': '請在廟裡等候。', en: 'Wait at the temple.' }
const PHONE = { width: 390, height: 844 }
/** An old phone. */
const SMALL = { width: 360, height: 640 }
const WALL = { width: 1_920, height: 1_080 }
const HOUR_MS = 3_600_000
const TEST_MS = 240_000

const PAGES = ['map', 'small', 'screen', 'link', 'app', 'newcomer', 'console'] as const
type PageName = (typeof PAGES)[number]

/** Texts that a cell must and must not contain. */
interface Cell {
  readonly says: RegExp
  readonly never?: RegExp
  /** Text that must be visible without scrolling. */
  readonly inSight?: string
}
/** A page that cannot be in the state has no cell. */
type Row = Partial<Readonly<Record<PageName, Cell>>>

const TABLE = {
  'not set up': {
    map: { says: /Not started/, never: /Under way|Nobody/ },
    screen: { says: /Not started/, never: /Under way|Nobody/ },
    newcomer: { says: /Your name/ },
    console: { says: /Not started/, never: /\bActive\b/ },
  },
  'before the start': {
    map: { says: /Begins on/, never: /Under way|Nobody/ },
    screen: { says: /Begins on/, never: /Under way|Nobody/ },
    newcomer: { says: /Your name/ },
    console: { says: /Not started/, never: /\bActive\b/ },
  },
  'nobody yet': {
    map: { says: /Nobody is on the map yet/ },
    screen: { says: /Nobody is on the map yet/ },
    app: { says: /Check in/ },
    console: { says: /need 5 people at one place/ },
  },
  'a link without a place': {
    link: {
      says: /No place of Grandmother Wang yet[^]*next check-in/,
      never: /is walking|No position|Level/,
    },
  },
  'one person': {
    map: { says: /Only places with 5 people or more/ },
    screen: { says: /Only places with 5 people or more/ },
    link: { says: /Where now/, never: /No position/ },
    app: { says: /1 check-in/ },
    console: { says: /last hour\s+1/, never: /Nobody yet/ },
  },
  'crowd at rest': {
    map: { says: /resting/i, never: /about \d/ },
    small: { says: /下一站/, inSight: '.next-arrival .below' },
    screen: { says: /South Gate|Old Bridge/ },
    console: { says: /Resting/ },
  },
  paused: {
    map: { says: /Paused[^]*Wait at the temple[^]*paused/ },
    small: { says: /請在廟裡等候/, inSight: '.message' },
    screen: { says: /Paused[^]*Wait at the temple/ },
    link: { says: /Wait at the temple[^]*paused/ },
    app: { says: /Wait at the temple[^]*saved on the phone/ },
    newcomer: { says: /Wait at the temple/ },
    console: { says: /Paused/ },
  },
  offline: {
    map: { says: /Under way/, never: /Paused/ },
    app: { says: /Check in/ },
  },
  'old data': {
    map: { says: /No connection[^]*As of/, never: /Next station|km\/h/ },
    screen: { says: /No connection[^]*As of/, never: /Next station/ },
    console: { says: /No answer/ },
  },
  ended: {
    map: { says: /Ended[^]*Thank you[^]*\d+ km/, never: /on the map|Walk along|Next station|Front|to go/ },
    screen: { says: /Ended[^]*\d+ km[^]*Thank you/, never: /on the map|Front|Follow on/ },
    link: { says: /ended/i, never: /Where now|Where is/ },
    app: { says: /Thank you[^]*Save[^]*Share/, never: /Check in\b|Where is/ },
    newcomer: { says: /ended/, never: /Your name|I agree/ },
    console: { says: /Ended/, never: /Nobody yet/ },
  },
} satisfies Record<string, Row>
type State = keyof typeof TABLE

let stack: TestStack
/** Phone of the only pilgrim. */
let phone: OpenPage | undefined
let link = ''
// Before the browser's own, which would close the phone's page first.
afterAll(async () => {
  await phone?.[Symbol.asyncDispose]()
  await stack?.close()
})
const browser = consoleBrowser()

beforeAll(async () => {
  stack = await openEmbeddedTestStack({ EVENT_MAP_CROWD: '5' })
}, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)

const ADDRESSES: Readonly<Record<Exclude<PageName, 'console' | 'app'>, () => string>> = {
  map: () => '/?lang=en',
  small: () => '/?lang=zh-Hant',
  screen: () => '/?screen&lang=en',
  link: () => `/s/${link}?lang=en`,
  newcomer: () => '/walk/?lang=en',
}

async function openPage(name: PageName): Promise<OpenPage> {
  const expected = /favicon|ERR_|Failed to fetch|410/
  if (name === 'console') return browser.console(stack, { expected })
  if (name === 'app') return phone!
  return browser.open(stack, {
    path: ADDRESSES[name](),
    locale: 'en-GB',
    viewport: name === 'screen' ? WALL : name === 'small' ? SMALL : PHONE,
    expected,
  })
}

async function drawn(state: State, act?: (page: Page) => Promise<unknown>): Promise<void> {
  const faults: string[] = []
  for (const name of PAGES) {
    const cell: Cell | undefined = (TABLE[state] as Row)[name]
    if (cell === undefined) continue
    const opened = await openPage(name)
    const { page } = opened
    if (name === 'app') await page.reload()
    await act?.(page)
    const text = () => page.locator('body').innerText()
    const says = await until(async () => cell.says.test(await text()), 'the sentence', {
      // A page of a link may come from a cache, and reads again after 30 s.
      timeoutMs: 45_000,
    }).then(
      () => true,
      () => false,
    )
    await photograph(page, `state-${state.replaceAll(' ', '-')}-${name}`)
    const shown = await text()
    if (!says) faults.push(`${name} does not say ${cell.says.source}:\n${shown}`)
    const untrue = cell.never?.exec(shown)
    if (cell.inSight !== undefined) {
      const box = await page.locator(cell.inSight).boundingBox()
      const bottom = page.viewportSize()!.height
      if (box === null || box.y + box.height > bottom) faults.push(`${name} cuts ${cell.inSight}`)
    }
    if (untrue) faults.push(`${name} says “${untrue[0]}”:\n${shown}`)
    if (name !== 'app') await opened[Symbol.asyncDispose]()
  }
  expect(faults.join('\n\n')).toBe('')
}

let version = 0
async function setPart(part: 'name' | 'route', value: object): Promise<void> {
  const answer = await callAs(stack, 'owner', 'PUT', `admin/settings/${part}`, { ...value, version })
  ;({ version } = await dataOf(answer, eventSettingsEndpoint))
}
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString()
const setStart = (hours: number): Promise<void> =>
  setPart('name', {
    names: { en: 'Lantern Walk', 'zh-Hant': '提燈行' },
    starts_at: inHours(hours),
    ends_at: inHours(96),
  })

const SOUTH = { lat: 24.15, lng: 120.67 }
/** 8.9 km northward. */
const ROUTE = {
  lines: [[2_415_000, 12_067_000, 8_000, 0]],
  margin_km: null,
  stations: [
    { ...SOUTH, names: { en: 'South Gate', 'zh-Hant': '南門' }, km: null, planned_at: null },
    { lat: 24.19, lng: 120.67, names: { en: 'Old Bridge', 'zh-Hant': '舊橋' }, km: null, planned_at: null },
    { lat: 24.23, lng: 120.67, names: { en: 'North Gate', 'zh-Hant': '北門' }, km: null, planned_at: null },
  ],
}
/** Half an hour of walking, up to now. */
const walkedBy = (userId: string) =>
  syncTrack(
    stack,
    userId,
    Array.from({ length: 30 }, (_, i) => ({
      lat: SOUTH.lat + i * 0.0006,
      lng: SOUTH.lng,
      timestamp: Date.now() - (30 - i) * 60_000,
    })),
  )

/** Responses of the map with these fields. */
const mapWith = (fields: object) => (page: Page) =>
  page.route(/\/api\/event\/(?:map|admin\/overview)/, async (route) => {
    const answer = await route.fetch()
    const { data, ...rest } = (await answer.json()) as { data: object }
    await route.fulfill({ response: answer, json: { ...rest, data: { ...data, ...fields } } })
  })

const STAGES: Readonly<
  Record<State, { before?: () => Promise<unknown>; act?: (page: Page) => Promise<unknown> }>
> = {
  'not set up': {},
  'before the start': { before: () => setStart(48).then(() => setPart('route', ROUTE)) },
  'nobody yet': {
    async before() {
      await setStart(-1)
      phone = await browser.open(stack, {
        path: '/walk/?lang=en',
        locale: 'en-GB',
        viewport: PHONE,
        permissions: ['geolocation'],
        geolocation: { latitude: SOUTH.lat, longitude: SOUTH.lng, accuracy: 8 },
        expected: /favicon|ERR_|Failed to fetch/,
      })
      await firstMinute(phone.page, 'Grandmother Wang')
    },
  },
  'a link without a place': {
    async before() {
      const made = await post(stack, 'shares', {
        user_id: await userIdOf(phone!.page),
        live_hours: 8,
        show_name: true,
      })
      link = (await dataOf(made, createShareEndpoint)).id
    },
  },
  'one person': {
    async before() {
      const userId = await userIdOf(phone!.page)
      await walkedBy(userId)
      await checkIn(stack, userId)
      await flushed(stack)
    },
  },
  'crowd at rest': {
    async before() {
      for (let i = 0; i < 8; i++) {
        const userId = newAppId()
        await walkedBy(userId)
        await checkIn(stack, userId, { lat: 24.1668 })
      }
      await flushed(stack)
    },
    act: mapWith({ speed_kmh: 0 }),
  },
  paused: { before: () => setStatus(stack, { status: 'paused', messages: PAUSE }) },
  offline: {
    before: () => setStatus(stack, { status: 'active' }),
    async act(page) {
      // The response with the pause may be some seconds old.
      await page.locator('.badge.good, .check-in').first().waitFor()
      await page.evaluate(async () => void (await navigator.serviceWorker.ready))
      await page.evaluate(() => dispatchEvent(new Event('pagehide')))
      await page.context().setOffline(true)
      await page.reload()
    },
  },
  'old data': {
    async act(page) {
      await page.locator('.title, .screen-head, .console').first().waitFor()
      await page.waitForTimeout(2_000)
      await page.context().setOffline(true)
      await shiftClock(page, 10 * 60_000)
    },
  },
  ended: {
    async before() {
      await phone!.page.context().setOffline(false)
      await endActivity(stack)
      await flushed(stack)
    },
  },
}

test.each(Object.keys(TABLE) as State[])(
  '%s',
  async (state) => {
    const { before, act } = STAGES[state]
    await before?.()
    await drawn(state, act)
  },
  TEST_MS,
)

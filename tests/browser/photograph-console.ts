/** `bun run console:photographs`: takes pictures of every view of a running console. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Browser, Page, Route } from 'playwright-core'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { launchBrowser } from './launch-browser.ts'
import { openView, signIn, type View, VIEWS } from './console-tour.ts'

/** Charts and maps are drawn after their data arrive. */
const SETTLE_MS = 1_200

type Detail = readonly [name: string, open: (page: Page) => Promise<unknown>]

const segment = (page: Page, index: number) => page.locator('.person .segments button').nth(index).click()

/** Details opened within a view, one after the other. */
const DETAILS: Partial<Readonly<Record<View, readonly Detail[]>>> = {
  now: [['palette', (page) => page.keyboard.press('Control+k')]],
  people: [
    [
      'figures',
      async (page) => {
        await page.locator('.name-button').nth(1).click()
        await page.locator('.person .level-line').waitFor()
      },
    ],
    [
      'points',
      async (page) => {
        await segment(page, 1)
        await page.locator('.point-time').first().waitFor()
        // Shortly after midnight the latest day is nearly empty.
        const days = page.locator('.person .panel select')
        if ((await days.locator('option').count()) > 1) await days.selectOption({ index: 1 })
        await page.waitForTimeout(SETTLE_MS)
        await page.locator('.point-time').last().click()
      },
    ],
    ['messages', (page) => segment(page, 2)],
    ['about', (page) => segment(page, 3)],
    ['erase', (page) => page.locator('.person-actions .button.danger').first().click()],
  ],
  reports: [
    [
      'brushed',
      async (page) => {
        const box = (await page.locator('.time-chart .u-over').boundingBox())!
        await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2)
        await page.mouse.down()
        await page.mouse.move(box.x + box.width * 0.99, box.y + box.height / 2, { steps: 4 })
        await page.mouse.up()
      },
    ],
    [
      'slider',
      async (page) => {
        const slider = page.locator('.procession-over-time input[type="range"]')
        await slider.scrollIntoViewIfNeeded()
        for (let hour = 0; hour < 4; hour++) await slider.press('ArrowLeft')
      },
    ],
  ],
  feedback: [['item', (page) => page.locator('.feedback-card').first().click()]],
  messages: [
    [
      'counted',
      async (page) => {
        await page.locator('.compose textarea').fill('07:00 從通霄出發。雨勢轉大，請穿雨衣，慢慢走。')
        await page.locator('.compose .button.primary').first().click()
        await page.locator('output.count').waitFor()
      },
    ],
  ],
  lifecycle: [
    ['pause', (page) => page.locator('.panel.pause .button.primary').first().click()],
    [
      'end',
      async (page) => {
        await page.locator('.end-event .button').first().click()
        await page.locator('.steps li').first().waitFor()
      },
    ],
  ],
}

/** Dialogs, which would cover the next picture. */
const CLOSED: ReadonlySet<string> = new Set(['palette', 'erase', 'counted', 'pause', 'end'])

/** Passes a request on and modifies the data of its response. */
const altered = (change: (data: Record<string, unknown>) => object) => async (route: Route) => {
  const response = await route.fetch()
  const { data, ...rest } = (await response.json()) as { data: Record<string, unknown> }
  await route.fulfill({ response, json: { ...rest, data: { ...data, ...change(data) } } })
}

const sentence = (zhHant: string, en: string) => ({ 'zh-Hant': zhHant, en })

const INCIDENT = {
  incident: { opened_at: new Date(Date.now() - 9 * 60_000).toISOString(), alerts: 2 },
  causes: [
    {
      key: 'flush',
      failure: true,
      text: sentence('已有 34 分鐘沒有完成寫入', 'No flush has been completed for 34 minutes'),
      what_to_do: sentence(
        '看資料庫是否有回應，再按「立即寫入」。位置都還在緩衝區裡。',
        'See whether the database answers, then press "Flush now". All points are still in the buffer.',
      ),
    },
    {
      key: 'quota',
      failure: false,
      text: sentence('LINE 額度已用掉 94 %', '94 % of LINE’s messages are used'),
      what_to_do: sentence(
        '少發全體訊息，或向 LINE 加購。',
        'Write to everybody less often, or buy more from LINE.',
      ),
    },
  ],
}

const ENDED = {
  status: 'ended',
  message: null,
  ending: { flush: 'done', cards: { done: 31_248, total: 50_000 }, summary: 'waiting' },
}

/** Reopens a view, still signed in. */
async function openAnew(page: Page, view: View): Promise<void> {
  await page.reload()
  await page.locator('.console').waitFor()
  await openView(page, view)
}

/** Each is opened after the previous one was undone. */
const STATES: readonly Detail[] = [
  [
    'incident',
    async (page) => {
      await page.route(
        '**/admin/condition*',
        altered(() => INCIDENT),
      )
      await openAnew(page, 'now')
      await page.locator('.cause').first().waitFor()
    },
  ],
  [
    'lost',
    async (page) => {
      await openAnew(page, 'now')
      await page.context().setOffline(true)
      await page.locator('.bar-across.lost').waitFor()
    },
  ],
  [
    'waits',
    async (page) => {
      await openAnew(page, 'now')
      await page.route('**/admin/users*', (route) =>
        route.fulfill({
          status: 429,
          headers: { 'Retry-After': '42' },
          json: { ok: false, error: { code: 'RATE_LIMITED', message: 'Too many calls.' } },
        }),
      )
      await page.locator('.navigation a[href="#/people"]').click()
      await page.locator('.bar-across.waits').waitFor()
    },
  ],
  [
    'ending',
    async (page) => {
      await page.route('**/admin/stream*', (route) => route.abort())
      await page.route(
        '**/admin/status*',
        altered(() => ENDED),
      )
      await page.reload()
      await page.locator('.navigation a[href="#/lifecycle"]').click()
      await page.locator('.end-progress progress').first().waitFor()
    },
  ],
  [
    'print',
    async (page) => {
      await openAnew(page, 'reports')
      await page.emulateMedia({ media: 'print' })
    },
  ],
]

const USAGE = `Photographs every view of a running console: light and dark, on a phone, a desk and a wall.

  bun run console:photographs --token <token> [--url https://localhost:8443] [--to ./data/photographs]
                              [--widths 390,1440,3840] [--themes light,dark] [--languages zh-Hant,en]
                              [--views now,people,…] [--no-states] [--help]

An owner's token sees everything. "bun run demo" makes a service to photograph; give it EVENT_ADMIN_TOKEN, and
EVENT_LIMIT_ADMIN=1000, because a tour asks more than 30 times a minute.
A picture whose name ends in -whole shows a view with everything below. After the views come the states of the page
that a healthy service does not show: an incident, a lost connection, used-up calls, the end. Their answers are altered
on their way to the page; nothing is changed in the service.`

/** Heights for special widths; other widths get a desktop height. */
const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 3_840: 2_160 }
const DESK_HEIGHT = 900
const MOST_HIGH = 6_000

interface Shot {
  readonly url: string
  readonly token: string
  readonly width: number
  readonly theme: string
  readonly language: string
  readonly views: readonly View[]
  readonly to: string
  readonly states: boolean
}

async function main(): Promise<void> {
  const { values } = readCommandLine(USAGE, {
    url: { type: 'string', default: 'https://localhost:8443' },
    token: { type: 'string', default: '' },
    to: { type: 'string', default: './data/photographs' },
    widths: { type: 'string', default: '390,1440,3840' },
    themes: { type: 'string', default: 'light,dark' },
    languages: { type: 'string', default: 'zh-Hant,en' },
    views: { type: 'string', default: VIEWS.join() },
    'no-states': { type: 'boolean', default: false },
  })
  if (values.token === '') {
    console.error(`A --token is needed.\n\n${USAGE}`)
    process.exitCode = 2
    return
  }
  const views = VIEWS.filter((view) => values.views.split(',').includes(view))
  const to = resolve(values.to)
  mkdirSync(to, { recursive: true })
  const browser = await launchBrowser(['--ignore-certificate-errors'])
  try {
    for (const language of values.languages.split(','))
      for (const theme of values.themes.split(','))
        for (const width of values.widths.split(',').map(Number))
          await photographAll(browser, {
            ...values,
            width,
            theme,
            language,
            views,
            to,
            states: !values['no-states'],
          })
  } finally {
    await browser.close()
  }
}

async function photographAll(browser: Browser, shot: Shot): Promise<void> {
  const { url, token, width, theme, language, views } = shot
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width, height: HEIGHTS[width] ?? DESK_HEIGHT },
    colorScheme: theme === 'dark' ? 'dark' : 'light',
    locale: language,
    timezoneId: 'Asia/Taipei',
  })
  const page = await context.newPage()
  await page.goto(`${url}/admin/?lang=${language}`)
  await page.locator('#token').waitFor()
  await photograph(page, shot, 'sign-in')
  await signIn(page, token)
  for (const view of views) {
    await openView(page, view)
    await photograph(page, shot, view)
    for (const [name, open] of DETAILS[view] ?? []) {
      await open(page)
      await photograph(page, shot, `${view}-${name}`)
      if (CLOSED.has(name)) await page.keyboard.press('Escape')
    }
    // A dialog would cover the navigation.
    await page.keyboard.press('Escape')
  }
  for (const [name, open] of shot.states ? STATES : []) {
    await open(page)
    await photograph(page, shot, `state-${name}`)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.emulateMedia({ media: null })
    await context.setOffline(false)
  }
  await context.close()
}

/** Takes a picture of the visible part, and of the whole view if it is longer. */
async function photograph(page: Page, { width, theme, language, to }: Shot, name: string): Promise<void> {
  await page.waitForTimeout(SETTLE_MS)
  const save = (ending: string) =>
    page.screenshot({
      path: join(to, `${name}-${theme}-${width}-${language}${ending}.png`),
      animations: 'disabled',
    })
  await save('')
  const height = HEIGHTS[width] ?? DESK_HEIGHT
  const hidden = await page.evaluate(() => {
    const view = document.getElementById('view')
    return view === null ? 0 : view.scrollHeight - view.clientHeight
  })
  if (hidden < 8) return
  await page.setViewportSize({ width, height: Math.min(MOST_HIGH, height + hidden) })
  await page.waitForTimeout(SETTLE_MS)
  await save('-whole')
  await page.setViewportSize({ width, height })
}

if (import.meta.main) await main()

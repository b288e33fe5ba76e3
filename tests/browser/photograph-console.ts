/** `bun run console:photographs`: pictures of every view of a running console, to look at. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { CLOSED, DETAILS, SETTLE_MS, STATES } from './console-states.ts'
import { launchBrowser } from './launch-browser.ts'
import { openView, signIn, type View, VIEWS } from './console-tour.ts'

const USAGE = `Photographs every view of a running console: light and dark, on a phone, a desk and a wall.

  bun run console:photographs --token <token> [--url https://localhost:8443] [--to ./data/photographs]
                              [--widths 390,1440,3840] [--themes light,dark] [--languages zh-Hant,en]
                              [--views now,people,…] [--no-states] [--help]

An owner's token sees everything. "bun run demo" makes a service to photograph; give it EVENT_ADMIN_TOKEN, and
EVENT_LIMIT_ADMIN=1000, because a tour asks more than 30 times a minute.
A picture whose name ends in -whole shows a view with everything below. After the views come the states of the page
that a healthy service does not show: an incident, a lost connection, used-up calls, the end. Their answers are altered
on their way to the page; nothing is changed in the service.`

/** Widths with the height that goes with them; other widths get that of a desk. */
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
    // A dialog would lie over the navigation.
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

/** A picture of what is in sight; and where the view is longer, one of all of it. */
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

/** `bun run readme:photographs`: takes the pictures of the project's README from a running demo. */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { signIn } from './console-tour.ts'
import { launchBrowser } from './launch-browser.ts'
import { checkInButton, firstMinute } from './walk-harness.ts'

const USAGE = `Photographs the public map, the pilgrims' app and the console of a running demo for the project's README.

  bun run readme:photographs --token <token> [--url https://localhost:8443] [--help]

Start "bun run demo" first and wait until its crowd is in the present; its welcome shows the owner's token.`

const FOLDER = join(import.meta.dir, '../../proxy/pages/pictures')
const PHONE = { width: 390, height: 720 }
const DESK = { width: 1_280, height: 800 }
/** Time until data, fonts and the crowd are shown. */
const SETTLE_MS = 6_000

async function shoot(
  browser: Browser,
  {
    name,
    url,
    viewport,
    open,
  }: { name: string; url: string; viewport: typeof PHONE; open?: (page: Page) => Promise<void> },
): Promise<void> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport,
    hasTouch: viewport === PHONE,
    locale: 'en',
    timezoneId: 'Asia/Taipei',
    permissions: ['geolocation'],
    geolocation: { latitude: 24.05, longitude: 120.5, accuracy: 8 },
  })
  const page = await context.newPage()
  await page.goto(url)
  await open?.(page)
  await page.waitForTimeout(SETTLE_MS)
  await page.screenshot({
    path: join(FOLDER, `${name}.jpg`),
    type: 'jpeg',
    quality: 72,
    animations: 'disabled',
  })
  await context.close()
}

async function main(): Promise<void> {
  const { values } = readCommandLine(USAGE, {
    url: { type: 'string', default: 'https://localhost:8443' },
    token: { type: 'string', default: '' },
  })
  if (values.token === '') {
    console.error(`A --token is needed.\n\n${USAGE}`)
    process.exitCode = 2
    return
  }
  const { url, token } = values
  const browser = await launchBrowser(['--ignore-certificate-errors'])
  try {
    await shoot(browser, { name: 'map', url: `${url}/?lang=en`, viewport: PHONE })
    await shoot(browser, {
      name: 'app',
      url: `${url}/walk/?lang=en`,
      viewport: PHONE,
      open: async (page) => {
        await firstMinute(page, 'Mei-Yu Lin')
        await checkInButton(page).click()
      },
    })
    await shoot(browser, {
      name: 'console',
      url: `${url}/admin/?lang=en`,
      viewport: DESK,
      open: (page) => signIn(page, token),
    })
  } finally {
    await browser.close()
  }
}

if (import.meta.main) await main()

/** The pilgrims' app in Chromium, on a stack with Caddy, with a controlled position and network. */
import { afterAll, beforeAll } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import type { Entry } from '#shared/client/index.ts'
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import type { Environment } from '#shared/runtime/config/config.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { openRealTestStack, type RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { slower } from '#tests/helpers/time-limits.ts'
import { until } from '#tests/helpers/wait.ts'
import { BROWSER_TIMEOUT_MS, photograph } from './browser.ts'
import { launchBrowser } from './launch-browser.ts'

/** Timeout of each step of a test on a quiet machine. */
const STEP_MS = 30_000

export const PLACE = { latitude: 24.15, longitude: 120.67, accuracy: 8 }

/** An old phone in sunlight, at a place, with the position permission. */
const PHONE: BrowserContextOptions = {
  locale: 'en-GB',
  timezoneId: 'Asia/Taipei',
  viewport: { width: 390, height: 844 },
  geolocation: PLACE,
  permissions: ['geolocation'],
}

export interface Phone extends AsyncDisposable {
  readonly context: BrowserContext
  readonly page: Page
}

/** Starts a stack and Chromium for the tests of a file. @param notifies whether notifications are shown */
export function walkApp(settings: Environment = {}, notifies = false) {
  let browser: Browser
  let stack: RealTestStack
  beforeAll(async () => {
    stack = await openRealTestStack({ settings, apart: [] })
    // Service workers need a trusted connection.
    browser = await launchBrowser(
      [`--ignore-certificate-errors-spki-list=${await servedKey(stack)}`],
      notifies,
    )
  }, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)
  afterAll(async () => {
    await browser?.close()
    await stack?.close()
  })

  const address = (path = '') => `https://localhost:${stack.port}/walk/${path}`
  /** A phone that has never opened the app. */
  async function newPhone(
    options: BrowserContextOptions = {},
    before: (context: BrowserContext) => Promise<void> = async () => undefined,
  ): Promise<Phone> {
    const context = await browser.newContext({ ...PHONE, ...options })
    context.setDefaultTimeout(slower(STEP_MS))
    await before(context)
    const page = await context.newPage()
    return { context, page, [Symbol.asyncDispose]: () => context.close() }
  }
  return {
    get stack() {
      return stack
    },
    address,
    newPhone,
    /** A phone with a registered pilgrim, in English. */
    async newPilgrim(
      name = 'Grandmother Wang',
      options: BrowserContextOptions = {},
    ): Promise<Phone & { userId: string }> {
      const phone = await newPhone(options)
      await phone.page.goto(address('?lang=en'))
      await firstMinute(phone.page, name)
      return { ...phone, userId: await userIdOf(phone.page) }
    },
  }
}

export type WalkApp = ReturnType<typeof walkApp>

/**
 * Hash of the key of Caddy's certificate, which Chromium is told to trust, because no authority is installed.
 */
const servedKey = ({ port, ca }: RealTestStack): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: 'localhost', servername: 'localhost', ca }, () => {
      const { publicKey } = new X509Certificate(socket.getPeerCertificate().raw)
      const key = publicKey.export({ type: 'spki', format: 'der' })
      resolve(new Bun.CryptoHasher('sha256').update(key).digest('base64'))
      socket.end()
    })
    socket.on('error', reject)
  })

export async function firstMinute(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'I agree' }).click()
  await page.getByRole('button', { name: 'Check in', exact: true }).waitFor()
  await known(page)
}

/** Resolves when the service has name and consent. */
export const known = (page: Page): Promise<unknown> => hasKept(page, 'person', '"known":true')

export const userIdOf = async (page: Page): Promise<string> =>
  (await keptOn<{ userId: string }>(page, 'person'))!.userId

/** Resolves when the service worker has all files and controls the page. */
export const worksOffline = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => navigator.serviceWorker.controller !== null)

export const checkInButton = (page: Page) => page.getByRole('button', { name: 'Check in', exact: true })

/** Pixels between the button and the tabs on a phone in landscape. */
export async function roomOnItsSide(page: Page): Promise<number> {
  const upright = page.viewportSize()!
  await page.setViewportSize({ width: upright.height, height: upright.width })
  await photograph(page, 'walk-on-its-side')
  const [button, tabs] = await Promise.all([
    checkInButton(page).boundingBox(),
    page.getByRole('navigation').boundingBox(),
  ])
  await page.setViewportSize(upright)
  return tabs!.y - button!.y - button!.height
}

/** Number of pending points and check-ins; 0 if nothing is shown. */
export const waitingOf = (page: Page): Promise<number> =>
  page.evaluate(() => Number(document.querySelector<HTMLElement>('[data-waiting]')?.dataset.waiting ?? 0))

type Act = readonly [store: 'points' | 'values', name?: string, value?: unknown]

/** Reads from the app's database, or writes a value into it. Does nothing without a database. */
const inDatabase = (page: Page, act: Act): Promise<unknown> =>
  page.evaluate(
    ([store, name, value]) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open('walk')
        opening.onerror = () => reject(opening.error!)
        opening.onsuccess = () => {
          const db = opening.result
          const done = (result: unknown) => {
            db.close()
            resolve(result)
          }
          if (!db.objectStoreNames.contains(store)) return done(undefined)
          const open = db
            .transaction(store, value === undefined ? 'readonly' : 'readwrite')
            .objectStore(store)
          const asked =
            name === undefined ? open.getAll() : value === undefined ? open.get(name) : open.put(value, name)
          asked.onerror = () => reject(asked.error!)
          asked.onsuccess = () => done(asked.result)
        }
      }),
    act,
  )

/** Unsent entries: check-ins, points, and the pilgrim's input. */
export const entriesOn = async (page: Page): Promise<Entry[]> =>
  (await inDatabase(page, ['points'])) as Entry[]

/** A stored value by name, such as `person`. */
export const keptOn = async <T>(page: Page, name: string): Promise<T | undefined> =>
  (await inDatabase(page, ['values', `walk-${name}`])) as T | undefined

/** All stored values, as text. */
export const allKeptOn = async (page: Page): Promise<string> =>
  JSON.stringify([
    await inDatabase(page, ['values']),
    await page.evaluate(() => Object.entries(localStorage)),
  ])

/** Stores a value of another release or an earlier time, which the app reads at its next start. */
export const keepOn = (page: Page, name: string, value: unknown): Promise<unknown> =>
  inDatabase(page, ['values', `walk-${name}`, value])

/** Resolves when a stored value contains this JSON text. */
export const hasKept = (page: Page, name: string, text: string): Promise<unknown> =>
  until(async () => JSON.stringify(await keptOn(page, name))?.includes(text) ?? false, `${name} with ${text}`)

/** Number of unsent entries, even if too few to be shown. */
export const storedOf = async (page: Page): Promise<number> => (await entriesOn(page)).length

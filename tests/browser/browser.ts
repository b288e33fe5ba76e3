/**
 * One Chromium for a test file, and pages that fail their test on any error in the console or of the content policy.
 */
import { afterAll, expect } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'
import { slower } from '#tests/helpers/time-limits.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { launchBrowser } from './launch-browser.ts'

export type { Page }

/** Chromium starts in a second; on a busy machine in several. */
export const BROWSER_TIMEOUT_MS = 60_000

/** Timeout of each step of a test; generous, because the machine may be busy. */
const PAGE_TIMEOUT_MS = 20_000

/** Directory for screenshots of all views. By default none are taken, because each takes a second. */
export const { SCREENSHOTS } = process.env

export interface OpenOptions extends BrowserContextOptions {
  /** Path and query of the page. */
  readonly path: string
  /** Console errors that the test causes on purpose, such as a missing network. */
  readonly expected?: RegExp
  /** Called before the page loads, for example to slow its processor. */
  readonly before?: (page: Page) => Promise<void>
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** Errors of the page so far. */
  readonly errors: readonly string[]
  /** Files fetched so far, with the bytes of their bodies on the network. */
  fetched(): Promise<readonly { readonly path: string; readonly bytes: number }[]>
}

/** Chromium for the tests of a file. @param args additional command-line arguments */
export function testBrowser(args: readonly string[] = []) {
  // Service workers need a trusted connection, and a test stack's authority is not installed anywhere.
  const launch = (notifies: boolean) => launchBrowser(['--ignore-certificate-errors', ...args], notifies)
  const browsers = new Map<boolean, Promise<Browser>>()
  const built = new Map<number, Promise<unknown>>()
  // The embedded run builds its pages at the first request. On a busy machine this exceeds the timeout of
  // a step.
  const buildAt = (port: number) =>
    fetch(`https://localhost:${port}/`, { tls: { rejectUnauthorized: false } } as RequestInit)
  afterAll(async () => {
    for (const browser of browsers.values()) await (await browser).close()
  })

  return {
    /** Opens a page of a test stack in a new context. Disposing closes it and fails the test on errors of the page. */
    async open(
      stack: Pick<TestStack, 'port'>,
      { path, expected, before, ...options }: OpenOptions,
    ): Promise<OpenPage> {
      const notifies = options.permissions?.includes('notifications') ?? false
      const browser = await browsers.getOrInsertComputed(notifies, launch)
      await built.getOrInsertComputed(stack.port, buildAt)
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        locale: 'zh-TW',
        timezoneId: 'Asia/Taipei',
        viewport: { width: 390, height: 844 },
        ...options,
      })
      context.setDefaultTimeout(slower(PAGE_TIMEOUT_MS))
      const page = await context.newPage()
      const errors = watchErrors(page, expected)
      const fetched = watchFetches(page)
      await before?.(page)
      await page.goto(`https://localhost:${stack.port}${path}`, { waitUntil: 'load' })
      return {
        page,
        errors,
        fetched: () => Promise.all(fetched),
        async [Symbol.asyncDispose]() {
          // Responses that a test gives instead of the service end with the test.
          await page.unrouteAll({ behavior: 'ignoreErrors' })
          await context.close()
          expect(errors).toEqual([])
        },
      }
    },
  }
}

function watchErrors(page: Page, expected: RegExp | undefined): string[] {
  const errors: string[] = []
  const note = (text: string): void => {
    if (expected === undefined || !expected.test(text)) errors.push(text)
  }
  // Chromium reports violations of the content policy as errors of the console.
  page.on(
    'console',
    (message) => message.type() === 'error' && note(`${message.text()} ${message.location().url}`),
  )
  page.on('pageerror', (error) => note(String(error)))
  return errors
}

function watchFetches(page: Page): Promise<{ path: string; bytes: number }>[] {
  const fetched: Promise<{ path: string; bytes: number }>[] = []
  const weigh = async (request: Request): Promise<{ path: string; bytes: number }> => {
    const { pathname } = new URL(request.url())
    const { responseBodySize } = await request.sizes()
    return { path: pathname, bytes: responseBodySize }
  }
  page.on('requestfinished', (request) => {
    const weighed = weigh(request)
    // A page that closes meanwhile reports no size; only a test that reads the sizes fails.
    weighed.catch(() => undefined)
    fetched.push(weighed)
  })
  return fetched
}

/** Takes a picture of the visible part, or of the whole page, if screenshots are enabled. */
export async function photograph(page: Page, name: string, fullPage = false): Promise<void> {
  if (SCREENSHOTS === undefined) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage, animations: 'disabled' })
}

const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** Serious and critical violations of axe-core's rules, each with the elements. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // An evaluated script is exempt from the page's content policy; an added script element is not.
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    // Check colours at rest: after a change of theme, buttons fade briefly.
    const fades = document.getAnimations().filter((one) => one instanceof CSSTransition)
    await Promise.allSettled(fades.map((one) => one.finished))
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<AxeResult> } }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
      )
  })
}
interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string | null
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
  }[]
}

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

/** For each step of a test; generous, because the machine may be busy. */
const PAGE_TIMEOUT_MS = 20_000

/** The directory of screenshots of all views, to look at. Without it none are taken, because each takes a second. */
export const { SCREENSHOTS } = process.env

export interface OpenOptions extends BrowserContextOptions {
  /** Path and query of the page. */
  readonly path: string
  /** Errors of the console that the test causes on purpose, such as a network that is gone. */
  readonly expected?: RegExp
  /** Called before the page loads, for example to slow its processor. */
  readonly before?: (page: Page) => Promise<void>
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** Errors of the page until now. */
  readonly errors: readonly string[]
  /** What the browser has fetched until now, with the bytes that went over the network for its body. */
  fetched(): Promise<readonly { readonly path: string; readonly bytes: number }[]>
}

/** Chromium for the tests of a file. @param args more arguments of its command line */
export function testBrowser(args: readonly string[] = []) {
  // Service workers need a connection that the browser trusts. The authority of a test stack is nowhere installed.
  const launch = (notifies: boolean) => launchBrowser(['--ignore-certificate-errors', ...args], notifies)
  const browsers = new Map<boolean, Promise<Browser>>()
  const built = new Map<number, Promise<unknown>>()
  // The embedded run builds its pages at the first request. On a busy machine that takes longer than a step may.
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
          // What a test answers in the place of the service ends with it.
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
    // A page that closes meanwhile has no size to tell: only a test that reads the sizes fails.
    weighed.catch(() => undefined)
    fetched.push(weighed)
  })
  return fetched
}

/** Takes a picture of what is in sight, or of the whole page, where pictures are wanted. */
export async function photograph(page: Page, name: string, fullPage = false): Promise<void> {
  if (SCREENSHOTS === undefined) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage, animations: 'disabled' })
}

const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')

/** Rules of axe-core that the page breaks, serious and critical ones: each with the elements. */
export async function seriousFaults(page: Page): Promise<string[]> {
  // An evaluated script is not subject to the page's content policy, as an added one would be.
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    // Colours are judged at rest: after a change of theme buttons fade for a moment.
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

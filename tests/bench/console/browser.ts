/** The console in Chromium for the benchmark, and what it costs the browser. */
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { commandPath } from '#tests/helpers/programs.ts'

/** The size of a screen in a control room. */
export const SCREEN = { width: 1_440, height: 900 }

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: commandPath('chromium'),
    args: ['--no-sandbox', '--ignore-certificate-errors', '--enable-precise-memory-info'],
  })

export interface OpenedConsole {
  readonly page: Page
  readonly devtools: CDPSession
  /** Milliseconds from the sign-in to the first data. */
  readonly signedInMs: number
}

/** Opens the console and signs in. @param prepare called before the page loads */
export async function openConsole(
  browser: Browser,
  { port, token }: { readonly port: number; readonly token: string },
  prepare?: (page: Page) => Promise<unknown>,
): Promise<OpenedConsole> {
  const context = await browser.newContext({ viewport: SCREEN, locale: 'en-GB', ignoreHTTPSErrors: true })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  await prepare?.(page)
  await page.goto(`https://localhost:${port}/admin/?lang=en#/now`)
  await page.locator('#token').fill(token)
  const startedMs = performance.now()
  await page.keyboard.press('Enter')
  await page.locator('.tile .figure').first().waitFor()
  const signedInMs = performance.now() - startedMs
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable')
  await devtools.send('HeapProfiler.enable')
  return { page, devtools, signedInMs }
}

/** What the page holds. */
export interface Held {
  readonly heapKb: number
  readonly nodes: number
  readonly listeners: number
}

/** Counts after a collection of garbage. */
export async function heldBy(devtools: CDPSession): Promise<Held> {
  // What the first collection finalizes, the second frees.
  await devtools.send('HeapProfiler.collectGarbage')
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return {
    heapKb: Math.round(of('JSHeapUsedSize') / 1_000),
    nodes: of('Nodes'),
    listeners: of('JSEventListeners'),
  }
}

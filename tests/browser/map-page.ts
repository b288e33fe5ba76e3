/** Measurements of the map page, and how tests move it. */
import { expect } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import type { Page } from './browser.ts'

/** Slows the processor to a quarter, and records when the buttons exist and a frame is painted. */
export async function slowed(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await page.addInitScript(() => {
    const watch = (): void => {
      if (document.querySelector('.map-controls button') === null) return void requestAnimationFrame(watch)
      requestAnimationFrame(() => setTimeout(() => performance.mark('interactive')))
    }
    watch()
  })
}

/** Milliseconds from the HTML's arrival. */
export const interactiveMs = async (page: Page): Promise<number> => {
  await page.waitForFunction(() => performance.getEntriesByName('interactive').length > 0)
  return page.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
    return performance.getEntriesByName('interactive')[0]!.startTime - navigation!.responseEnd
  })
}

/** Size of these files with gzip. */
export async function gzippedBytes(stack: TestStack, paths: readonly string[]): Promise<number> {
  const sizes = [...new Set(paths)].map(async (path) => {
    const bytes = new Uint8Array(await (await stack.fetch(path)).arrayBuffer())
    return Math.min(bytes.length, gzipSync(bytes, { level: 9 }).length)
  })
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0)
}

/** Waits for a text; the page polls at once instead of after about ten seconds. */
export async function heard(page: Page, text: string): Promise<void> {
  await until(
    async () => {
      await page.evaluate(() => dispatchEvent(new Event('online')))
      return page.getByText(text).first().isVisible()
    },
    text,
    { timeoutMs: 45_000 },
  )
}

/** Visible buttons, links and fields smaller than 44 px, which a finger may miss. */
export const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, a, select, summary')]
      .filter((one) => one.checkVisibility() && (one.offsetHeight < 44 || one.offsetWidth < 44))
      .map(
        (one) =>
          `${one.className} ${one.ariaLabel ?? one.textContent} ${one.offsetWidth} × ${one.offsetHeight}`,
      ),
  )

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect(wider).toBeLessThanOrEqual(0)
}

/** Number of painted pixels of the crowd. */
export const paintedCells = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const canvas = document.querySelector<HTMLCanvasElement>('canvas.crowd')!
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
    let painted = 0
    for (let i = 3; i < data.length; i += 4) if (data[i]! > 0) painted++
    return painted
  })

/** Sets the browser's clock ahead, and lets the page notice it. */
export const shiftClock = (page: Page, aheadMs: number): Promise<void> =>
  page.evaluate((ms) => {
    const own = Object.assign(globalThis, {
      realNow: (globalThis as { realNow?: () => number }).realNow ?? Date.now,
    })
    Date.now = () => own.realNow() + ms
    document.dispatchEvent(new Event('visibilitychange'))
  }, aheadMs)

/** Presses the tab key until the focus is there. */
export async function tabTo(page: Page, found: (name: string) => boolean): Promise<void> {
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press('Tab')
    const focus = await page.evaluate(() => {
      const element = document.activeElement!
      return element.getAttribute('aria-label') ?? element.id
    })
    if (found(focus)) return
  }
  throw new Error('the tab key does not get there')
}

/** Position of the middle's mark on the screen, once it stands still. */
export async function settledPlace(page: Page): Promise<{ x: number; y: number }> {
  let before = ''
  for (;;) {
    const place = await page.evaluate(async () => {
      const frames = Array.from({ length: 4 })
      for (const _ of frames) await new Promise((resolve) => requestAnimationFrame(resolve))
      const { x, y } = document.querySelector('.marker-front')!.getBoundingClientRect()
      return { x, y }
    })
    const text = JSON.stringify(place)
    if (text === before) return place
    before = text
  }
}

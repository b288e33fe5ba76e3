/** What a frame of the page costs while the map is moved: from its first script to after its painting. */
import type { CDPSession, Page } from 'playwright-core'

/** Called in the page before anything else, so that it sees the first callback of each frame. */
export const watchFrames = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const works: number[] = []
    const intervals: number[] = []
    const channel = new MessageChannel()
    let beganMs = 0
    let lastMs = 0
    let isOpen = false
    const begin = () => {
      if (isOpen) return
      isOpen = true
      beganMs = performance.now()
      if (lastMs > 0) intervals.push(beganMs - lastMs)
      lastMs = beganMs
      channel.port2.postMessage(null)
    }
    // The message is handled when the frame's task, with style, layout and painting, has ended.
    channel.port1.addEventListener('message', () => {
      isOpen = false
      works.push(performance.now() - beganMs)
    })
    channel.port1.start()
    const { requestAnimationFrame } = globalThis
    globalThis.requestAnimationFrame = (callback) =>
      requestAnimationFrame.call(globalThis, (at) => {
        begin()
        callback(at)
      })
    for (const name of ['pointermove', 'wheel'])
      addEventListener(name, begin, { capture: true, passive: true })
    Object.assign(globalThis, {
      takeFrames: () => ({ works: works.splice(0), intervals: intervals.splice(0) }),
    })
  })

export interface Frames {
  /** Milliseconds of the main thread for each frame. */
  readonly works: readonly number[]
  /** Milliseconds between frames; this also contains what the machine does besides. */
  readonly intervals: readonly number[]
  /** CPU milliseconds of the main thread a frame, mean: other load on the machine does not count in it. */
  readonly cpuMs: number
}

/** Takes the frames since the last call. */
function createTaker(page: Page, devtools: CDPSession): () => Promise<Frames> {
  let before = 0
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    const cpuMs = 1_000 * (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? Number.NaN)
    const used = cpuMs - before
    before = cpuMs
    type Taken = Pick<Frames, 'works' | 'intervals'>
    const taken = await page.evaluate(() => (Reflect.get(globalThis, 'takeFrames') as () => Taken)())
    return { ...taken, cpuMs: used / taken.works.length }
  }
}

const MOVES = 120

/** Drags the map to and fro, then zooms in and out of it. */
export async function moveMap(
  page: Page,
  devtools: CDPSession,
): Promise<{ readonly panning: Frames; readonly zooming: Frames }> {
  const take = createTaker(page, devtools)
  const box = (await page.locator('.map-frame').boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  await take()
  await page.mouse.down()
  for (let i = 1; i <= MOVES; i++)
    await page.mouse.move(x + Math.sin(i / 12) * box.width * 0.3, y + Math.cos(i / 15) * box.height * 0.25)
  await page.mouse.up()
  // The picture is painted again when the map rests.
  await page.waitForTimeout(1_000)
  const panning = await take()
  for (let i = 0; i < MOVES / 2; i++) await page.mouse.wheel(0, i % 30 < 15 ? -60 : 60)
  await page.waitForTimeout(1_000)
  return { panning, zooming: await take() }
}

/** Value at a share of the sorted samples. */
export const quantile = (samples: readonly number[], share: number): number =>
  samples.toSorted((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * share))] ??
  Number.NaN

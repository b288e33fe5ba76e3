/** Draws a crowd of 20,000 cells in Chromium, with the page's own drawing and without a graphics processor. */
import { join } from 'node:path'
import { launchBrowser } from '#tests/browser/launch-browser.ts'

const ENTRY = join(import.meta.dir, '../../../proxy/pages/map')

/** The product's own drawing code, bundled for an empty page. */
async function drawing(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: ['measure.ts'],
    files: {
      'measure.ts': `
        import { crowdOf } from '${ENTRY}/shapes.ts'
        import { drawCrowd } from '${ENTRY}/draw-crowd.ts'
        import { viewOf } from '${ENTRY}/view.ts'
        import { worldX, worldY } from '${ENTRY}/projection.ts'
        Object.assign(globalThis, { crowdOf, drawCrowd, viewOf, worldX, worldY })`,
    },
    target: 'browser',
    minify: true,
  })
  return outputs[0]!.text()
}

interface Drawing {
  crowdOf(cells: number[][], isBand: boolean): unknown
  drawCrowd(
    context: CanvasRenderingContext2D,
    view: unknown,
    crowd: unknown,
    colour: (name: string) => string,
  ): void
  viewOf(camera: object, size: object, density: number): unknown
  worldX(lng: number): number
  worldY(lat: number): number
}
/** @returns milliseconds per frame, from the start of drawing until everything is painted */
export async function measureRedraw(count: number): Promise<number[]> {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    await page.evaluate(await drawing())
    return await page.evaluate((count) => {
      const { crowdOf, drawCrowd, viewOf, worldX, worldY } = globalThis as unknown as Drawing
      const cells = Array.from({ length: 20_000 }, (_, i) => [
        2_400_000 + (i % 200) * 40,
        12_050_000 + Math.floor(i / 200) * 40,
        15,
        1 + (i % 900),
      ])
      const canvas = Object.assign(document.createElement('canvas'), { width: 780, height: 1_688 })
      // Keeps the pixels in memory, as without a graphics processor, so that reading one copies no
      // picture.
      const context = canvas.getContext('2d', { willReadFrequently: true })!
      const crowd = crowdOf(cells, true)
      const steps = ['#e8b84c', '#e0912f', '#cf5f22', '#ab2a1c', '#6d0f1f']
      const colour = (name: string) => steps[Number(name.at(-1)) - 1] ?? '#fff'
      return Array.from({ length: count }, (_, i) => {
        const camera = { x: worldX(120.52 + (i % 15) / 1e4), y: worldY(24.04), zoom: 12.5 }
        const startMs = performance.now()
        drawCrowd(context, viewOf(camera, { width: 390, height: 844 }, 2), crowd, colour)
        // Reading a pixel waits until everything is painted.
        context.getImageData(400, 800, 1, 1)
        return performance.now() - startMs
      })
    }, count)
  } finally {
    await browser.close()
  }
}

/** A crowd of 20,000 cells is drawn within one frame of 16 ms, in Chromium without a graphics processor. */
import { expect, test } from 'bun:test'
import { measureRedraw } from '#tests/bench/redraw.ts'

const FRAME_MS = 16

test('20,000 cells in one frame', async () => {
  // The first frames are slower, because Chromium compiles the drawing while it runs.
  const frames = await measureRedraw(90)
  // The fastest frame: a machine that is busy with other tests only adds to it.
  const fastest = Math.min(...frames)
  console.log(`20,000 cells: ${fastest.toFixed(1)} ms, at most ${Math.max(...frames).toFixed(1)} ms`)
  expect(fastest).toBeLessThanOrEqual(FRAME_MS)
})

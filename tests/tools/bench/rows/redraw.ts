/** The crowd of the public map, drawn by the page's own code in Chromium. */
import { median, type Row } from '../measure.ts'
import { measureRedraw } from '../redraw.ts'

const FRAMES = 200
const FRAME_MS = 16

export const mapRedraw: Row = {
  id: 'map-redraw',
  title: 'the public map: 20,000 cells of a crowd drawn anew, a frame',
  unit: 'ms',
  open: async () => {
    let frames: readonly number[] = []
    return {
      contenders: [
        {
          name: 'median frame',
          role: 'ours',
          async measure() {
            frames = await measureRedraw(FRAMES)
            return median(frames)
          },
        },
        { name: 'fastest frame', role: 'peer', measure: async () => Math.min(...frames) },
        { name: 'slowest frame', role: 'peer', measure: async () => Math.max(...frames) },
      ],
      goals: [{ of: null, atMost: FRAME_MS }],
      close: async () => undefined,
    }
  },
}

/** Bars as a picture: the same names, lengths and figures as on the page. */
import type { Bar } from '../../design/chart.tsx'
import { onPaper } from './paper.ts'
import { type Caption, fontOf, savePicture, shortened } from './picture.ts'

export interface BarGroup {
  readonly title: string
  readonly bars: readonly Bar[]
}

const WIDTH = 896
const LINE = 30
const SIZE = 15
const TITLE = 46
/** Where the bars begin and end. */
const [FROM, TO] = [288, 728]

/** Saves groups of bars, one below the other. */
export function saveBars(caption: Caption, groups: readonly BarGroup[], name: string): void {
  const shown = groups.filter(({ bars }) => bars.length > 0)
  const lines = shown.reduce((sum, { bars }) => sum + bars.length, 0)
  const height = TITLE * shown.length + LINE * lines
  savePicture(caption, { width: WIDTH, height, draw: (context) => drawGroups(context, shown) }, name)
}

function drawGroups(context: CanvasRenderingContext2D, groups: readonly BarGroup[]): void {
  let y = TITLE / 2
  const write = (text: string, x: number, weight: number, room: number): void => {
    context.font = fontOf(SIZE, weight)
    context.fillStyle = onPaper('ink')
    context.fillText(shortened(context, text, room), x, y)
  }
  for (const { title, bars } of groups) {
    write(title, 0, 600, WIDTH)
    y += (TITLE + LINE) / 2
    const top = Math.max(...bars.map(({ value }) => value), 0) || 1
    for (const { name, value, shown } of bars) {
      context.fillStyle = onPaper('sunken')
      context.fillRect(FROM, y - 6, TO - FROM, 12)
      context.fillStyle = onPaper('gold-fill')
      context.fillRect(FROM, y - 6, ((TO - FROM) * value) / top, 12)
      write(name, 0, 400, FROM - 12)
      write(shown, TO + 12, 400, WIDTH - TO - 12)
      y += LINE
    }
    y += (TITLE - LINE) / 2
  }
}

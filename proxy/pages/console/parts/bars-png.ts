/** Bars as a picture: the same names, lengths and figures as on the page, in its colours. */
import type { Bar } from '../../design/chart.tsx'
import { savePng } from './download.ts'

export interface BarGroup {
  readonly title: string
  readonly bars: readonly Bar[]
}

const WIDTH = 960
const PAD = 32
const LINE = 30
const SIZE = 15
const TITLE = 46
/** Where the bars begin and end. */
const [FROM, TO] = [320, 760]
/** More fit into no line. */
const MOST_LETTERS = 300
/** Sharp on a page that is printed. */
const SCALE = 2

/** Saves groups of bars, one below the other, under the title of the whole. */
export function saveBars(title: string, groups: readonly BarGroup[], name: string): void {
  const shown = groups.filter(({ bars }) => bars.length > 0)
  const lines = shown.reduce((sum, { bars }) => sum + bars.length, 0)
  const canvas = document.createElement('canvas')
  canvas.width = WIDTH * SCALE
  canvas.height = (2 * PAD + TITLE * (shown.length + 1) + LINE * lines) * SCALE
  const context = canvas.getContext('2d')!
  const style = getComputedStyle(document.documentElement)
  const colour = (property: string): string => style.getPropertyValue(property)
  context.scale(SCALE, SCALE)
  context.textBaseline = 'middle'
  let y = PAD + TITLE / 2
  const write = (text: string, x: number, font: string, room: number): void => {
    context.font = `${font} ${getComputedStyle(document.body).fontFamily}`
    context.fillText(shortened(context, text, room), x, y)
  }
  context.fillStyle = colour('--ink')
  write(title, PAD, `600 ${SIZE + 7}px`, WIDTH - 2 * PAD)
  y += TITLE
  for (const { title: group, bars } of shown) {
    write(group, PAD, `600 ${SIZE}px`, WIDTH - 2 * PAD)
    y += (TITLE + LINE) / 2
    const top = Math.max(...bars.map(({ value }) => value), 0) || 1
    for (const { name: label, value, shown: figure } of bars) {
      context.fillStyle = colour('--sunken')
      context.fillRect(FROM, y - 6, TO - FROM, 12)
      context.fillStyle = colour('--gold-fill')
      context.fillRect(FROM, y - 6, ((TO - FROM) * value) / top, 12)
      context.fillStyle = colour('--ink')
      write(label, PAD, `${SIZE}px`, FROM - PAD - 12)
      write(figure, TO + 12, `${SIZE}px`, WIDTH - TO - 12 - PAD / 2)
      y += LINE
    }
    y += (TITLE - LINE) / 2
  }
  savePng([canvas], name)
}

/** The text, or as much of it as fits, measured in the font that is set. */
function shortened(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text
  const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment).slice(
    0,
    MOST_LETTERS,
  )
  while (letters.length > 0 && context.measureText(`${letters.join('')}…`).width > room) letters.pop()
  return `${letters.join('')}…`
}

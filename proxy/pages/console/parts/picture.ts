/** Pictures with their own caption, and drawings for print. */
import { eventName } from '../event.ts'
import { type Colour, tokensOf } from '../../map/view.ts'
import { fullDate, now } from '../clock.ts'
import { words } from '../words.ts'
import { type ReadonlySignal, signal } from '@preact/signals'

export interface Caption {
  readonly title: string
  /** Time and other context for the reader. Each line is wrapped as needed. */
  readonly lines: readonly string[]
}

export interface Drawing {
  readonly width: number
  readonly height: number
  /** Draws in CSS pixels from the top left corner of the drawing. */
  readonly draw: (context: CanvasRenderingContext2D) => void
}

const PAD = 32
const [EVENT, TITLE, LINE, FOOT] = [16, 24, 16, 13]
/** Line height as a multiple of the font size. */
const LEADING = 1.45

export const fontOf = (size: number, weight = 400): string => `${weight} ${size}px ${onPaper('font')}`

/** A drawing under the event's name, its title and its lines, on white, with the time of its creation. */
export function captioned({ title, lines }: Caption, drawing: Drawing): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')!
  const texts = [
    ...textLines(context, eventName.value, EVENT, 600, drawing.width, 'soft'),
    ...textLines(context, title, TITLE, 600, drawing.width, 'ink'),
    ...lines.flatMap((line) => textLines(context, line, LINE, 400, drawing.width, 'ink')),
  ]
  const head = texts.reduce((sum, { size }) => sum + size * LEADING, 0)
  const top = PAD + head + PAD / 2
  canvas.width = (drawing.width + 2 * PAD) * DENSITY
  canvas.height = Math.ceil((top + drawing.height + PAD / 2 + FOOT * LEADING + PAD) * DENSITY)
  context.scale(DENSITY, DENSITY)
  context.fillStyle = '#fff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.textBaseline = 'middle'
  let y = PAD
  for (const { text, size, font, token } of texts) {
    context.font = font
    context.fillStyle = onPaper(token)
    context.fillText(text, PAD, y + (size * LEADING) / 2)
    y += size * LEADING
  }
  context.font = fontOf(FOOT)
  context.fillStyle = onPaper('soft')
  const made = `${words.peek().reports.made} ${fullDate(now.peek())}`
  context.fillText(made, PAD, top + drawing.height + PAD / 2 + (FOOT * LEADING) / 2)
  context.translate(PAD, top)
  drawing.draw(context)
  return canvas
}

interface TextLine {
  readonly text: string
  readonly size: number
  readonly font: string
  readonly token: 'ink' | 'soft'
}

function textLines(
  context: CanvasRenderingContext2D,
  text: string,
  size: number,
  weight: number,
  room: number,
  token: TextLine['token'],
): TextLine[] {
  const font = fontOf(size, weight)
  context.font = font
  return wrapped(context, text, room).map((part) => ({ text: part, size, font, token }))
}

/** The text wrapped between words to a width, in the current font. */
export function wrapped(context: CanvasRenderingContext2D, text: string, room: number): string[] {
  const found: string[] = []
  let line = ''
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)) {
    if (line !== '' && context.measureText(line + segment).width > room) {
      found.push(line.trimEnd())
      line = segment.trimStart()
    } else line += segment
  }
  return [...found, line].map((part) => shortened(context, part, room))
}

/** Maximum number of letters that fit a line. */
const MOST_LETTERS = 300

/** The text, shortened to a width, in the current font. */
function shortened(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text
  const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment).slice(
    0,
    MOST_LETTERS,
  )
  while (letters.length > 0 && context.measureText(`${letters.join('')}…`).width > room) letters.pop()
  return `${letters.join('')}…`
}

// Paper is white: pictures and prints use the light colours, whatever the screen's theme.

/** Device pixels per unit: sharp in print and when enlarged. */
export const DENSITY = 2

const printed = matchMedia('print')
const printing = signal(printed.matches)

/**
 * Whether the page is being printed, also from the browser's menu. The browser lays out the print as soon as
 * listeners and their microtasks are done, so draw for it in an `effect`, not in a later frame.
 */
export const isPrinting: ReadonlySignal<boolean> = printing

addEventListener('beforeprint', () => (printing.value = true))
addEventListener('afterprint', () => (printing.value = false))
printed.addEventListener('change', ({ matches }) => (printing.value = matches))

function newProbe(): HTMLElement {
  const probe = document.createElement('i')
  probe.className = 'on-paper'
  probe.hidden = true
  document.body.append(probe)
  return probe
}

let known: Colour | null = null

/** Colour tokens for paper, by their names without dashes. */
export const onPaper: Colour = (name) => (known ??= tokensOf(newProbe()))(name)

/** Colour tokens of the screen's theme. They are read for each call, because the theme may have changed. */
export const onScreen = (): Colour => tokensOf(document.documentElement)

/** What happened to the event, as lines across a chart over time. */
import type uPlot from 'uplot'
import type { Colour } from '../../../map/view.ts'
import { words } from '../../words.ts'
import type { Timeline } from './series.ts'

type Kind = Timeline['entries'][number]['kind']

export interface Mark {
  /** Epoch seconds. */
  readonly t: number
  readonly kind: Kind
}

const HOUR_S = 3_600

/** @param last epoch seconds of the chart's last hour, which stands for all that happens in it */
export const marksOf = ({ entries }: Timeline, last: number): readonly Mark[] =>
  entries.map(({ at, kind }) => {
    const t = Date.parse(at) / 1_000
    return { t: t < last + HOUR_S ? Math.min(t, last) : t, kind }
  })

/** Tokens of the colours: a pause is what to look at. */
const COLOURS: Readonly<Record<Kind, string>> = {
  started: 'soft',
  paused: 'warning',
  resumed: 'good',
  ended: 'ink',
  push: 'soft',
}
const DASH = [4, 4]
/** Lines of names above the values (`NAME_ROOM` of the chart), and the height of each in type sizes. */
const NAME_LINES = 3
const NAME_HEIGHT = 1.3

/** Marks whose lines stand beside each other, and what all of them say. */
interface Group {
  readonly xs: number[]
  readonly kinds: Kind[]
}

/** `Paused, Resumed, Message ×3`: each kind once, in the order in which they came. */
function nameOf(kinds: readonly Kind[]): string {
  const names = words.peek().lifecycle.kinds
  const counts = new Map<Kind, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, n]) => (n === 1 ? names[kind] : `${names[kind]} ×${n}`)).join(' · ')
}

/** The marks in sight; those of one hour or day stand closer than a letter, and are one group. */
function groupsOf(plot: uPlot, marks: readonly Mark[], size: number): Group[] {
  const { min = -Infinity, max = Infinity } = plot.scales['x'] as { min?: number; max?: number }
  const groups: Group[] = []
  for (const { t, kind } of marks) {
    if (t < min || t > max) continue
    const x = Math.round(plot.valToPos(t, 'x', true))
    const last = groups.at(-1)
    if (last !== undefined && x - last.xs[0]! < size) {
      last.xs.push(x)
      last.kinds.push(kind)
    } else groups.push({ xs: [x], kinds: [kind] })
  }
  return groups
}

/**
 * Draws each mark that is in sight. A name stands in the first line that has room for it; where none has, the mark's
 * line stays, and the list below the chart says what it is.
 */
export function drawMarks(plot: uPlot, marks: readonly Mark[], typePx: number, colour: Colour): void {
  const { ctx: context, bbox } = plot
  const size = typePx * devicePixelRatio
  const ground = colour('surface')
  const lineEnds = Array.from({ length: NAME_LINES }, () => -Infinity)
  context.save()
  context.font = `${size}px system-ui`
  context.lineWidth = devicePixelRatio
  context.setLineDash(DASH.map((length) => length * devicePixelRatio))
  for (const { xs, kinds } of groupsOf(plot, marks, size)) {
    for (const [i, x] of xs.entries()) {
      context.strokeStyle = colour(COLOURS[kinds[i]!])
      context.beginPath()
      context.moveTo(x, bbox.top)
      context.lineTo(x, bbox.top + bbox.height)
      context.stroke()
    }
    const name = nameOf(kinds)
    const width = context.measureText(name).width
    const right = bbox.left + bbox.width
    const from = Math.max(bbox.left, Math.min(xs[0]! + size / 3, right - width))
    const line = lineEnds.findIndex((end) => end < from)
    if (line === -1) continue
    context.fillStyle = colour(COLOURS[kinds.length === 1 ? kinds[0]! : 'ended'])
    write(context, name, from, bbox.top + size * (1 + line * NAME_HEIGHT), size, ground)
    lineEnds[line] = from + width + size
  }
  context.restore()
}

/** A text on a ground of its own, which keeps it apart from the lines behind. */
function write(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  size: number,
  ground: string,
): void {
  context.save()
  context.setLineDash([])
  context.textAlign = 'left'
  context.lineJoin = 'round'
  context.lineWidth = size / 3
  context.strokeStyle = ground
  context.strokeText(text, x, y)
  context.restore()
  context.textAlign = 'left'
  context.fillText(text, x, y)
}

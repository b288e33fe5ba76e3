/** What happened to the event, as lines across a chart over time. */
import type uPlot from 'uplot'
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
  started: '--soft',
  paused: '--warning',
  resumed: '--good',
  ended: '--ink',
  push: '--soft',
}
const DASH = [4, 4]
/** Between two names, in type sizes. */
const ROOM = 5

/** Draws each mark that is in sight; a name that has no room is left out, its line is not. */
export function drawMarks(
  plot: uPlot,
  marks: readonly Mark[],
  typePx: number,
  colour: (token: string) => string,
): void {
  const { ctx: context, bbox } = plot
  const { min = -Infinity, max = Infinity } = plot.scales['x'] as { min?: number; max?: number }
  const size = typePx * devicePixelRatio
  let nameFrom = -Infinity
  context.save()
  context.font = `${size}px system-ui`
  context.lineWidth = devicePixelRatio
  context.setLineDash(DASH.map((length) => length * devicePixelRatio))
  for (const { t, kind } of marks) {
    if (t < min || t > max) continue
    const x = Math.round(plot.valToPos(t, 'x', true))
    context.strokeStyle = context.fillStyle = colour(COLOURS[kind])
    context.beginPath()
    context.moveTo(x, bbox.top)
    context.lineTo(x, bbox.top + bbox.height)
    context.stroke()
    if (x < nameFrom) continue
    const name = words.peek().lifecycle.kinds[kind]
    const width = context.measureText(name).width
    const fits = x + width + size < bbox.left + bbox.width
    context.textAlign = fits ? 'left' : 'right'
    const [nameX, nameY] = [x + (fits ? size / 3 : -size / 3), bbox.top + size]
    // A ground of its own keeps it apart from the line behind.
    context.save()
    context.setLineDash([])
    context.lineJoin = 'round'
    context.lineWidth = size / 3
    context.strokeStyle = colour('--surface')
    context.strokeText(name, nameX, nameY)
    context.restore()
    context.fillText(name, nameX, nameY)
    nameFrom = x + Math.max(width + size, ROOM * size)
  }
  context.restore()
}

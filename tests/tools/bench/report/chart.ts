/** The goals as a picture: the distance of each figure from its goal, the best first. */
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'
import { type Judged, type Measured, median, type Verdict } from '../measure.ts'
import { shown, wanted } from './table.ts'

const WIDTH = 1_300
const LABELS = 760
const LINE = 20
const TOP = 52
/** Position of an exactly met goal; each step to the right or left is twice as good or bad. */
const GOAL = 1_020
const STEP = 90
const MOST_STEPS = 2.5
const COLOURS: Record<Verdict, string> = { met: '#1f6f5c', missed: '#c2452d', 'not decided': '#999' }

/** 1 for an exactly met goal, more for a better figure, in either direction. */
export function scoreOf({ ratios, atLeast = -Infinity, atMost = Infinity }: Judged): number {
  const ratio = median(ratios)
  // A cost that was subtracted may be negative.
  return atMost < Infinity ? atMost / Math.max(ratio, Number.MIN_VALUE) : ratio / atLeast
}

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x}" y="${y}" ${more}>${escapeMarkup(content)}</text>`

function lineOf(title: string, goal: Judged, y: number): string[] {
  const steps = Math.max(-MOST_STEPS, Math.min(MOST_STEPS, Math.log2(scoreOf(goal))))
  const end = GOAL + steps * STEP
  const [x, width] = [Math.min(GOAL, end), Math.max(1, Math.abs(end - GOAL))]
  const [place, anchor] = steps < 0 ? [end - 6, 'end'] : [end + 6, 'start']
  return [
    text(LABELS, y, `${title}: ${wanted(goal)}`, 'text-anchor="end"'),
    `<rect x="${x.toFixed(1)}" y="${y - 11}" width="${width.toFixed(1)}" height="13" fill="${COLOURS[goal.verdict]}"/>`,
    text(Number(place.toFixed(1)), y, shown(median(goal.ratios)), `fill="#555" text-anchor="${anchor}"`),
  ]
}

/** A standalone SVG. */
export function chart(rows: readonly Measured[], caption: string): string {
  const lines = rows
    .flatMap(({ title, goals }) => goals.map((goal) => ({ title, goal })))
    .sort((a, b) => scoreOf(b.goal) - scoreOf(a.goal))
  const height = TOP + lines.length * LINE
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    text(12, 20, caption, 'fill="#555"'),
    text(GOAL, 36, 'the goal', 'text-anchor="middle"'),
    text(GOAL - STEP, 36, 'half as good', 'text-anchor="middle" fill="#555"'),
    text(GOAL + STEP, 36, 'twice as good', 'text-anchor="middle" fill="#555"'),
    ...lines.flatMap(({ title, goal }, i) => lineOf(title, goal, TOP + 8 + i * LINE)),
    `<line x1="${GOAL}" y1="42" x2="${GOAL}" y2="${height}" stroke="#333"/>`,
    '</svg>\n',
  ].join('\n')
}

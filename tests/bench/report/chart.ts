/** The table as a picture: each row's bars as shares of its longest. */
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'
import { type Measured, median } from '../measure.ts'
import { cpuText, shown } from './table.ts'

const WIDTH = 1_280
const LABELS = 330
const BARS = 340
const LINE = 18
const COLOURS = { ours: '#1f6f5c', limit: '#9aa5a1', peer: '#d9a441' }

const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${x}" y="${y}" ${more}>${escapeMarkup(content)}</text>`

function rowOf({ title, unit, figures, goals }: Measured, top: number): string[] {
  const longest = Math.max(...figures.map(({ samples }) => median(samples)))
  const verdict = goals.every(({ met }) => met) ? '✓' : '✗'
  const lines = [text(12, top, `${title} ${verdict}`, 'font-weight="bold"')]
  for (const [i, { name, role, samples, cpu }] of figures.entries()) {
    const y = top + (i + 1) * LINE
    const long = Math.max(1, (median(samples) / longest) * BARS)
    const cost = cpu === undefined ? '' : ` · CPU a request, µs: ${cpuText(cpu)}`
    lines.push(
      text(LABELS - 8, y, name, 'text-anchor="end"'),
      `<rect x="${LABELS}" y="${y - 11}" width="${long.toFixed(1)}" height="13" fill="${COLOURS[role]}"/>`,
      text(LABELS + long + 6, y, `${shown(median(samples))} ${unit}${cost}`, 'fill="#555"'),
    )
  }
  return lines
}

/** An SVG that stands by itself. */
export function chart(rows: readonly Measured[], caption: string): string {
  const parts: string[] = []
  let top = 44
  for (const row of rows) {
    parts.push(...rowOf(row, top))
    top += (row.figures.length + 1) * LINE + 14
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${top}" fill="#fff"/>`,
    text(12, 20, caption, 'fill="#555"'),
    ...parts,
    '</svg>\n',
  ].join('\n')
}

/** Figures as text, for a terminal and for the README. */
import { type Figure, type Judged, type Measured, median, spread } from '../measure.ts'

/** A figure with three digits that count. */
export function shown(figure: number): string {
  if (figure >= 1_000) return Math.round(figure).toLocaleString('en')
  return Number(figure.toPrecision(3)).toString()
}

const ratioOf = (ratios: readonly number[]): string => median(ratios).toFixed(2)

function wanted({ of, atLeast = -Infinity, atMost = Infinity }: Judged): string {
  const bound = atMost < Infinity ? `≤ ${Number(atMost.toFixed(2))}` : `≥ ${Number(atLeast.toFixed(2))}`
  return of === null ? bound : `${bound} × ${of}`
}

const figureLine = (unit: string, { name, role, samples }: Figure): string =>
  `  ${role.padEnd(5)} ${name.padEnd(46)} ${shown(median(samples)).padStart(12)} ± ${shown(spread(samples)).padEnd(8)} ${unit}` +
  `  (${shown(Math.min(...samples))} – ${shown(Math.max(...samples))})`

const goalLine = (goal: Judged): string => {
  const low = Math.min(...goal.ratios).toFixed(2)
  const high = Math.max(...goal.ratios).toFixed(2)
  return `  ${goal.met ? 'met  ' : 'MISSED'} ${ratioOf(goal.ratios)} (${low} – ${high}), goal ${wanted(goal)}`
}

/** A row for the terminal: medians, their median distance, least and most; then the goals. */
export const rowText = ({ title, unit, figures, goals }: Measured): string =>
  [title, ...figures.map((figure) => figureLine(unit, figure)), ...goals.map(goalLine)].join('\n')

const bare = (goal: Judged): string => (goal.of === null ? 'itself' : goal.of)

/** The table of the README: ratios within one run, with their least and most. */
export function markdown(rows: readonly Measured[]): string {
  const lines = [
    '| what | measured | beside | ratio (least – most) | goal |  |',
    '| ---- | -------- | ------ | -------------------- | ---- | - |',
  ]
  for (const { title, unit, figures, goals } of rows)
    for (const [i, goal] of goals.entries()) {
      const [ours] = figures
      const other = figures.find(({ name }) => name === goal.of)
      const beside = other === undefined ? '' : `${bare(goal)}: ${shown(median(other.samples))}`
      const ratio =
        goal.of === null
          ? ''
          : `${ratioOf(goal.ratios)} (${Math.min(...goal.ratios).toFixed(2)} – ${Math.max(...goal.ratios).toFixed(2)})`
      const measured = i === 0 ? `${shown(median(ours!.samples))} ${unit}` : ''
      const bound = wanted({ ...goal, of: null })
      lines.push(
        `| ${i === 0 ? title : ''} | ${measured} | ${beside} | ${ratio} | ${bound} | ${goal.met ? '✓' : '✗'} |`,
      )
    }
  return lines.join('\n')
}

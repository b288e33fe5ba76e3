/** Figures as text, for a terminal and for this folder’s README. */
import {
  cpuRatios,
  type Figure,
  type Goal,
  type Judged,
  type Measured,
  median,
  spread,
  type Verdict,
} from '../measure.ts'

/** A figure with three significant digits. */
export function shown(figure: number): string {
  if (figure >= 1_000) return Math.round(figure).toLocaleString('en')
  return Number(figure.toPrecision(3)).toString()
}

/** The median of the rounds, as a ratio or a figure. */
export const ratioOf = (ratios: readonly number[]): string => median(ratios).toFixed(2)

/** The bound of a goal. */
const boundOf = ({ atLeast = -Infinity, atMost = Infinity }: Judged): string =>
  atMost < Infinity ? `≤ ${Number(atMost.toFixed(2))}` : `≥ ${Number(atLeast.toFixed(2))}`

/** What the goal compares with: empty for the row's own figure. */
export const comparedOf = ({ of, cpu }: Goal): string =>
  [cpu === undefined ? '' : `CPU of ${cpu.ours.join(', ')}`, of ?? ''].filter(Boolean).join(' / ')

/** A goal as text. */
export const wanted = (goal: Judged): string => [comparedOf(goal), boundOf(goal)].filter(Boolean).join(' ')

/** The median, and the median distance from it where there is more than one round. */
const withSpread = (samples: readonly number[]): string =>
  samples.length === 1
    ? shown(samples[0]!)
    : `${shown(median(samples))} ± ${Number(spread(samples).toPrecision(2))}`

/** CPU microseconds per request, by process. */
const cpuText = (cpu: NonNullable<Figure['cpu']>): string =>
  Object.entries(cpu)
    .map(([process, samples]) => `${process} ${withSpread(samples)}`)
    .join(', ')

const figureLine = (unit: string, { name, role, samples, cpu }: Figure): string =>
  `  ${role.padEnd(5)} ${name.padEnd(46)} ${shown(median(samples)).padStart(12)} ± ${shown(spread(samples)).padEnd(8)} ${unit}` +
  `  (${shown(Math.min(...samples))} – ${shown(Math.max(...samples))})` +
  (cpu === undefined ? '' : `\n        CPU a request, µs: ${cpuText(cpu)}`)

const goalLine = (goal: Judged): string => {
  const low = Math.min(...goal.ratios).toFixed(2)
  const high = Math.max(...goal.ratios).toFixed(2)
  const verdict = goal.verdict === 'missed' ? 'MISSED' : goal.verdict.padEnd(6)
  return `  ${verdict} ${ratioOf(goal.ratios)} (${low} – ${high}), goal ${wanted(goal)}`
}

/** A row for the terminal: medians, their median distance, minimum and maximum; then the goals. */
export const rowText = ({ title, unit, figures, goals }: Measured): string =>
  [title, ...figures.map((figure) => figureLine(unit, figure)), ...goals.map(goalLine)].join('\n')

/** A figure, and the cost of a request. */
const cell = ({ samples, cpu }: Figure, unit = ''): string =>
  `${withSpread(samples)}${unit}${cpu === undefined ? '' : ` (${cpuText(cpu)})`}`

const range = (ratios: readonly number[] | null): string =>
  ratios === null
    ? ''
    : `${ratioOf(ratios)} (${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)})`

/**
 * The table of this folder’s README: ratios within one run, with their minimum and maximum, next to
 * everything measured; in brackets the CPU of each process per request, in microseconds.
 */
export function markdown(rows: readonly Measured[]): string {
  const lines = [
    '| what | measured (CPU a request, µs) | beside (CPU a request, µs) | ratio (least – most) | ratio of CPU | goal |  |',
    '| ---- | ---------------------------- | -------------------------- | -------------------- | ------------ | ---- | - |',
  ]
  for (const row of rows) {
    const [ours, ...others] = row.figures
    const cells = [
      ...row.goals.map((goal) => judgedCells(goal, ours!, others)),
      ...others
        .filter(({ name }) => row.goals.every(({ of }) => of !== name))
        .map((other) => [
          `${other.name}: ${cell(other)}`,
          range(ratiosOf(ours!, other)),
          range(cpuRatios(ours!, other)),
          '',
          '',
        ]),
    ]
    for (const [i, each] of cells.entries()) {
      const first = i === 0 ? [row.title, cell(ours!, ` ${row.unit}`)] : ['', '']
      lines.push(`| ${[...first, ...each].join(' | ')} |`)
    }
  }
  return [...lines, '', `${metText(rows)}.`].join('\n')
}

/** How many goals are met, as repeated by this folder’s README and the repository’s. */
export function metText(rows: readonly Measured[]): string {
  const goals = rows.flatMap((row) => row.goals)
  const count = (verdict: Verdict) => goals.filter((goal) => goal.verdict === verdict).length
  const undecided = count('not decided')
  return `${count('met')} of ${goals.length} goals are met${undecided === 0 ? '' : `, and ${undecided} not decided`}`
}

const MARKS: Record<Verdict, string> = { met: '✓', missed: '✗', 'not decided': '?' }

const ratiosOf = (ours: Figure, other: Figure): number[] =>
  ours.samples.map((sample, i) => sample / other.samples[i]!)

function judgedCells(goal: Judged, ours: Figure, others: readonly Figure[]): string[] {
  const other = others.find(({ name }) => name === goal.of)
  const isOfCpu = goal.cpu !== undefined
  const beside = isOfCpu ? comparedOf(goal) : other && `${other.name}: ${cell(other)}`
  const cpu = isOfCpu || other === undefined ? null : cpuRatios(ours, other)
  return [
    beside ?? '',
    beside === undefined ? '' : range(goal.ratios),
    range(cpu),
    boundOf(goal),
    MARKS[goal.verdict],
  ]
}

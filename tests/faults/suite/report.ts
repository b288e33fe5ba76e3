/** The table of outcomes. */
import type { Outcome } from './run-fault.ts'

/** Whether an outcome is as promised. Data that a store itself loses are no failure of the service. */
export const isGood = ({ lost, doubled, complaints, loses, servingS, settledS }: Outcome): boolean =>
  (loses || lost === 0) && doubled === 0 && complaints.length === 0 && servingS !== null && settledS !== null

const seconds = (figure: number | null): string => (figure === null ? 'not' : figure.toFixed(1))

const COLUMNS: readonly (readonly [title: string, cell: (outcome: Outcome) => string])[] = [
  ['fault', ({ fault }) => fault],
  ['requests', ({ requests }) => `${requests}`],
  ['answered', ({ answered }) => `${answered}`],
  ['stored', ({ stored }) => `${stored}`],
  ['lost', ({ lost }) => `${lost}`],
  ['doubled', ({ doubled }) => `${doubled}`],
  ['s to serve', ({ servingS }) => seconds(servingS)],
  ['s to settle', ({ settledS }) => seconds(settledS)],
]

/** The table as markdown, its columns aligned. */
export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome) => COLUMNS.map(([, cell]) => cell(outcome)))
  const titles = COLUMNS.map(([title]) => title)
  const widths = titles.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(titles), rule, ...rows.map(line)].join('\n')
}

/** A line for each complaint. */
export const complaints = (outcomes: readonly Outcome[]): string[] =>
  outcomes.flatMap(({ fault, complaints: all }) => all.map((one) => `  ${fault}: ${one}`))

/** CSV files of the console, for spreadsheets. */
import { noFormula } from '#shared/core/rules/csv-formulas.ts'

export type Cell = string | number | null | undefined

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell)
  const safe = noFormula(cell ?? '')
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** CSV as in RFC 4180, with a byte order mark so that spreadsheets read it as UTF-8. */
export const csvOf = (rows: readonly (readonly Cell[])[]): string =>
  `\uFEFF${rows.map((row) => row.map(cellText).join(',')).join('\r\n')}\r\n`

/**
 * Records of a CSV file (RFC 4180). Spreadsheets of some countries write another separator, and some name it in a line
 * of its own. A cell that does not begin with a quote may contain some.
 * @param first name of the first column, by whose end the separator is known
 * @returns no records for a file without that column
 */
export function recordsOf(file: string, first: string): string[][] {
  const text = file.replace(/^"?sep=.?"?\r?\n/i, '')
  const separator = new RegExp(`^"?${first}"?([,;\\t])`, 'i').exec(text)?.[1]
  if (separator === undefined) return []
  const records: string[][] = [[]]
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)"|((?!")[^${separator}\\r\\n]*))(${separator}|\\r?\\n|\\r|$)`,
    'y',
  )
  while (cell.lastIndex < text.length) {
    const [, quoted, plain, end] = cell.exec(text) ?? []
    if (end === undefined) return []
    records.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
    if (end !== separator && cell.lastIndex < text.length) records.push([])
  }
  return records
}

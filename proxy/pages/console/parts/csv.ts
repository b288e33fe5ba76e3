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

/** Files that the operator keeps. They are made in the page and never sent anywhere. */

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

type Cell = string | number | null | undefined

/** A spreadsheet reads a cell that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell)
  const text = cell ?? ''
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** CSV as RFC 4180 has it, with a byte order mark so that spreadsheets read it as UTF-8. */
export const csvOf = (rows: readonly (readonly Cell[])[]): string =>
  `\uFEFF${rows.map((row) => row.map(cellText).join(',')).join('\r\n')}\r\n`

export const saveCsv = (rows: readonly (readonly Cell[])[], name: string): void =>
  saveBlob(new Blob([csvOf(rows)], { type: 'text/csv' }), name)

/** Saves what canvases show, one over the other, on the ground of the page. */
export function savePng(canvases: readonly HTMLCanvasElement[], name: string): void {
  const copy = document.createElement('canvas')
  copy.width = Math.max(...canvases.map(({ width }) => width))
  copy.height = Math.max(...canvases.map(({ height }) => height))
  const context = copy.getContext('2d')!
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--surface')
  context.fillRect(0, 0, copy.width, copy.height)
  for (const canvas of canvases) context.drawImage(canvas, 0, 0)
  copy.toBlob((blob) => blob && saveBlob(blob, name))
}

/** Writes the figures of a whole run into the pages that quote them: this folder’s README, and the repository’s. */
import { join } from 'node:path'
import { type Measured, median } from '../measure.ts'
import { markdown, metText, shown } from './table.ts'

const ROOT = join(import.meta.dir, '../../../..')
const TABLE = /(<!-- bun run bench --write -->\n)[^]*?(\n<!-- end -->)/
const MET = /\d+\s+of\s+\d+\s+goals\s+are\s+met(,\s+and\s+\d+\s+not\s+decided)?/g
const RATES = /(## How fast\n\n)[^]*?(The benchmark compares)/

const ours = (rows: readonly Measured[], id: string): string => {
  const figure = rows.find((row) => row.id === id)?.figures[0]
  if (figure === undefined) throw new Error(`no row ${id} was measured`)
  return shown(median(figure.samples))
}

/** The rates that the first page quotes. */
const ratesText = (rows: readonly Measured[]): string =>
  `On two cores tracking alone accepts ${ours(rows, 'check-in-always')} check-ins a second, each written to disk ` +
  `before it is answered. Through Caddy with TLS it is ${ours(rows, 'caddy')}. A flush stores and folds ` +
  `${ours(rows, 'flush-100000')} points a second. `

/** A page with the figures of these rows in place of those of an earlier run. @throws Error when it has no place for them */
export function withFigures(page: string, rows: readonly Measured[]): string {
  const place = TABLE.test(page) ? TABLE : RATES
  if (!place.test(page)) throw new Error('the page has no place for the figures')
  const text = place === TABLE ? `\n${markdown(rows)}\n` : ratesText(rows)
  return page
    .replace(place, (_, before: string, after: string) => before + text + after)
    .replaceAll(MET, () => metText(rows))
}

/** Writes both pages. `bun run format` aligns the table. */
export async function writePages(rows: readonly Measured[]): Promise<void> {
  for (const path of ['README.md', 'tests/tools/bench/README.md']) {
    const file = Bun.file(join(ROOT, path))
    await Bun.write(file, withFigures(await file.text(), rows))
  }
}

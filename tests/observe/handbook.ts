/** The handbook's table of metrics. `bun tests/observe/handbook.ts` writes it into services/README.md. */
import { join } from 'node:path'
import { OBSERVED } from '#proxy/observe/write.ts'
import { type Metric, METRICS } from '#shared/runtime/metric-table.ts'

export const HANDBOOK = join(import.meta.dir, '../../services/README.md')
const TABLE = /(?<=\n)\| metric +\|.*\n(?:\|.*\n)+/

/** A text with the table as it should be. */
export function withTable(text: string): string {
  if (!TABLE.test(text)) throw new Error('there is no table of metrics')
  const rows = [
    ['metric', 'type', 'what it counts', 'when to act'],
    ...Object.entries<Metric>(METRICS).map(([name, { type, help, act = '' }]) => {
      const alerts = OBSERVED[name]?.alerts ?? []
      return [`\`${name}\``, type, help, alerts.map((alert) => alert.name).join(', ') || act]
    }),
  ]
  const widths = [0, 1, 2, 3].map((i) => Math.max(...rows.map((row) => row[i]!.length)))
  const lines = [rows[0]!, widths.map((width) => '-'.repeat(width)), ...rows.slice(1)].map(
    (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |\n`,
  )
  return text.replace(TABLE, () => lines.join(''))
}

if (import.meta.main) await Bun.write(HANDBOOK, withTable(await Bun.file(HANDBOOK).text()))

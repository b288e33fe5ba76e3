/** The differences that a rebuild finds: each wrong row is reported and corrected. */
import type { Tx } from '#shared/stores/db/db.ts'
import { type Column, JSON_TYPE, type Row, type Table, upsertOf } from '#shared/points/totals/event-totals.ts'

const READ: Record<Column, (column: string) => string> = {
  text: (column) => column,
  day: (column) => `${column}::text AS ${column}`,
  instant: (column) => `epoch_ms(${column}) AS ${column}`,
  number: (column) => column,
  whole: (column) => `${column}::float8 AS ${column}`,
}

export function selectOf({ name, key, columns }: Table, where = ''): string {
  const list = Object.entries(columns).map(([column, type]) => READ[type](column))
  return `SELECT ${list.join(', ')} FROM ${name} ${where} ORDER BY ${key.join(', ')}`
}

/** The stored rows of these pilgrims. */
export const storedRows = (tx: Tx, table: Table, userIds: readonly string[]): Promise<Row[]> =>
  tx.sql.unsafe<Row[]>(
    selectOf(table, 'WHERE user_id IN (SELECT jsonb_array_elements_text($1::text::jsonb))'),
    [JSON.stringify(userIds)],
  )

export class Differences {
  count = 0

  constructor(private readonly tell: (line: string) => void) {}

  found(what: string): void {
    this.count++
    this.tell(what)
  }

  /** Changes stored rows to the expected ones. A row of zeros and nulls equals a missing row. */
  async reconcile(tx: Tx, table: Table, expected: readonly Row[], stored: readonly Row[]): Promise<void> {
    const keyOf = (row: Row) => table.key.map((name) => shown(row[name]!, table.columns[name]!)).join(' ')
    const unmatched = new Map(stored.map((row) => [keyOf(row), row]))
    const wrong: Row[] = []
    for (const row of expected) {
      const key = keyOf(row)
      const was = unmatched.get(key)
      unmatched.delete(key)
      const changes = Object.entries(table.columns)
        .filter(([name]) => row[name] !== (was ?? NOTHING)[name])
        .map(
          ([name, column]) =>
            `${name} ${was ? shown(was[name]!, column) : '-'} → ${shown(row[name]!, column)}`,
        )
      if (changes.length === 0 || (was === undefined && isEmpty(table, row))) continue
      wrong.push(row)
      this.found(`${table.name} ${key}: ${was ? changes.join(', ') : `missing (${changes.join(', ')})`}`)
    }
    if (wrong.length > 0) await tx.sql.unsafe(upsertOf(table).join('$1'), [JSON.stringify(wrong)])
    for (const [key, row] of unmatched) {
      if (isEmpty(table, row)) continue
      this.found(`${table.name} ${key}: not expected`)
      await remove(tx, table, row)
    }
  }
}

const NOTHING: Row = {}

const isEmpty = ({ key, columns }: Table, row: Row): boolean =>
  Object.keys(columns).every((name) => key.includes(name) || row[name] === 0 || row[name] === null)

const shown = (value: Row[string], column: Column): string =>
  column === 'instant' && typeof value === 'number' ? new Date(value).toISOString() : String(value)

async function remove(tx: Tx, { name, key, columns }: Table, row: Row): Promise<void> {
  const conditions = key.map((column, i) =>
    columns[column] === 'instant'
      ? `${column} = from_epoch_ms($${i + 1})`
      : `${column} = $${i + 1}::${JSON_TYPE[columns[column]!]}`,
  )
  await tx.sql.unsafe(
    `DELETE FROM ${name} WHERE ${conditions.join(' AND ')}`,
    key.map((column) => row[column]!),
  )
}

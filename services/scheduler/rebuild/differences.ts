/** The differences that a rebuild finds: each wrong row is reported and corrected. */
import type { Query } from '#shared/stores/db/db.ts'

/** How a column is read, compared and written. */
type Column = 'text' | 'day' | 'instant' | 'number' | 'whole'

/** A table that a rebuild reconciles. Instants are epoch milliseconds here. */
export interface Table {
  readonly name: string
  readonly key: readonly string[]
  readonly columns: Readonly<Record<string, Column>>
}

type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

const READ: Record<Column, (column: string) => string> = {
  text: (column) => column,
  day: (column) => `${column}::text AS ${column}`,
  instant: (column) => `(extract(epoch FROM ${column}) * 1000)::float8 AS ${column}`,
  number: (column) => column,
  whole: (column) => `${column}::float8 AS ${column}`,
}
const JSON_TYPE = { text: 'text', day: 'date', instant: 'float8', number: 'float8', whole: 'bigint' } as const

/** The columns of a table as a SELECT list. */
export const readable = ({ columns }: Table): string =>
  Object.entries(columns)
    .map(([name, column]) => READ[column](name))
    .join(', ')

/** Finds and counts differences, and reports each in a line. */
export class Differences {
  count = 0

  constructor(private readonly tell: (line: string) => void) {}

  found(what: string): void {
    this.count++
    this.tell(what)
  }

  /** Changes stored rows to the expected ones. A row of zeros and nulls equals a missing row. */
  async reconcile(tx: Query, table: Table, expected: readonly Row[], stored: readonly Row[]): Promise<void> {
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
    await write(tx, table, wrong)
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

const shown = (value: Value, column: Column): string =>
  column === 'instant' && typeof value === 'number' ? new Date(value).toISOString() : String(value)

async function write(tx: Query, { name, key, columns }: Table, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const names = Object.keys(columns)
  const values = names.map((column) =>
    columns[column] === 'instant' ? `to_timestamp(${column} / 1000)` : column,
  )
  const types = names.map((column) => `${column} ${JSON_TYPE[columns[column]!]}`)
  const changed = names.filter((column) => !key.includes(column))
  await tx.unsafe(
    `INSERT INTO ${name} (${names.join(', ')})
     SELECT ${values.join(', ')} FROM jsonb_to_recordset($1::text::jsonb) AS r (${types.join(', ')})
     ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    [JSON.stringify(rows)],
  )
}

async function remove(tx: Query, { name, key, columns }: Table, row: Row): Promise<void> {
  const conditions = key.map((column, i) =>
    columns[column] === 'instant'
      ? `${column} = to_timestamp($${i + 1}::float8 / 1000)`
      : `${column} = $${i + 1}::${JSON_TYPE[columns[column]!]}`,
  )
  await tx.unsafe(
    `DELETE FROM ${name} WHERE ${conditions.join(' AND ')}`,
    key.map((column) => row[column]!),
  )
}

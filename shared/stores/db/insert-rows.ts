/** Bulk insert: the interface, and the variant by arrays. */
import type { Query } from './query.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** Column types. `instant`: epoch milliseconds, stored as a timestamp with time zone. */
export type ColumnType = 'text' | 'float8' | 'float4' | 'instant' | 'boolean'

/** A column, and how its value is derived from an item. */
export interface Column<T> {
  readonly name: string
  readonly type: ColumnType
  readonly of: (item: T) => string | number | boolean | null
}

/**
 * Inserts a row for each item, in one statement of the transaction.
 * @throws ValueRefused or PostgresError for a value that its column rejects
 */
export type InsertRows = <T>(
  tx: Query,
  table: string,
  columns: readonly Column<T>[],
  items: readonly T[],
) => Promise<void>

/** A value that its column would reject, found before sending. */
export class ValueRefused extends LoggableError {
  override name = 'ValueRefused'
}

/** The array type that carries a column's values, and the SQL expression that reads them. */
const TRANSPORT: Readonly<Record<ColumnType, readonly [type: string, read: (name: string) => string]>> = {
  text: ['text', (name) => name],
  float8: ['float8', (name) => name],
  float4: ['float4', (name) => name],
  instant: ['float8', (name) => `to_timestamp(${name} / 1000)`],
  // postgres.js mistakes a list of booleans for a single one.
  boolean: ['int', (name) => `${name} = 1`],
}

/** Inserts by array parameters, which every Postgres supports, including PGlite. */
export const insertArrays: InsertRows = async (tx, table, columns, items) => {
  const names = columns.map(({ name }) => name).join()
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${TRANSPORT[type][0]}[]`)
  const read = columns.map(({ name, type }) => TRANSPORT[type][1](name))
  await tx.unsafe(
    `INSERT INTO ${table} (${names}) SELECT ${read.join()} FROM unnest(${arrays.join()}) AS given (${names})`,
    columns.map(({ type, of }) => items.map((item) => toTransport(type, of(item)))) as never[],
    { prepare: true },
  )
}

function toTransport(
  type: ColumnType,
  value: string | number | boolean | null,
): string | number | boolean | null {
  if (type === 'boolean') return value === true ? 1 : 0
  // Postgres rejects a number that is too small for a float4 instead of rounding it to 0.
  if (type === 'float4' && typeof value === 'number' && Math.fround(value) === 0) return 0
  return value
}

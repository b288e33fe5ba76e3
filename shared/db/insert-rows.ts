/** Many rows into a table at once, as each driver does it best. */
import type { Query } from './query.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** Types of columns. `instant`: milliseconds since the epoch, into a timestamp with time zone. */
export type ColumnType = 'text' | 'float8' | 'float4' | 'instant' | 'boolean'

/** A column, and what stands there in the row of a thing. */
export interface Column<T> {
  readonly name: string
  readonly type: ColumnType
  readonly of: (thing: T) => string | number | boolean | null
}

/**
 * Inserts a row for each thing, in one statement of the transaction.
 * @throws ValueRefused or PostgresError for a value that its column does not take
 */
export type InsertRows = <T>(
  tx: Query,
  table: string,
  columns: readonly Column<T>[],
  things: readonly T[],
) => Promise<void>

/** A value that its column does not take, found before it was sent. */
export class ValueRefused extends LoggableError {
  override name = 'ValueRefused'
}

/** How a column travels in an array, and what it is made into. */
const CARRIED: Readonly<Record<ColumnType, readonly [type: string, read: (name: string) => string]>> = {
  text: ['text', (name) => name],
  float8: ['float8', (name) => name],
  float4: ['float4', (name) => name],
  instant: ['float8', (name) => `to_timestamp(${name} / 1000)`],
  // postgres.js takes a list of booleans for a single one.
  boolean: ['int', (name) => `${name} = 1`],
}

/** By arrays: what every Postgres takes, PGlite included. */
export const insertArrays: InsertRows = async (tx, table, columns, things) => {
  const names = columns.map(({ name }) => name).join()
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${CARRIED[type][0]}[]`)
  const read = columns.map(({ name, type }) => CARRIED[type][1](name))
  await tx.unsafe(
    `INSERT INTO ${table} (${names}) SELECT ${read.join()} FROM unnest(${arrays.join()}) AS given (${names})`,
    columns.map(({ type, of }) => things.map((thing) => carried(type, of(thing)))) as never[],
    { prepare: true },
  )
}

function carried(
  type: ColumnType,
  value: string | number | boolean | null,
): string | number | boolean | null {
  if (type === 'boolean') return value === true ? 1 : 0
  // Postgres refuses a number that is too small for a float4, instead of taking it for 0.
  if (type === 'float4' && typeof value === 'number' && Math.fround(value) === 0) return 0
  return value
}

/** The driver for a PostgreSQL server. */
import postgres, { type UnsafeQueryOptions } from 'postgres'
import { type Column, type ColumnType, type Driver, type InsertRows, ValueRefused } from './db.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** Maximum number of connections per service; six services and their replicas share the server. */
const POOL = 10

/** The server cancels a longer statement; the client closes an unresponsive connection soon after that. */
const STATEMENT_MS = 60_000

/** @param statementMs statement timeout in milliseconds; 0: none */
export function openPostgres(url: string, statementMs = STATEMENT_MS): Driver {
  const client = postgres(url, {
    max: POOL,
    connect_timeout: 3,
    idle_timeout: 60,
    max_lifetime: 1_800,
    // A server that is down refuses connections immediately, and reconnecting must be fast. The library's own back-off
    // counts the failures of all connections together, so it would reach its maximum immediately.
    backoff: () => 0.1,
    onnotice: () => undefined,
    connection: {
      application_name: 'event',
      statement_timeout: statementMs,
      // Compiling a long statement takes longer than running it: a pilgrim's page took 2 s, and 0.1 s without JIT.
      jit: 'off',
      // Releases the locks of a transaction whose client was suspended.
      idle_in_transaction_session_timeout: 60_000,
    },
  })
  return { client, insertRows: copyRows, stop: async () => undefined }
}

/** The message's type and length, the signature, then 4 bytes of flags and 4 of an extension's length, both zero. */
const HEADER = Buffer.from(`d\0\0\0\0PGCOPY\n\xff\r\n\0${'\0'.repeat(8)}`, 'latin1')
/** The end of the rows, and the message that ends a COPY. */
const TRAILER = Buffer.from('\xff\xffc\0\0\0\x04', 'latin1')
/** Bytes of a value: its length (4) and a number (8). A text needs more. */
const VALUE_BYTES = 12
const LONGEST_CHARACTER = 3
/** Postgres's epoch: timestamps are microseconds since 2000. */
const FIRST_MS = Date.UTC(2000, 0, 1)
const HIGH = 2 ** 32

const copyRows: InsertRows = async (tx, table, columns, items) => {
  const names = columns.map(({ name }) => name).join()
  // Our patch of postgres.js sends these messages together with the statement.
  const options = { copyMessages: packRows(columns, items) } as UnsafeQueryOptions
  const { count } = await tx.sql.unsafe(`COPY ${table} (${names}) FROM STDIN (FORMAT binary)`, [], options)
  if (count !== items.length)
    throw new LoggableError('the patch of postgres.js is missing: run `bun install`')
}

/** The messages of a COPY of these rows, in its binary format. @throws ValueRefused */
function packRows<T>(columns: readonly Column<T>[], items: readonly T[]): Buffer {
  const rowBytes = 2 + columns.length * VALUE_BYTES
  let bytes = Buffer.allocUnsafe(HEADER.length + TRAILER.length + items.length * rowBytes)
  let at = HEADER.copy(bytes)
  for (const item of items) {
    at = bytes.writeInt16BE(columns.length, at)
    for (const { type, of } of columns) {
      const value = of(item)
      const maxBytes = rowBytes + (typeof value === 'string' ? value.length * LONGEST_CHARACTER : 0)
      if (at + maxBytes > bytes.length)
        bytes = Buffer.concat([bytes.subarray(0, at)], 2 * bytes.length + maxBytes)
      const end = value === null ? at + 4 : packValue(bytes, at + 4, type, value)
      bytes.writeInt32BE(value === null ? -1 : end - at - 4, at)
      at = end
    }
  }
  at += TRAILER.copy(bytes, at)
  // The length excludes the type `d` and the message that ends a COPY.
  bytes.writeInt32BE(at - 6, 1)
  return bytes.subarray(0, at)
}

/** @returns the offset after the value */
function packValue(bytes: Buffer, at: number, type: ColumnType, value: string | number | boolean): number {
  if (type === 'text') return at + bytes.write(String(value), at)
  if (type === 'boolean') return bytes.writeUInt8(value === true ? 1 : 0, at)
  if (typeof value !== 'number')
    throw new ValueRefused(`not a value of its type: a ${typeof value} for a number`)
  if (type === 'float8') return bytes.writeDoubleBE(value, at)
  if (type === 'float4') {
    if (Number.isFinite(value) && !Number.isFinite(Math.fround(value)))
      throw new ValueRefused('a number is out of range for single precision')
    // `|| 0` turns -0, the rounding of a tiny negative number, into 0.
    return bytes.writeFloatBE(Math.fround(value) || 0, at)
  }
  const microseconds = (value - FIRST_MS) * 1_000
  if (!Number.isSafeInteger(microseconds)) throw new ValueRefused('a time is out of range')
  const high = Math.floor(microseconds / HIGH)
  bytes.writeInt32BE(high, at)
  return bytes.writeUInt32BE(microseconds - high * HIGH, at + 4)
}

/**
 * The database port. Both drivers are a postgres.js client with drizzle: one connects to a server, the other to
 * PGlite in a worker behind a socket.
 *
 * Rules for callers: inside a transaction, use only its handle (the embedded driver has one connection, so the outer
 * handle would deadlock). In raw SQL, pass and read times as epoch milliseconds by the functions `from_epoch_ms` and
 * `epoch_ms` of the schema, and JSON as text, because drizzle disables the client's own conversions.
 */
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql, TransactionSql } from 'postgres'
import { LoggableError } from '#shared/runtime/log.ts'

/** Runs statements, as SQL or by drizzle: a transaction, or the database itself. */
export interface Tx {
  readonly sql: Sql | TransactionSql
  readonly orm: Pick<PostgresJsDatabase, 'insert' | 'select' | 'update' | 'delete' | 'execute' | '$count'>
}

export interface Database extends Tx {
  readonly sql: Sql
  readonly insertRows: InsertRows
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>
  /** Runs a read-only transaction whose statements all see one snapshot. */
  snapshot<T>(read: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * As `snapshot`, for reads of minutes. An embedded database, which has one connection, is copied first, and waits only
   * meanwhile.
   * @param leaveBytes free disk space that the copy must leave
   */
  longSnapshot<T>(read: (tx: Tx) => Promise<T>, leaveBytes: number): Promise<T>
  /**
   * Runs a read or an idempotent write, and retries it once if its pooled connection is dead (after a restart all are).
   */
  read<T>(query: () => Promise<T>): Promise<T>
  /** Resolves when the database answers; rejects after about two seconds without an answer. */
  probe(): Promise<void>
  close(): Promise<void>
}

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
  tx: Tx,
  table: string,
  columns: readonly Column<T>[],
  items: readonly T[],
) => Promise<void>

/** A value that its column would reject, found before sending. */
export class ValueRefused extends LoggableError {
  override name = 'ValueRefused'
}

export interface Driver {
  readonly client: Sql
  readonly insertRows: InsertRows
  readonly stop: () => Promise<void>
  /** Copies the files of an embedded database. @returns the copy's directory, which the caller deletes */
  readonly copy?: (leaveBytes: number) => Promise<string>
}

/** The database did not answer in time. */
export class DatabaseTimeout extends LoggableError {
  override name = 'DatabaseTimeout'
  constructor() {
    super('the database did not answer in time')
  }
}

/** Error codes of postgres.js and of the system, and SQLSTATE classes: connection, resources, operator intervention. */
const UNAVAILABLE =
  /^(CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED)|ECONN(REFUSED|RESET)|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|57014|25P03)$/

/** SQLSTATE of a cancelled statement, usually one that exceeded the driver's timeout. */
const CANCELLED = '57014'

/** Whether an error or one of its causes matches. */
function anyCause(error: unknown, isSuch: (error: Error, code: string) => boolean): boolean {
  for (let e = error; e instanceof Error; e = e.cause)
    if (isSuch(e, 'code' in e && typeof e.code === 'string' ? e.code : '')) return true
  return false
}

/** Whether an error or one of its causes means that the database is unavailable, not that a query is wrong. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  anyCause(error, (e, code) => e instanceof DatabaseTimeout || UNAVAILABLE.test(code))

/**
 * Whether an error or one of its causes means that a statement timed out. The database is up: the same statement must
 * not be repeated unchanged, but with less work it may succeed.
 */
export const isStatementTimeout = (error: unknown): boolean =>
  anyCause(error, (_, code) => code === CANCELLED)

/** SQLSTATE classes: data exception, and program limit exceeded (such as JSON nested too deeply). */
const REFUSED = /^(22...|54...)$/

/** Whether an error or one of its causes means that the database rejects the values, so a retry cannot succeed. */
export const isDataRefused = (error: unknown): boolean => anyCause(error, (_, code) => REFUSED.test(code))

/**
 * Key of a person's advisory lock (`shared/pilgrims/person-lock.ts`): 64 bits of the hash of their id, as a decimal
 * bigint.
 */
export const personLockKey = (userHash: string): string =>
  BigInt.asIntN(64, BigInt(`0x${userHash.slice(0, 16)}`)).toString()

const BATCH_ROWS = 5_000

/** Yields the rows of a SELECT in batches of `count`. Each cursor of a transaction needs a unique name. */
export async function* cursorBatches<R extends object>(
  tx: Tx,
  name: string,
  select: string,
  count = BATCH_ROWS,
): AsyncGenerator<R[]> {
  await tx.sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`)
  for (;;) {
    const rows = await tx.sql.unsafe<R[]>(`FETCH ${count} FROM ${name}`)
    if (rows.length === 0) break
    yield [...rows]
  }
  await tx.sql.unsafe(`CLOSE ${name}`)
}

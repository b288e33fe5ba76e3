/**
 * The database port. Both drivers are a postgres.js client with drizzle on it: to a server, or to PGlite in
 * a worker behind a socket.
 *
 * Obligations of callers: inside a transaction use its own handle only (the embedded driver has one
 * connection, and the outer handle would wait for ever). In raw SQL pass times as ISO text and JSON as text,
 * and read times as epoch milliseconds (`ms(column)`): drizzle takes the client's own conversions off.
 */
import type { Sql } from 'postgres'
import type { InsertRows } from './insert-rows.ts'
import type { Orm } from './query.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

export type { Orm, Query } from './query.ts'

export interface Database {
  readonly sql: Sql
  readonly orm: Orm
  readonly insertRows: InsertRows
  /** Runs a read, or a write that is safe to repeat, again once when a connection of the pool turns out to be dead (as all do after a restart). */
  read<T>(ask: () => Promise<T>): Promise<T>
  /** Resolves when the database answers, within about two seconds. */
  probe(): Promise<void>
  close(): Promise<void>
}

/** What a driver brings: a client, and how to stop what it started. */
export interface Driver {
  readonly client: Sql
  readonly insertRows: InsertRows
  readonly stop: () => Promise<void>
}

/** The database did not answer in time. */
export class DatabaseTimeout extends LoggableError {
  override name = 'DatabaseSilent'
  constructor() {
    super('the database did not answer in time')
  }
}

/** postgres.js's own codes, the system's, and SQLSTATE classes: connection, resources, operator intervention. */
const UNAVAILABLE =
  /^(CONNECT_TIMEOUT|CONNECTION_(CLOSED|ENDED|DESTROYED)|ECONN(REFUSED|RESET)|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|08...|53...|57P0.|57014|25P03)$/

/** Whether an error (or what caused it) says that the database is away, rather than that a query is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof DatabaseTimeout) return true
    if ('code' in e && typeof e.code === 'string' && UNAVAILABLE.test(e.code)) return true
  }
  return false
}

/** SQLSTATE classes: data exception, and program limit exceeded (such as JSON that is nested too deep). */
const REFUSED = /^(22...|54...)$/

/** Whether an error (or what caused it) says that the database does not take the values themselves, now or ever. */
export function isDataRefused(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause)
    if ('code' in e && typeof e.code === 'string' && REFUSED.test(e.code)) return true
  return false
}

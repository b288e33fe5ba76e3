/** Opens the database with the driver that the URL selects. */
import { rmSync } from 'node:fs'
import { PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsQueryResultHKT, PostgresJsSession } from 'drizzle-orm/postgres-js'
import type { Sql, TransactionSql } from 'postgres'
import { openEmbeddedPostgres } from './db.embedded.ts'
import { openPostgres } from './db.postgres.ts'
import { type Database, DatabaseTimeout, isDatabaseUnavailable, isStatementTimeout, type Tx } from './db.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'

const PROBE_MS = 2_000
/** Requests time out after 25 s, so a database that is busy for longer cannot serve any. */
const BUSY_MS = 25_000

type RunQuery = () => Promise<unknown>

/** Probe of a server: each call sends a query. The returned function rejects with `DatabaseTimeout` after 2 s. */
const serverProbe = (query: RunQuery) => async (): Promise<void> =>
  void (await within(
    query(),
    PROBE_MS,
    rejectWith(() => new DatabaseTimeout()),
  ))

/**
 * Probe of a database with one connection, where a query may wait behind a flush or a backup of a healthy database.
 * One query is in flight at a time, and the probe fails only after this query has waited for `busyMs`.
 */
export function queuedProbe(
  query: RunQuery,
  { waitMs = PROBE_MS, busyMs = BUSY_MS } = {},
): () => Promise<void> {
  let inFlight: { readonly sinceMs: number; readonly answer: Promise<unknown> } | null = null
  return async () => {
    inFlight ??= {
      sinceMs: performance.now(),
      answer: query().finally(() => {
        inFlight = null
      }),
    }
    const { sinceMs, answer } = inFlight
    await within(answer, waitMs, () => {
      if (performance.now() - sinceMs > busyMs) throw new DatabaseTimeout()
    })
  }
}

const CASING = 'snake_case'
const dialect = new PgDialect({ casing: CASING })

/** drizzle cannot be opened on a transaction of postgres.js, so its parts are assembled here. */
const txOf = (sql: TransactionSql): Tx => ({
  sql,
  get orm() {
    return new PgDatabase<PostgresJsQueryResultHKT>(
      dialect,
      new PostgresJsSession(sql as unknown as Sql, dialect, undefined),
      undefined,
    )
  },
})

/**
 * Opens the database at the URL, or the embedded one in `dir` if the URL is empty. Does not migrate it.
 * @param options.statementMs statement timeout on a server in milliseconds, one minute by default; 0: none
 * @param options.temporary for an embedded one that is deleted after use: its files are not synced to disk
 */
export async function openDatabase(options: {
  readonly url: string
  readonly dir: string
  readonly statementMs?: number
  readonly temporary?: boolean
}): Promise<Database> {
  const { client, insertRows, stop, copy } =
    options.url === ''
      ? await openEmbeddedPostgres(options.dir, options.temporary)
      : openPostgres(options.url, options.statementMs)
  const snapshot: Database['snapshot'] = (read) =>
    client.begin('isolation level repeatable read read only', (sql) => read(txOf(sql))) as ReturnType<
      typeof read
    >
  return {
    sql: client,
    orm: drizzle(client, { casing: CASING }),
    insertRows,
    transaction: (run) => client.begin((sql) => run(txOf(sql))) as ReturnType<typeof run>,
    snapshot,
    async longSnapshot(read, leaveBytes) {
      if (copy === undefined) return snapshot(read)
      const dir = await copy(leaveBytes)
      try {
        const copied = await openDatabase({ url: '', dir, temporary: true })
        try {
          return await copied.snapshot(read)
        } finally {
          await copied.close()
        }
      } finally {
        rmSync(dir, { recursive: true, force: true })
      }
    },
    async read(query) {
      try {
        return await query()
      } catch (error) {
        // A statement that timed out would time out again.
        if (!isDatabaseUnavailable(error) || isStatementTimeout(error)) throw error
        return await query()
      }
    },
    probe: (options.url === '' ? queuedProbe : serverProbe)(async () => client`select 1`),
    async close() {
      await client.end({ timeout: 5 })
      await stop()
    },
  }
}

/** The database on a PostgreSQL server. */
import postgres from 'postgres'
import { copyRows } from './copy-rows.ts'
import type { Driver } from './db.ts'

/** Connections a service keeps at most; six services and their replicas share the server. */
const POOL = 10

/** A statement that takes longer is ended; the client gives up on a silent connection soon after that. */
const STATEMENT_MS = 60_000

/** @param statementMs 0: a statement takes as long as it takes */
export function openPostgres(url: string, statementMs = STATEMENT_MS): Driver {
  const client = postgres(url, {
    max: POOL,
    connect_timeout: 3,
    idle_timeout: 60,
    max_lifetime: 1_800,
    // One that is down refuses at once, and one that is back is wanted at once. The library's own delay counts
    // the failures of all connections together, so it is at its most at once.
    backoff: () => 0.1,
    onnotice: () => undefined,
    connection: {
      application_name: 'event',
      statement_timeout: statementMs,
      // A transaction whose client was stopped must not hold its locks for ever.
      idle_in_transaction_session_timeout: 60_000,
    },
  })
  return { client, insertRows: copyRows, stop: async () => undefined }
}

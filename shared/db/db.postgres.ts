/** The driver for a PostgreSQL server. */
import postgres from 'postgres'
import { copyRows } from './copy-rows.ts'
import type { Driver } from './db.ts'

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
      // Releases the locks of a transaction whose client was suspended.
      idle_in_transaction_session_timeout: 60_000,
    },
  })
  return { client, insertRows: copyRows, stop: async () => undefined }
}

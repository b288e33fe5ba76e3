/** Opens the database with the driver that the URL selects. */
import { drizzle } from 'drizzle-orm/postgres-js'
import { openEmbeddedPostgres } from './db.embedded.ts'
import { openPostgres } from './db.postgres.ts'
import { type Database, isDatabaseUnavailable, isStatementTimeout } from './db.ts'
import { queuedProbe, serverProbe } from './health-probe.ts'

/**
 * Opens the database at the URL, or the embedded one in `dir` if the URL is empty. Does not migrate it.
 * @param options.statementMs statement timeout on a server in milliseconds, one minute by default; 0: none
 */
export async function openDatabase(options: {
  readonly url: string
  readonly dir: string
  readonly statementMs?: number
}): Promise<Database> {
  const { client, insertRows, stop } =
    options.url === ''
      ? await openEmbeddedPostgres(options.dir)
      : openPostgres(options.url, options.statementMs)
  return {
    sql: client,
    orm: drizzle(client),
    insertRows,
    async read(query) {
      try {
        return await query()
      } catch (error) {
        // A statement that ran out of time would do so again.
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

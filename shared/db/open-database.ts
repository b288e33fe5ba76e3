/** Chooses the database's driver. */
import { drizzle } from 'drizzle-orm/postgres-js'
import { openEmbeddedPostgres } from './db.embedded.ts'
import { openPostgres } from './db.postgres.ts'
import { type Database, isDatabaseUnavailable } from './db.ts'
import { queuedProbe, serverProbe } from './probe.ts'

/**
 * Opens the database that the URL names, or the embedded one in `dir`; migrations are the caller's.
 * @param options.statementMs bound of a statement on a server, a minute if not said; 0: none
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
    async read(ask) {
      try {
        return await ask()
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error
        return await ask()
      }
    },
    probe: (options.url === '' ? queuedProbe : serverProbe)(async () => client`select 1`),
    async close() {
      await client.end({ timeout: 5 })
      await stop()
    },
  }
}

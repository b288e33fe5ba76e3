/** Brings a database to the schema of this release. `bun shared/db/migrate.ts` is compose's migration job. */
import { fileURLToPath } from 'node:url'
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator'
import { environment, readConfig } from '#shared/config.ts'
import { type Database, openDatabase } from './db.ts'

const MIGRATIONS = fileURLToPath(new URL('../schema/migrations', import.meta.url))

/** Applies what is missing, in order; safe to call again. */
export const migrateDatabase = (db: Database): Promise<void> =>
  runMigrations(db.orm, { migrationsFolder: MIGRATIONS })

/** Opens the database at `url`, migrates it, closes it. */
export async function migrate(url: string): Promise<void> {
  const db = await openDatabase({ url, dir: '' })
  try {
    await migrateDatabase(db)
  } finally {
    await db.close()
  }
}

if (import.meta.main) {
  const { databaseUrl } = readConfig(environment())
  if (databaseUrl === '') throw new Error('DATABASE_URL is not set; the embedded database migrates itself')
  await migrate(databaseUrl)
  console.log('The database is at the schema of this release.')
}

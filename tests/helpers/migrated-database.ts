/** A migrated embedded database that test files copy: migrating takes several times as long as opening. */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'

/**
 * Copies it to `<dataDir>/db`, unless a database exists there. Does nothing outside `bun run test`, because nothing
 * would delete the original; the database is then created and migrated when it is opened.
 * @param dataDir a directory as in `EVENT_DATA_DIR`
 */
export async function copyMigratedDatabase(dataDir: string): Promise<void> {
  const directory = process.env.TEST_DIRECTORY
  const path = join(dataDir, 'db')
  if (directory === undefined || existsSync(path)) return
  cpSync(await migratedDatabase(directory), path, { recursive: true })
}

/** The original, created by the first test file. */
async function migratedDatabase(directory: string): Promise<string> {
  const path = join(directory, 'embedded-database')
  if (existsSync(path)) return path
  // Test files run in parallel: the directory gets its name when it is complete, and the first one stays.
  const made = mkdtempSync(`${path}-`)
  const db = await openDatabase({ url: '', dir: made })
  try {
    await migrateDatabase(db)
  } finally {
    await db.close()
  }
  try {
    renameSync(made, path)
  } catch (error) {
    if (!existsSync(path)) throw error
    rmSync(made, { recursive: true })
  }
  return path
}

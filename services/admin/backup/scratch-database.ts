/** A database in which a backup is restored to check it: embedded, beside the backup, and deleted afterwards. */
import { rm } from 'node:fs/promises'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'

/**
 * Calls `work` with an empty database in a folder beside the backup. It is on a disk whose free room can be read, and
 * not on the server of the installation, whose disk cannot be seen from here and holds the pilgrims' data.
 */
export async function withScratchDatabase<T>(backup: string, work: (db: Database) => Promise<T>): Promise<T> {
  const dir = `${backup}.scratch-${crypto.randomUUID().slice(0, 8)}`
  try {
    const db = await openDatabase({ url: '', dir, statementMs: 0 })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

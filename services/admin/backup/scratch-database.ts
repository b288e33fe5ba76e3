/** A temporary embedded database beside the backup, in which a backup is restored to check it. */
import { rmSync } from 'node:fs'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'

/**
 * Calls `work` with an empty database in a folder beside the backup. The free space of that disk can be read.
 * The disk of the database server cannot, and it holds the pilgrims' data.
 */
export async function withScratchDatabase<T>(backup: string, work: (db: Database) => Promise<T>): Promise<T> {
  const dir = `${backup}.scratch-${crypto.randomUUID().slice(0, 8)}`
  const discard = (): void => rmSync(dir, { recursive: true, force: true })
  process.once('exit', discard)
  try {
    const db = await openDatabase({ url: '', dir, temporary: true })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  } finally {
    process.off('exit', discard)
    discard()
  }
}

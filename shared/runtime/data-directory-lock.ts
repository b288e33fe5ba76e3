/** One process at a time on a data directory. SQLite's exclusive lock falls with its process. */
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** A predecessor that is stopping answers its last requests first. */
const WAIT_MS = 30_000

/** Another process keeps the directory. */
export class DataDirectoryInUse extends LoggableError {
  override name = 'DataDirectoryInUse'
}

/**
 * Locks a data directory; made when it is missing.
 * @returns what unlocks it
 * @throws DataDirectoryInUse when another process still keeps it after `waitMs`
 */
export function lockDataDirectory(dir: string, waitMs = WAIT_MS): () => void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const lock = new Database(join(dir, 'lock.sqlite'), { create: true })
  try {
    lock.run(`PRAGMA busy_timeout = ${waitMs}`)
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run('BEGIN EXCLUSIVE')
    lock.run('COMMIT')
  } catch (error) {
    lock.close()
    throw new DataDirectoryInUse(
      `The data directory ${dir} is in use by another process: stop that one, or set EVENT_DATA_DIR to another directory.`,
      { cause: error },
    )
  }
  return () => lock.close()
}

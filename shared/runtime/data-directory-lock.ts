/** An exclusive lock on a data directory. SQLite releases it when its process ends. */
import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LoggableError } from './log.ts'
import { restrictAllToOwner, restrictPathToOwner, isOpenToOthers, setPrivateUmask } from './private-files.ts'

const LOCK = 'lock.sqlite'

/** Time for a stopping predecessor to finish its last requests. */
const WAIT_MS = 30_000

/** Another process holds the lock of the directory. */
export class DataDirectoryInUse extends LoggableError {
  override name = 'DataDirectoryInUse'
}

/** Other users may access the directory, and its permissions cannot be restricted. */
class DataDirectoryOpen extends LoggableError {
  override name = 'DataDirectoryOpen'
}

/** Takes the lock. @throws SQLiteError if another process still holds it after `waitMs` */
function take(lock: Database, waitMs: number): void {
  lock.run(`PRAGMA busy_timeout = ${waitMs}`)
  lock.run('PRAGMA locking_mode = EXCLUSIVE')
  lock.run('BEGIN EXCLUSIVE')
  lock.run('COMMIT')
}

/** Whether another process holds the lock of a data directory. Creates nothing. */
export function isDataDirectoryInUse(dir: string): boolean {
  if (!existsSync(join(dir, LOCK))) return false
  const lock = new Database(join(dir, LOCK), { readwrite: true, create: false })
  try {
    take(lock, 0)
    return false
  } catch {
    return true
  } finally {
    lock.close()
  }
}

/**
 * Restricts a data directory to its owner. A directory that is open to other users and contains unrelated files, such
 * as a home directory, is left unchanged and is an error.
 * @throws DataDirectoryOpen
 */
function restrictToOwner(dir: string): void {
  if (!isOpenToOthers(dir)) return
  const advice = `run chmod 700 ${dir}, or set EVENT_DATA_DIR to a directory of its own.`
  const names = readdirSync(dir)
  if (names.length > 0 && !names.includes(LOCK))
    throw new DataDirectoryOpen(
      `Other users may access the data directory ${dir}, which contains unrelated files: ${advice}`,
    )
  try {
    restrictPathToOwner(dir)
  } catch (error) {
    throw new DataDirectoryOpen(`Other users may access the data directory ${dir}: ${advice}`, {
      cause: error,
    })
  }
}

/**
 * Locks a data directory and creates it if it is missing. Only its owner may access it and its content.
 * @returns a function that unlocks it
 * @throws DataDirectoryInUse if another process still holds the lock after `waitMs`; DataDirectoryOpen
 */
export function lockDataDirectory(dir: string, waitMs = WAIT_MS): () => void {
  setPrivateUmask()
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  restrictToOwner(dir)
  const lock = new Database(join(dir, LOCK), { create: true })
  try {
    take(lock, waitMs)
  } catch (error) {
    lock.close()
    throw new DataDirectoryInUse(
      `The data directory ${dir} is in use by another process: stop that one, or set EVENT_DATA_DIR to another directory.`,
      { cause: error },
    )
  }
  restrictAllToOwner(dir)
  return () => lock.close()
}

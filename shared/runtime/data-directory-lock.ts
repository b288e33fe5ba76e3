/** One process at a time on a data directory. SQLite's exclusive lock falls with its process. */
import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LoggableError } from '#shared/runtime/loggable-error.ts'
import { closeAllToOthers, closeToOthers, isOpenToOthers, makeFilesPrivate } from './private-files.ts'

const LOCK = 'lock.sqlite'

/** A predecessor that is stopping answers its last requests first. */
const WAIT_MS = 30_000

/** Another process keeps the directory. */
export class DataDirectoryInUse extends LoggableError {
  override name = 'DataDirectoryInUse'
}

/** Others may enter the directory, and it can not be taken away from them. */
export class DataDirectoryOpen extends LoggableError {
  override name = 'DataDirectoryOpen'
}

/** Takes the lock. @throws when another process has it after `waitMs` */
function take(lock: Database, waitMs: number): void {
  lock.run(`PRAGMA busy_timeout = ${waitMs}`)
  lock.run('PRAGMA locking_mode = EXCLUSIVE')
  lock.run('BEGIN EXCLUSIVE')
  lock.run('COMMIT')
}

/** Whether another process keeps a data directory just now; nothing is made. */
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
 * Sees to it that only its owner may enter a data directory. One that is open and holds other things is somebody's
 * home or a directory of the system: that is left as it is.
 * @throws DataDirectoryOpen
 */
function keepOthersOut(dir: string): void {
  if (!isOpenToOthers(dir)) return
  const advice = `run chmod 700 ${dir}, or set EVENT_DATA_DIR to a directory of its own.`
  const names = readdirSync(dir)
  if (names.length > 0 && !names.includes(LOCK))
    throw new DataDirectoryOpen(
      `Others may enter the data directory ${dir}, which holds other things: ${advice}`,
    )
  try {
    closeToOthers(dir)
  } catch (error) {
    throw new DataDirectoryOpen(`Others may enter the data directory ${dir}: ${advice}`, { cause: error })
  }
}

/**
 * Locks a data directory; made when it is missing. It and all in it, now and later, are its owner's alone.
 * @returns what unlocks it
 * @throws DataDirectoryInUse when another process still keeps it after `waitMs`; DataDirectoryOpen
 */
export function lockDataDirectory(dir: string, waitMs = WAIT_MS): () => void {
  makeFilesPrivate()
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  keepOthersOut(dir)
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
  closeAllToOthers(dir)
  return () => lock.close()
}

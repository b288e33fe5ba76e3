/** The journal's files: SQLite, locked by the process that writes, for whoever locks them once it is gone. */
import { Database, type SQLiteError } from 'bun:sqlite'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'

export const SUFFIX = '.journal'

export interface StoredRow {
  readonly id: string
  readonly submission: string
}

export interface OwnFile {
  readonly db: Database
  readonly path: string
}

/** Makes this process's file. Another replica may adopt it before it is locked; then there is a next one. */
export function openOwnFile(dir: string): OwnFile {
  for (let attempt = 1; ; attempt++) {
    const path = join(dir, `${crypto.randomUUID()}${SUFFIX}`)
    try {
      const db = openFile(path, { create: true })
      if (existsSync(path)) return { db, path }
      db.close()
    } catch (error) {
      if (attempt === 10) throw error
    }
  }
}

/**
 * Opens a file and locks it until it is closed or its process ends.
 * @param mode who adopts must not create: the name of a file that is gone meanwhile would come back empty
 * @throws SQLiteError SQLITE_BUSY when another process holds it
 */
function openFile(path: string, mode: { readonly create: true } | { readonly readwrite: true }): Database {
  const db = new Database(path, { ...mode, strict: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = DELETE')
    // What is deleted is overwritten, and cut off the file that could undo it, which this lock keeps: it may be about
    // somebody who is erased.
    db.run('PRAGMA secure_delete = ON')
    db.run('PRAGMA journal_size_limit = 0')
    db.run('PRAGMA synchronous = FULL')
    // In this locking mode a lock that was taken is kept.
    db.run('BEGIN EXCLUSIVE')
    db.run('CREATE TABLE IF NOT EXISTS journal (id TEXT PRIMARY KEY, submission TEXT NOT NULL) STRICT')
    db.run('COMMIT')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Locks and reads a file that nobody holds; null when its process lives and replays it itself, or when another
 * replica has adopted it meanwhile.
 * @throws SQLiteError for a file that cannot be read; a damaged one is set aside
 */
export function openAbandoned(file: string): { db: Database; rows: StoredRow[] } | null {
  let db: Database | null = null
  try {
    db = openFile(file, { readwrite: true })
    // Opened before another replica adopted and deleted it, locked after that.
    if (existsSync(file))
      return { db, rows: db.query<StoredRow, []>('SELECT id, submission FROM journal ORDER BY rowid').all() }
  } catch (error) {
    db?.close()
    const { code } = error as SQLiteError
    if (code === 'SQLITE_BUSY' || !existsSync(file)) return null
    if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB') renameSync(file, `${file}.damaged`)
    throw error
  }
  db.close()
  return null
}

/** Journal files: SQLite databases that the writing process locks. After its end another process can lock them. */
import { Database, type SQLiteError } from 'bun:sqlite'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'

export const SUFFIX = '.journal'

interface StoredRow {
  /** Places rise in the order of the writes. */
  readonly place: number
  readonly id: string
  readonly submission: string
}

/** Bytes of the rows that are read at once: a row holds up to 5,000 points. The first row is read whatever its size. */
const PAGE_BYTES = 256_000

/** Rows after a place, oldest first: at most `count`, and few enough that the event loop does not stand still. */
export function readPage(db: Database, place: number, count: number): StoredRow[] {
  const sizes = db
    .query<{ place: number; bytes: number }, [number, number]>(
      'SELECT rowid AS place, length(submission) AS bytes FROM journal WHERE rowid > ? ORDER BY rowid LIMIT ?',
    )
    .all(place, count)
  let bytes = 0
  let last = place
  for (const row of sizes) {
    bytes += row.bytes
    if (last > place && bytes > PAGE_BYTES) break
    last = row.place
  }
  return db
    .query<StoredRow, [number, number]>(
      'SELECT rowid AS place, id, submission FROM journal WHERE rowid > ? AND rowid <= ? ORDER BY rowid',
    )
    .all(place, last)
}

export interface OwnFile {
  readonly db: Database
  readonly path: string
}

/** Creates this process's file. If another replica adopts it before it is locked, another file is created. */
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
 * @param mode an adoption must not create: a file that was deleted meanwhile would come back empty
 * @throws SQLiteError SQLITE_BUSY when another process locks it
 */
function openFile(path: string, mode: { readonly create: true } | { readonly readwrite: true }): Database {
  const db = new Database(path, { ...mode, strict: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = DELETE')
    // Deleted rows are overwritten, and the rollback journal, which this locking mode keeps, is truncated: rows may
    // hold personal data of an erased pilgrim.
    db.run('PRAGMA secure_delete = ON')
    db.run('PRAGMA journal_size_limit = 0')
    db.run('PRAGMA synchronous = FULL')
    // In this locking mode a lock lasts until the database is closed.
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
 * Locks an unlocked file; null when its process still runs, or when another replica has adopted it
 * meanwhile.
 * @throws SQLiteError for a file that can not be read; a damaged one is set aside
 */
export function openAbandoned(file: string): Database | null {
  let db: Database | null = null
  try {
    db = openFile(file, { readwrite: true })
    // Otherwise another replica adopted and deleted it after it was opened and before it was locked.
    if (existsSync(file)) return db
  } catch (error) {
    db?.close()
    const { code } = error as SQLiteError
    if (code === 'SQLITE_BUSY' || !existsSync(file)) return null
    setAsideIfDamaged(file, error)
    throw error
  }
  db.close()
  return null
}

/** Renames a file to `….damaged`, so that an operator can examine it and nobody tries to adopt it again. */
export const setAside = (file: string): void => renameSync(file, `${file}.damaged`)

export function setAsideIfDamaged(file: string, error: unknown): void {
  const { code } = error as SQLiteError
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB') setAside(file)
}

/**
 * The journal stores a check-in when the kv does not answer in time. One SQLite file per process, in a directory that
 * the replicas share. SQLite's exclusive lock ends with its process, so a file that can be locked is abandoned, and
 * another replica adopts it.
 */
import { Database, type SQLiteError } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, rmSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Submission } from '#shared/stores/kv/kv.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { nextTurn } from '#shared/runtime/yield-to-event-loop.ts'

/** The journal is full: its entries stay, and the new check-in is refused. */
export class JournalFull extends LoggableError {
  override name = 'JournalFull'
}

interface Journaled {
  readonly place: number
  readonly submission: Submission
}

/** Average number of bytes per entry. A tracker app's entry may be a thousand times as large. */
export const BYTES_AN_ENTRY = 1_000

/**
 * Opens a new journal file in `dir`. It accepts check-ins up to `max` entries, and up to `max` × `BYTES_AN_ENTRY` bytes;
 * adoption ignores these bounds.
 */
export function openJournal(dir: string, max: number): Journal {
  mkdirSync(dir, { recursive: true })
  return new Journal(dir, max, openOwnFile(dir))
}

/** Entries of an abandoned file that are moved together. */
const ADOPTED_TOGETHER = 500

interface Row {
  readonly id: string
  readonly submission: string
  readonly points: number
}

const rowOf = (submission: Submission): Row => ({
  id: submission.id,
  submission: JSON.stringify(submission),
  points: submission.entries.length,
})

/** @returns null for text that is not a submission */
function readableRow(text: string): Row | null {
  try {
    return rowOf(JSON.parse(text) as Submission)
  } catch {
    return null
  }
}

export class Journal {
  readonly path: string
  readonly #db: Database
  readonly #insert
  readonly #delete
  readonly #stored
  #size = 0
  #bytes = 0
  /** Points of entries that have more than one, by id. */
  readonly #tracks = new Map<string, number>()
  /** Submissions of one turn of the event loop, which share a commit. */
  #batch: Row[] = []
  #committing: Promise<void> | null = null
  #isClosed = false

  constructor(
    private readonly dir: string,
    private readonly max: number,
    { db, path }: OwnFile,
  ) {
    this.path = path
    this.#db = db
    this.#insert = db.query('INSERT OR IGNORE INTO journal (id, submission) VALUES (?, ?)')
    this.#delete = db.query<{ bytes: number }, [string]>(
      'DELETE FROM journal WHERE id = ? RETURNING length(submission) AS bytes',
    )
    this.#stored = db.query<{ submission: string }, [string]>('SELECT submission FROM journal WHERE id = ?')
  }

  /**
   * Resolves when the submission is on disk.
   * @throws JournalFull; SQLite's error for a full disk; an Error when another submission has its id
   */
  async append(submission: Submission): Promise<void> {
    if (this.size() >= this.max || this.#bytes >= this.max * BYTES_AN_ENTRY)
      throw new JournalFull(`the journal is full: it holds ${this.size()} check-ins, ${this.#bytes} bytes`)
    const row = rowOf(submission)
    this.#batch.push(row)
    await (this.#committing ??= this.#commit())
    // A repeated submission is already stored. A different one with the same id is not, and must not be acknowledged.
    if (!this.#holds(row)) throw new LoggableError('another submission is in the journal under this id')
  }

  async #commit(): Promise<void> {
    await nextTurn()
    const batch = this.#batch
    this.#batch = []
    this.#committing = null
    this.#write(batch)
  }

  #holds({ id, submission }: Row): boolean {
    return this.#stored.get(id)?.submission === submission
  }

  /** Removes entries that the kv has confirmed. */
  remove(ids: readonly string[]): void {
    let removed = 0
    let removedBytes = 0
    this.#db
      .transaction(() => {
        for (const id of ids)
          for (const { bytes } of this.#delete.all(id)) {
            removed++
            removedBytes += bytes
          }
      })
      .immediate()
    for (const id of ids) this.#tracks.delete(id)
    this.#size -= removed
    this.#bytes -= removedBytes
  }

  /** Up to `count` entries after a place, oldest first. Place 0 is before the first entry; [] is the end. */
  after(place: number, count: number): Journaled[] {
    return readPage(this.#db, place, count).map((row) => ({
      place: row.place,
      submission: JSON.parse(row.submission) as Submission,
    }))
  }

  size(): number {
    return this.#size + this.#batch.length
  }

  /** Number of points in the entries. */
  points(): number {
    let points = this.size()
    for (const count of this.#tracks.values()) points += count - 1
    return points
  }

  /**
   * Moves the entries of abandoned files into this journal, page by page, with other work between pages.
   * @returns errors of files that could not be adopted completely; damaged files are renamed for an operator
   */
  async adopt(): Promise<{ readonly entries: number; readonly faults: readonly Error[] }> {
    const faults: Error[] = []
    let entries = 0
    for (const name of readdirSync(this.dir)) {
      const file = join(this.dir, name)
      if (!name.endsWith(SUFFIX) || file === this.path || this.#isClosed) continue
      try {
        entries += await this.#adoptFile(file, faults)
      } catch (error) {
        faults.push(new LoggableError(`the journal ${name} could not be adopted`, { cause: error }))
      }
    }
    return { entries, faults }
  }

  async #adoptFile(file: string, faults: Error[]): Promise<number> {
    const abandoned = openAbandoned(file)
    if (abandoned === null) return 0
    const remove = abandoned.query<unknown, [number]>('DELETE FROM journal WHERE rowid = ?')
    let entries = 0
    let left = 0
    try {
      let page = readPage(abandoned, 0, ADOPTED_TOGETHER)
      for (; page.length > 0; page = readPage(abandoned, page.at(-1)!.place, ADOPTED_TOGETHER)) {
        const rows = page.map(({ submission }) => readableRow(submission))
        this.#write(rows.filter((row) => row !== null))
        // Deleted there only after it is stored here; an entry in both files is harmless.
        abandoned.transaction(() => {
          for (const [at, row] of rows.entries())
            if (row !== null && this.#holds(row)) entries += remove.run(page[at]!.place).changes
            else left++
        })()
        await nextTurn()
        if (this.#isClosed) return entries
      }
      // Both happen while its lock is held.
      if (left === 0) rmSync(file, { force: true })
      else {
        setAside(file)
        const why = 'are damaged, or another submission has their id'
        faults.push(new LoggableError(`${left} entries of the journal ${basename(file)} ${why}`))
      }
      return entries
    } catch (error) {
      setAsideIfDamaged(file, error)
      throw error
    } finally {
      abandoned.close()
      if (!existsSync(file)) rmSync(`${file}-journal`, { force: true })
    }
  }

  #write(rows: readonly Row[]): void {
    let written = 0
    let bytes = 0
    this.#db
      .transaction(() => {
        for (const { id, submission } of rows) {
          const { changes } = this.#insert.run(id, submission)
          written += changes
          bytes += changes * submission.length
        }
      })
      .immediate()
    for (const { id, points } of rows) if (points > 1) this.#tracks.set(id, points)
    this.#size += written
    this.#bytes += bytes
  }

  /**
   * Closes the file, and ends an adoption after its current page. Remaining entries are adopted by another replica or
   * the next start.
   */
  close(): void {
    this.#isClosed = true
    this.#db.close()
    if (this.#size === 0) rmSync(this.path, { force: true })
  }
}

// Journal files: SQLite databases that the writing process locks. After it ends, another process can lock them.

export const SUFFIX = '.journal'

interface StoredRow {
  /** Increases in the order of the writes. */
  readonly place: number
  readonly id: string
  readonly submission: string
}

/** Maximum bytes of rows read at once: a row holds up to 5,000 points. The first row is read whatever its size. */
const PAGE_BYTES = 256_000

/** Rows after a place, oldest first: at most `count`, and few enough not to block the event loop. */
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

interface OwnFile {
  readonly db: Database
  readonly path: string
}

/** Creates this process's file. If another replica adopts it before it is locked, another file is created. */
function openOwnFile(dir: string): OwnFile {
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
 * @param mode an adoption must not create: a file deleted meanwhile would come back empty
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
 * Locks an unlocked file; null when its process still runs, or when another replica has adopted it meanwhile.
 * @throws SQLiteError for a file that cannot be read; a damaged one is set aside
 */
export function openAbandoned(file: string): Database | null {
  let db: Database | null = null
  try {
    db = openFile(file, { readwrite: true })
    // Otherwise another replica adopted and deleted it between opening and locking.
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

/** Renames a file to `….damaged`, for an operator to examine; it is not adopted again. */
const setAside = (file: string): void => renameSync(file, `${file}.damaged`)

function setAsideIfDamaged(file: string, error: unknown): void {
  const { code } = error as SQLiteError
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB') setAside(file)
}

/**
 * The embedded kv's log. The changes of one turn of the event loop are one appended SQLite commit. A start replays
 * them. Tables that are read and written by each request are several times slower.
 */
import { Database } from 'bun:sqlite'
import { KvUnavailable } from '#shared/stores/kv/kv.ts'

/** Applies one change at the start. A change is a JSON value that only the state interprets. */
type Apply<Change> = (change: Change) => void

/** Changes per row of a compacted log. */
const SNAPSHOT_ROW = 1_000

/**
 * Opens the log and replays it. One process at a time: SQLite's exclusive lock ends with its process.
 * Waits up to `busyMs` for a predecessor that is still stopping.
 * @throws when another process still locks the file after that
 */
export function openChangeLog<Change>(
  path: string,
  apply: Apply<Change>,
  busyMs = 30_000,
): ChangeLog<Change> {
  const db = new Database(path, { create: true, strict: true })
  try {
    db.run(`PRAGMA busy_timeout = ${busyMs}`)
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = WAL')
    db.run('PRAGMA synchronous = FULL')
    // Deleted rows are overwritten: they may hold personal data of an erased pilgrim.
    db.run('PRAGMA secure_delete = ON')
    db.run('CREATE TABLE IF NOT EXISTS log (turn INTEGER PRIMARY KEY, changes TEXT NOT NULL)')
    const turns = db.query<{ changes: string }, []>('SELECT changes FROM log ORDER BY turn')
    let length = 0
    for (const { changes } of turns.iterate()) {
      for (const change of JSON.parse(changes) as Change[]) apply(change)
      length++
    }
    return new ChangeLog(db, length)
  } catch (error) {
    db.close()
    throw error
  }
}

class ChangeLog<Change> {
  readonly #db: Database
  readonly #insert
  #length: number
  #batch: Change[] = []
  #commit: Promise<void> | null = null
  /** The disk refused the turn: it is written before anything new is taken, so that it does not grow. */
  #refused = false

  constructor(db: Database, length: number) {
    this.#db = db
    this.#insert = db.query('INSERT INTO log (changes) VALUES (?)')
    this.#length = length
  }

  /** Batches of changes that were committed since the last compaction. */
  get length(): number {
    return this.#length
  }

  /**
   * Appends a change; it is durable when the next `committed()` resolves.
   * @throws KvUnavailable when the disk still refuses an earlier batch; the change is not appended
   */
  append(change: Change): void {
    if (this.#refused) this.#write()
    this.#batch.push(change)
  }

  /**
   * Resolves when everything appended so far is on disk.
   * @throws KvUnavailable when the disk refuses the batch, which is written again later
   */
  committed(): Promise<void> {
    this.#commit ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#commit = null
        try {
          this.#write()
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
    return this.#commit
  }

  /**
   * Replaces the log by these changes, in one transaction. The old content is removed from its files.
   * @throws SQLite's error; the log holds the old changes or the new ones
   */
  compact(changes: Iterable<Change>): void {
    this.#write()
    this.#db.transaction(() => {
      this.#db.run('DELETE FROM log')
      let row: Change[] = []
      for (const change of changes) {
        row.push(change)
        if (row.length === SNAPSHOT_ROW) this.#insert.run(JSON.stringify(row.splice(0)))
      }
      if (row.length > 0) this.#insert.run(JSON.stringify(row))
    })()
    this.#length = 0
    // The write-ahead log still holds rows that the file itself has overwritten.
    this.#db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  close(): void {
    try {
      this.#write()
    } finally {
      this.#db.close()
    }
  }

  #write(): void {
    if (this.#batch.length === 0) return
    try {
      this.#insert.run(JSON.stringify(this.#batch))
    } catch (error) {
      this.#refused = true
      throw new KvUnavailable('the changes of the embedded kv could not be written to disk', { cause: error })
    }
    this.#refused = false
    this.#batch = []
    this.#length++
  }
}

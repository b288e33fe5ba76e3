/**
 * The embedded kv's log. The changes of one turn of the event loop are one appended SQLite commit. A start replays
 * them. Tables that are read and written by each request are several times slower.
 */
import { Database } from 'bun:sqlite'
import { nextTurn } from '#shared/runtime/yield-to-event-loop.ts'
import { KvUnavailable } from '#shared/stores/kv/kv.ts'

/** Changes per row of a compacted log. */
const SNAPSHOT_ROW = 1_000

/** Runs work once for all calls of one turn of the event loop. */
export function oncePerTurn(work: () => void): () => Promise<void> {
  let due: Promise<void> | null = null
  const run = async (): Promise<void> => {
    await nextTurn()
    due = null
    work()
  }
  return () => (due ??= run())
}

/**
 * Opens the log and replays it. One process at a time: SQLite's exclusive lock ends with its process.
 * Waits up to `busyMs` for a predecessor that is still stopping.
 * @param apply applies one change at the start: a JSON value that only the state interprets
 * @throws when another process still locks the file after that
 */
export function openChangeLog<Change>(path: string, apply: (change: Change) => void, busyMs = 30_000) {
  const db = new Database(path, { create: true, strict: true })
  let length = 0
  try {
    db.run(`PRAGMA busy_timeout = ${busyMs}`)
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = WAL')
    db.run('PRAGMA synchronous = FULL')
    // Deleted rows are overwritten: they may hold personal data of an erased pilgrim.
    db.run('PRAGMA secure_delete = ON')
    db.run('CREATE TABLE IF NOT EXISTS log (turn INTEGER PRIMARY KEY, changes TEXT NOT NULL)')
    const turns = db.query<{ changes: string }, []>('SELECT changes FROM log ORDER BY turn')
    for (const { changes } of turns.iterate()) {
      for (const change of JSON.parse(changes) as Change[]) apply(change)
      length++
    }
  } catch (error) {
    db.close()
    throw error
  }
  const insert = db.query('INSERT INTO log (changes) VALUES (?)')
  let batch: Change[] = []
  /** The disk rejected the batch. It is written before new changes are accepted, so that it does not grow. */
  let isRefused = false

  const write = (): void => {
    if (batch.length === 0) return
    try {
      insert.run(JSON.stringify(batch))
    } catch (error) {
      isRefused = true
      throw new KvUnavailable('the changes of the embedded kv could not be written to disk', { cause: error })
    }
    isRefused = false
    batch = []
    length++
  }

  return {
    /** Batches of changes that were committed since the last compaction. */
    length: () => length,
    /**
     * Appends a change; it is durable when the next `committed()` resolves.
     * @throws KvUnavailable when the disk still refuses an earlier batch; the change is not appended
     */
    append(change: Change): void {
      if (isRefused) write()
      batch.push(change)
    },
    /**
     * Resolves when everything appended so far is on disk.
     * @throws KvUnavailable when the disk refuses the batch, which is written again later
     */
    committed: oncePerTurn(write),
    /**
     * Replaces the log by these changes, in one transaction. The old content is removed from its files.
     * @throws SQLite's error; the log holds the old changes or the new ones
     */
    compact(changes: Iterable<Change>): void {
      write()
      db.transaction(() => {
        db.run('DELETE FROM log')
        let row: Change[] = []
        for (const change of changes) {
          row.push(change)
          if (row.length === SNAPSHOT_ROW) insert.run(JSON.stringify(row.splice(0)))
        }
        if (row.length > 0) insert.run(JSON.stringify(row))
      })()
      length = 0
      // The write-ahead log still holds rows that the file itself has overwritten.
      db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    close(): void {
      try {
        write()
      } finally {
        db.close()
      }
    },
  }
}

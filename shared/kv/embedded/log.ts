/**
 * The embedded kv's log: what changed in one turn of the event loop is one appended SQLite commit, and a
 * start replays it. Reading and writing tables per request is several times slower.
 */
import { Database } from 'bun:sqlite'

/** Takes one change back at start. A change is a JSON value that only the state understands. */
export type Apply<Change> = (change: Change) => void

export interface ChangeLog<Change> {
  /** Remembers a change; it is durable when the next `committed()` resolves. */
  append(change: Change): void
  /** Resolves when everything appended so far is on disk; rejects when the disk refuses. */
  committed(): Promise<void>
  /** Turns committed since the last compaction. */
  length(): number
  /** Replaces the log by these changes, in one transaction. */
  compact(changes: Iterable<Change>): void
  close(): void
}

const SNAPSHOT_ROW = 1_000

/**
 * Opens the log and replays it. One process at a time: SQLite's exclusive lock falls with its process.
 * A predecessor that is still shutting down is waited for up to `busyMs`.
 * @throws when another process holds the file
 */
export function openChangeLog<Change>(
  path: string,
  apply: Apply<Change>,
  busyMs = 30_000,
): ChangeLog<Change> {
  const db = new Database(path, { create: true, strict: true })
  db.run(`PRAGMA busy_timeout = ${busyMs}`)
  db.run('PRAGMA locking_mode = EXCLUSIVE')
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = FULL')
  db.run('CREATE TABLE IF NOT EXISTS log (turn INTEGER PRIMARY KEY, changes TEXT NOT NULL)')
  for (const { changes } of db
    .query<{ changes: string }, []>('SELECT changes FROM log ORDER BY turn')
    .iterate())
    for (const change of JSON.parse(changes) as Change[]) apply(change)

  const insert = db.query('INSERT INTO log (changes) VALUES (?)')
  let length = db.query<{ n: number }, []>('SELECT count(*) AS n FROM log').get()?.n ?? 0
  let turn: Change[] = []
  let commit: Promise<void> | null = null

  const write = () => {
    commit = null
    if (turn.length === 0) return
    // What a full disk refuses stays in the turn, and goes with the next one.
    insert.run(JSON.stringify(turn))
    turn = []
    length++
  }

  return {
    append(change) {
      turn.push(change)
    },
    committed() {
      commit ??= new Promise((resolve, reject) => {
        setImmediate(() => {
          try {
            write()
            resolve()
          } catch (error) {
            reject(error)
          }
        })
      })
      return commit
    },
    length: () => length,
    compact(changes) {
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
    },
    close() {
      write()
      db.close()
    },
  }
}

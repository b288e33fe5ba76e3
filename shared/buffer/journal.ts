/**
 * The journal: where a check-in goes first when the kv does not answer in time. One SQLite file per process
 * in a directory that the replicas share; SQLite's exclusive lock falls with its process, so a file that can
 * be locked belongs to nobody, and another replica adopts it.
 */
import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Submission } from '#shared/kv/kv.ts'

/** The journal has no room: what it holds is kept, the new check-in must be refused. */
export class JournalFull extends Error {
  override name = 'JournalFull'
}

export interface Journal {
  /** Resolves when the submission is on disk. @throws JournalFull; or SQLite's error for a full disk */
  append(submission: Submission): Promise<void>
  /** Takes out what the kv has confirmed. */
  remove(ids: readonly string[]): void
  /** Oldest entries, at most `count`, of this process's file and of adopted ones. */
  oldest(count: number): Submission[]
  /** Entries that wait. */
  size(): number
  /** Takes over the entries of files that nobody holds; answers how many. */
  adopt(): number
  close(): void
}

const SUFFIX = '.journal'

function openFile(path: string): Database {
  const db = new Database(path, { create: true, strict: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('PRAGMA locking_mode = EXCLUSIVE')
    db.run('PRAGMA journal_mode = DELETE')
    db.run('PRAGMA synchronous = FULL')
    // The first write takes the lock; locking_mode keeps it until the process ends.
    db.run('CREATE TABLE IF NOT EXISTS journal (id TEXT PRIMARY KEY, submission TEXT NOT NULL) STRICT')
    db.run('BEGIN EXCLUSIVE')
    db.run('COMMIT')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Makes this process's file. Another replica may adopt it before it is locked; then there is a next one. */
function openOwnFile(dir: string): { db: Database; path: string } {
  for (let attempt = 1; ; attempt++) {
    const path = join(dir, `${crypto.randomUUID()}${SUFFIX}`)
    try {
      const db = openFile(path)
      if (existsSync(path)) return { db, path }
      db.close()
    } catch (error) {
      if (attempt === 10) throw error
    }
  }
}

/** Opens a new journal file in `dir` and adopts those of replicas that are gone. */
export function openJournal(dir: string, max: number): Journal {
  mkdirSync(dir, { recursive: true })
  const { db, path } = openOwnFile(dir)
  const insert = db.query('INSERT OR IGNORE INTO journal (id, submission) VALUES (?, ?)')
  const drop = db.query('DELETE FROM journal WHERE id = ?')
  const first = db.query<{ submission: string }, [number]>(
    'SELECT submission FROM journal ORDER BY rowid LIMIT ?',
  )
  let size = 0
  let turn: Submission[] = []
  let commit: Promise<void> | null = null

  const write = db.transaction((submissions: readonly Submission[]) => {
    for (const one of submissions) insert.run(one.id, JSON.stringify(one))
  })
  const commitTurn = () =>
    new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        const submissions = turn
        turn = []
        commit = null
        try {
          write.immediate(submissions)
          size += submissions.length
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })

  const adoptFile = (file: string): number => {
    let other: Database
    try {
      other = openFile(file)
    } catch {
      // Its process lives: it replays the file itself.
      return 0
    }
    try {
      const rows = other.query<{ submission: string }, []>('SELECT submission FROM journal').all()
      write.immediate(rows.map((row) => JSON.parse(row.submission) as Submission))
      size += rows.length
      // Only now that its entries are in ours, and while its lock is held.
      rmSync(file, { force: true })
      return rows.length
    } finally {
      other.close()
    }
  }

  const journal: Journal = {
    append(submission) {
      if (size + turn.length >= max)
        return Promise.reject(new JournalFull(`the journal holds ${max} check-ins`))
      turn.push(submission)
      commit ??= commitTurn()
      return commit
    },
    remove: db.transaction((ids: readonly string[]) => {
      for (const id of ids) size -= drop.run(id).changes
    }),
    oldest: (count) => first.all(count).map((row) => JSON.parse(row.submission) as Submission),
    size: () => size + turn.length,
    adopt: () =>
      readdirSync(dir)
        .filter((file) => file.endsWith(SUFFIX) && join(dir, file) !== path)
        .reduce((sum, file) => sum + adoptFile(join(dir, file)), 0),
    close() {
      const empty = size === 0
      db.close()
      if (empty) rmSync(path, { force: true })
    },
  }
  journal.adopt()
  return journal
}

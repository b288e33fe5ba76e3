/**
 * The journal: it stores a check-in when the kv does not answer in time. One SQLite file per process, in a directory
 * that the replicas share. SQLite's exclusive lock ends with its process, so a file that can be locked is abandoned,
 * and another replica adopts it.
 */
import type { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Submission } from '#shared/kv/kv.ts'
import { openAbandoned, openOwnFile, type OwnFile, type StoredRow, SUFFIX } from './journal-file.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** The journal is full: its entries stay, and the new check-in must be refused. */
export class JournalFull extends LoggableError {
  override name = 'JournalFull'
}

/** A submission and its place in the journal. */
export interface Journaled {
  readonly place: number
  readonly submission: Submission
}

/** Result of an adoption of abandoned files. */
export interface Adoption {
  readonly entries: number
  /** Files that could not be adopted; a damaged one is renamed, so that an operator can examine it. */
  readonly faults: readonly Error[]
}

export interface Journal {
  /** Path of its file. */
  readonly path: string
  /** Resolves when the submission is on disk. @throws JournalFull; or SQLite's error for a full disk */
  append(submission: Submission): Promise<void>
  /** Removes entries that the kv has confirmed. */
  remove(ids: readonly string[]): void
  /** Entries after a place, oldest first, at most `count`; place 0 is before the first. */
  after(place: number, count: number): Journaled[]
  /** Number of entries. */
  size(): number
  /** Number of points in them. */
  points(): number
  /** Moves the entries of abandoned files into this journal. */
  adopt(): Adoption
  /** Releases the file. If it still has entries, another replica or the next start adopts it. */
  close(): void
}

/** Opens a new journal file in `dir`. It accepts check-ins up to `max` entries; adoption ignores this bound. */
export function openJournal(dir: string, max: number): Journal {
  mkdirSync(dir, { recursive: true })
  return new JournalFile(dir, max, openOwnFile(dir))
}

interface Row extends StoredRow {
  readonly points: number
}

const rowOf = (submission: Submission): Row => ({
  id: submission.id,
  submission: JSON.stringify(submission),
  points: submission.entries.length,
})

class JournalFile implements Journal {
  readonly path: string
  readonly #db: Database
  readonly #insert
  readonly #delete
  readonly #after
  #size = 0
  /** Points of entries that have more than one, by id. */
  readonly #tracks = new Map<string, number>()
  /** Submissions of one turn of the event loop, which share a commit. */
  #batch: Submission[] = []
  #commit: Promise<void> | null = null

  constructor(
    private readonly dir: string,
    private readonly max: number,
    { db, path }: OwnFile,
  ) {
    this.path = path
    this.#db = db
    this.#insert = db.query('INSERT OR IGNORE INTO journal (id, submission) VALUES (?, ?)')
    this.#delete = db.query('DELETE FROM journal WHERE id = ?')
    this.#after = db.query<{ place: number; submission: string }, [number, number]>(
      'SELECT rowid AS place, submission FROM journal WHERE rowid > ? ORDER BY rowid LIMIT ?',
    )
  }

  append(submission: Submission): Promise<void> {
    if (this.size() >= this.max)
      return Promise.reject(new JournalFull(`the journal is full: it holds ${this.max} check-ins`))
    this.#batch.push(submission)
    this.#commit ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        const rows = this.#batch.map(rowOf)
        this.#batch = []
        this.#commit = null
        try {
          this.#write(rows)
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
    return this.#commit
  }

  remove(ids: readonly string[]): void {
    let removed = 0
    this.#db
      .transaction(() => {
        for (const id of ids) removed += this.#delete.run(id).changes
      })
      .immediate()
    for (const id of ids) this.#tracks.delete(id)
    this.#size -= removed
  }

  after(place: number, count: number): Journaled[] {
    return this.#after.all(place, count).map((row) => ({
      place: row.place,
      submission: JSON.parse(row.submission) as Submission,
    }))
  }

  size(): number {
    return this.#size + this.#batch.length
  }

  points(): number {
    let points = this.size()
    for (const count of this.#tracks.values()) points += count - 1
    return points
  }

  adopt(): Adoption {
    const faults: Error[] = []
    let entries = 0
    for (const name of readdirSync(this.dir)) {
      const file = join(this.dir, name)
      if (!name.endsWith(SUFFIX) || file === this.path) continue
      try {
        entries += this.#adoptFile(file)
      } catch (error) {
        faults.push(new LoggableError(`the journal ${name} could not be adopted`, { cause: error }))
      }
    }
    return { entries, faults }
  }

  #adoptFile(file: string): number {
    const abandoned = openAbandoned(file)
    if (abandoned === null) return 0
    try {
      this.#write(abandoned.rows.map(({ submission }) => rowOf(JSON.parse(submission) as Submission)))
      // Deleted only after its entries are in this journal, and while its lock is held.
      rmSync(file, { force: true })
      return abandoned.rows.length
    } finally {
      abandoned.db.close()
      if (!existsSync(file)) rmSync(`${file}-journal`, { force: true })
    }
  }

  #write(rows: readonly Row[]): void {
    let written = 0
    this.#db
      .transaction(() => {
        for (const { id, submission } of rows) written += this.#insert.run(id, submission).changes
      })
      .immediate()
    for (const { id, points } of rows) if (points > 1) this.#tracks.set(id, points)
    this.#size += written
  }

  close(): void {
    this.#db.close()
    if (this.#size === 0) rmSync(this.path, { force: true })
  }
}

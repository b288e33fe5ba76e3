/** A store in a SQLite file, for programs on Bun. */
import { Database } from 'bun:sqlite'
import { type Entry, KINDS, type QueueStore, type Rejected, type Waits } from './store.ts'

const TABLES = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS points (
    user_id TEXT, kind TEXT, t INTEGER, fields TEXT NOT NULL, PRIMARY KEY (user_id, kind, t)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS rejected (
    user_id TEXT, kind TEXT, t INTEGER, fields TEXT NOT NULL, reason TEXT NOT NULL, message TEXT,
    PRIMARY KEY (user_id, kind, t)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS waits (user_id TEXT PRIMARY KEY, waits TEXT NOT NULL);
`

interface Row {
  readonly user_id: string
  readonly kind: string
  readonly t: number
  readonly fields: string
}

type RejectedRow = Row & { readonly reason: string; readonly message: string | null }

const entryOf = ({ user_id, kind, t, fields }: Row): Entry => ({
  userId: user_id,
  kind,
  t,
  fields: JSON.parse(fields) as object,
})

function statementsOf(db: Database) {
  const named = 'user_id = ? AND kind = ? AND t = ?'
  return {
    insert: db.query('INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?)'),
    remove: db.query(`DELETE FROM points WHERE ${named}`),
    reject: db.query(
      `INSERT OR REPLACE INTO rejected SELECT user_id, kind, t, fields, ?, ? FROM points WHERE ${named}`,
    ),
    dismiss: db.query(`DELETE FROM rejected WHERE ${named}`),
    oldest: db.query<Row, [string, string, number]>(
      'SELECT * FROM points WHERE user_id = ? AND kind = ? ORDER BY t LIMIT ?',
    ),
    rejected: db.query<RejectedRow, [string]>('SELECT * FROM rejected WHERE user_id = ? ORDER BY t'),
    count: db.query<{ n: number }, [string, string]>(
      'SELECT count(*) AS n FROM points WHERE user_id = ? AND kind = ?',
    ),
    countRejected: db.query<{ n: number }, [string, string]>(
      'SELECT count(*) AS n FROM rejected WHERE user_id = ? AND kind IN (SELECT value FROM json_each(?))',
    ),
    waits: db.query<{ waits: string }, [string]>('SELECT waits FROM waits WHERE user_id = ?'),
    setWaits: db.query('INSERT OR REPLACE INTO waits VALUES (?, ?)'),
  }
}

/** @throws Error if the file cannot be opened: its folder does not exist, or it is not a database */
function openDatabase(path: string): Database {
  try {
    const db = new Database(path)
    db.run(TABLES)
    return db
  } catch (cause) {
    const why = (cause as Error).message
    throw new Error(
      `The store cannot be opened: ${path} must be a SQLite file or a new file in a folder that exists and can be written (${why}).`,
      { cause },
    )
  }
}

/**
 * Opens the store, and creates the file if it is new. Several processes may use one file.
 * @throws Error when the file cannot be opened
 */
export function openSqliteStore(path: string): QueueStore {
  const db = openDatabase(path)
  const { insert, remove, reject, dismiss, oldest, rejected, count, countRejected, waits, setWaits } =
    statementsOf(db)
  const whole = async (write: () => void): Promise<void> => db.transaction(write).immediate()

  return {
    name: `sqlite-${path}`,
    add: (points) =>
      whole(() => {
        for (const { userId, kind, t, fields } of points) insert.run(userId, kind, t, JSON.stringify(fields))
      }),
    oldest: async (userId, kind, limit) => oldest.all(userId, kind, limit).map(entryOf),
    settle: (durable, refused) =>
      whole(() => {
        for (const { userId, kind, t } of durable) remove.run(userId, kind, t)
        for (const { userId, kind, t, reason, message } of refused) {
          reject.run(reason, message, userId, kind, t)
          remove.run(userId, kind, t)
        }
      }),
    counts: async (userId, kinds) => ({
      ...Object.fromEntries(kinds.map((kind) => [kind, count.get(userId, kind)!.n])),
      rejected: countRejected.get(userId, JSON.stringify(KINDS))!.n,
    }),
    rejected: async (userId) =>
      rejected.all(userId).map((row): Rejected => {
        const { reason, message } = row
        return { ...entryOf(row), reason, message }
      }),
    dismiss: (points) =>
      whole(() => {
        for (const { userId, kind, t } of points) dismiss.run(userId, kind, t)
      }),
    waits: async (userId) => JSON.parse(waits.get(userId)?.waits ?? '{}') as Waits,
    setWaits: async (userId, given) => void setWaits.run(userId, JSON.stringify(given)),
    clear: (userId) =>
      whole(() => {
        for (const table of ['points', 'rejected', 'waits'])
          db.query(`DELETE FROM ${table} WHERE user_id = ?`).run(userId)
      }),
    close: async () => db.close(),
  }
}

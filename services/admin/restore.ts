/**
 * `bun run restore`: restores a backup into an empty installation whose services are stopped: pictures, then pending
 * points, then the database in one transaction. So an installation that has rows is completely restored.
 */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FREE_BYTES, freeBytesOf } from '#shared/service/alerts/health-checks.ts'
import { readCommandLine, refuseCommandLine } from '#shared/runtime/command-line.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import { fileIn, runCommand, screen, showing, summary, withInstallation } from './backup/command.ts'
import {
  verifyBackup,
  writeArchive,
  LiveLine,
  type Verified,
  WaitingLine,
  kindOf,
  readArchive,
  rowsOf,
  CannotRestore,
  CommandRefused,
} from './backup/archive.ts'
import { z } from 'zod'
import { publishStatus, readErasures } from '#shared/pilgrims/kv-copies.ts'
import {
  readStamp,
  type Entry,
  type Erased,
  partitionOf,
  type Position,
  type Submission,
  userHash,
} from '#shared/stores/kv/kv.ts'
import { admissionRules } from '#shared/points/admission.ts'
import { collectJournals } from '#shared/points/journal/journal-export.ts'
import {
  type Migration,
  applyMigrations,
  isOfLaterRelease,
  lockMigrations,
  MIGRATIONS,
} from '#shared/stores/db/migrate.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { finishErasures } from './erasure/finish-erasures.ts'
import {
  deleteKeptPoints,
  expectStopped,
  expectStores,
  type Installation,
  journalsOf,
  takeBackup,
  TABLES,
} from './backup/take-backup.ts'
import { dayPartition } from '#shared/stores/db/day-partitions.ts'
import { cursorBatches, type Database, type Tx } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { closeRestoredCounters } from '#shared/points/ledger/counters.ts'
import { PERSONAL_TABLES } from '#shared/stores/schema/tables.ts'
import { machineNow } from '#shared/runtime/clock.ts'
import { withScratchDatabase } from './backup/scratch-database.ts'

/** Tables that have rows in a new installation, or soon after its start. */
const FILLED_AT_START = [
  'activity',
  'flushes',
  'ledger_counters',
  'ledger_callers',
  'ledger_counts',
  'ledger_losses',
]

const StoredLine = z.object({ object: z.string(), type: z.string(), etag: z.string(), base64: z.string() })

/** Lists in words what an installation stores. A backup may be restored when the list is empty. */
async function contentsOf(installation: Installation): Promise<string[]> {
  const { db, kv, objects } = installation
  const found: string[] = []
  for (const table of TABLES.filter((name) => !FILLED_AT_START.includes(name))) {
    const [there] = await db.sql`SELECT to_regclass(${table}) IS NOT NULL AS known`
    if (!there?.known) continue
    const [row] = await db.sql.unsafe<{ some: boolean }[]>(`SELECT EXISTS (SELECT FROM ${table}) AS some`)
    if (row!.some) found.push(`rows in ${table}`)
  }
  const pending = await kv.bufferSize()
  if (pending > 0) found.push(`pending points of ${pending} pilgrims`)
  let journaled = 0
  for await (const entries of collectJournals(journalsOf(installation), 0)) journaled += entries.length
  if (journaled > 0) found.push(`${journaled} journaled check-ins`)
  for await (const key of objects.list('')) {
    found.push(`objects such as ${key}`)
    break
  }
  return found
}

/**
 * Restores a verified backup.
 * @param options.replace first delete what the installation stores
 * @param options.paused an active event is restored as paused
 * @returns the activity's status
 * @throws CommandRefused when the installation is not empty or its services run; then nothing is changed
 */
export async function restoreBackup(
  installation: Installation,
  backup: Verified,
  options: {
    readonly replace: boolean
    readonly paused: boolean
    readonly migrations?: readonly Migration[]
  },
): Promise<ActivityStatus> {
  const { db, kv } = installation
  await expectStores(installation)
  await expectStopped(installation)
  const contents = await contentsOf(installation)
  if (contents.length > 0 && !options.replace)
    throw new CommandRefused(
      `The installation is not empty: it has ${contents.join(', ')}. Restore into an empty one, ` +
        'or use --replace to delete everything in this one first.',
    )
  if (options.replace) await empty(installation)
  const erased = mergeLaterErasures(
    backup.erased,
    await ownErasures(installation),
    Date.parse(backup.header.made_at),
  )
  // An empty kv may still have keys of the former event: its status, rate-limit windows, markers.
  await kv.clear()
  const etags = await restoreObjects(installation, backup)
  await restoreWaiting(installation, backup, erased.all)
  const { later } = erased
  await restoreDatabase(db, backup, { ...options, etags, later, nowMs: installation.now() })
  await eraseAgain(installation)
  return (await publishStatus(db, kv)).status
}

/**
 * Backs up a database that was recovered to an earlier moment, with what the installation has besides: pictures,
 * pending points, live positions.
 * @param path the file to write
 * @throws CommandRefused when services run, or the database was not recovered; then nothing is written
 */
export async function backUpRecovered(installation: Installation, url: string, path: string): Promise<void> {
  await expectStopped(installation)
  const recovered = await openDatabase({ url, dir: '', statementMs: 0 })
  try {
    // By Postgres's own functions: a wrong URL may name a database without ours.
    const [row] = await recovered.sql<[{ ms: number | null }]>`
      SELECT (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::float8 AS ms`
    const { ms } = row
    if (ms === null)
      throw new CommandRefused(
        'The database of --recovered was not recovered from an archive. Nothing was done.',
      )
    const asOf = { ...installation, db: recovered, now: () => ms }
    await writeArchive(path, (write) => takeBackup(asOf, showing(write)))
  } finally {
    await recovered.close()
  }
}

/** Erases people whose erasure is later than the backup. The services repeat what fails here when they start. */
async function eraseAgain(installation: Installation): Promise<void> {
  const log = createLog({}, (line) => void process.stderr.write(`${line}\n`))
  await finishErasures({ ...installation, calendar: createCalendar(installation.config.timeZone), log })
}

/** Deletes what `restoreDatabase` does not replace. */
async function empty(installation: Installation): Promise<void> {
  const { objects } = installation
  await deleteKeptPoints(installation)
  const keys = await Array.fromAsync(objects.list(''))
  for (const key of keys) await objects.delete(key)
}

/** @returns cards whose ETag differs in this object store */
async function restoreObjects({ objects }: Installation, { path }: Verified): Promise<ChangedTag[]> {
  const changed: ChangedTag[] = []
  for await (const line of readArchive(path)) {
    if (kindOf(line) !== 'object') continue
    const { object: key, type, etag: before, base64 } = StoredLine.parse(JSON.parse(line))
    const { etag: after } = await objects.put(key, new Uint8Array(Buffer.from(base64, 'base64')), {
      contentType: type,
    })
    const userId = /^cards\/(.*)\.png$/.exec(key)?.[1]
    if (userId !== undefined && before !== after) changed.push({ userId, before, after })
  }
  return changed
}

/**
 * Writes pending points to the buffer, as journal recovery does, and positions to the live map.
 * @throws KvUnavailable
 */
export async function restoreWaiting(
  { kv, config }: Pick<Installation, 'kv' | 'config'>,
  { path }: Pick<Verified, 'path'>,
  erased: readonly Erased[],
): Promise<void> {
  await kv.storeErasures(erased)
  const rules = admissionRules(config)
  const erasedMs = new Map(erased.map((erasure) => [erasure.userHash, erasure.erasedMs]))
  for await (const line of readArchive(path)) {
    const waiting = kindOf(line) === 'waiting' ? WaitingLine.parse(JSON.parse(line)).waiting : []
    const live = kindOf(line) === 'live' ? LiveLine.parse(JSON.parse(line)).live : []
    const submissions = [
      ...waiting.map(({ userId, entries, position }) => submissionOf(userId, entries, position)),
      ...live
        // The backup may have read a position just before it read that person's erasure.
        .filter(({ userId, t }) => t > (erasedMs.get(userHash(userId)) ?? -Infinity))
        .map(({ userId, ...position }) => submissionOf(userId, [], position)),
    ]
    for (const [partition, own] of Map.groupBy(submissions, ({ userId }) =>
      partitionOf(userId, kv.partitions),
    ))
      await kv.restore(partition, own, rules)
  }
}

const submissionOf = (userId: string, entries: readonly Entry[], position: Position | null): Submission => ({
  id: crypto.randomUUID(),
  userId,
  kind: 'sync',
  // The kv drops what was received before an erasure, and adds new stamps to the rest.
  entries: entries.map(({ field, value }) => ({ field, value: readStamp(value).value })),
  duplicateKey: '',
  recordedMs: 0,
  position,
})

// The database's part of a restore: one transaction, so that a failed restore changes nothing.

/** A card whose ETag differs in the object store that it was restored to. */
interface ChangedTag {
  readonly userId: string
  readonly before: string
  readonly after: string
}

/**
 * Creates the tables with the schema of the backup's release, fills them, and migrates them to this release's schema.
 * @throws CommandRefused when the archive is not complete; then the database is unchanged
 */
async function restoreDatabase(
  db: Database,
  backup: Verified,
  options: {
    readonly paused: boolean
    readonly etags: readonly ChangedTag[]
    readonly later: readonly Erased[]
    readonly nowMs: number
    readonly migrations?: readonly Migration[]
  },
): Promise<void> {
  const { migrations = MIGRATIONS } = options
  const had = (name: string): boolean => backup.header.schema.includes(name)
  await db.transaction(async (tx) => {
    await tx.sql.unsafe(`
      SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'`)
    await lockMigrations(tx)
    await dropTables(tx)
    const past = migrations.filter(({ name }) => had(name))
    await applyMigrations(tx, past)
    await fill(tx, backup)
    const since = migrations.filter(({ name }) => !had(name))
    await applyMigrations(tx, since)
    await adapt(tx, backup, options)
  })
  await db.sql.unsafe(`ANALYZE ${TABLES.join(', ')}`)
}

/**
 * Drops every table of the service. Where a later release has migrated the database, its tables are not known, and all
 * of the schema are dropped: its migrations would create them again.
 */
async function dropTables(tx: Tx): Promise<void> {
  const later = (await isOfLaterRelease(tx))
    ? await tx.sql<{ name: string }[]>`
        SELECT oid::regclass::text AS name FROM pg_class c
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`
    : []
  const names = new Set([...TABLES, ...later.map(({ name }) => name), 'drizzle.__drizzle_migrations'])
  await tx.sql.unsafe(`DROP TABLE IF EXISTS ${[...names].join(', ')} CASCADE`)
}

async function fill(tx: Tx, { path, counts }: Verified): Promise<void> {
  const tables = Object.keys(counts.rows)
  const unknown = tables.filter((table) => !TABLES.includes(table))
  if (unknown.length > 0)
    throw new CommandRefused(`The backup contains unknown tables: ${unknown.join(', ')}.`)
  // Migrations insert rows of their own.
  await tx.sql.unsafe(`TRUNCATE ${tables.join(', ')}`)
  const columns = await writtenColumns(tx)
  const filled = Object.fromEntries(tables.map((table) => [table, 0]))
  // The archive is verified only when it has been read to its end.
  for await (const line of readArchive(path))
    if (kindOf(line) === 'days') await makeDays(tx, (JSON.parse(line) as { days: string[] }).days)
    else if (kindOf(line) === 'sequences')
      await setSequences(tx, (JSON.parse(line) as { sequences: Record<string, number> }).sequences)
    else if (kindOf(line) === 'rows') {
      const { table, json } = rowsOf(line)
      if (filled[table] === undefined)
        throw new CommandRefused(`The backup has no row count for its table ${table}.`)
      const { count } = await tx.sql.unsafe(
        `INSERT INTO ${table} (${columns[table]!})
          SELECT ${columns[table]!} FROM json_populate_recordset(NULL::${table}, $1::text::json)`,
        [json],
      )
      filled[table] += count
    }
  for (const table of tables)
    if (filled[table] !== counts.rows[table])
      throw new CommandRefused(
        `The backup contains ${filled[table]!} rows of ${table}, but its own count is ${counts.rows[table]!}.`,
      )
}

async function writtenColumns(tx: Tx): Promise<Record<string, string>> {
  const rows = await tx.sql<{ table: string; columns: string }[]>`
    SELECT table_name AS table, string_agg(quote_ident(column_name), ', ') AS columns
    FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY 1`
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

async function makeDays(tx: Tx, days: readonly string[]): Promise<void> {
  for (const day of days) if (/^\d{4}-\d\d-\d\d$/.test(day)) await tx.sql.unsafe(dayPartition(day).create)
}

/** Restores the sequences, so that no number is used twice. */
async function setSequences(tx: Tx, sequences: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, last] of Object.entries(sequences))
    await tx.sql`
      SELECT setval(oid::regclass, ${last}::bigint) FROM pg_class
      WHERE relkind = 'S' AND relname = ${name} AND relnamespace = 'public'::regnamespace`
}

async function adapt(
  tx: Tx,
  { header, lives }: Verified,
  { paused, etags, later, nowMs }: Parameters<typeof restoreDatabase>[2],
): Promise<void> {
  await tx.sql`
    UPDATE share_cards c SET etag = t.after
    FROM unnest(${etags.map(({ userId }) => userId)}::text[], ${etags.map(({ before }) => before)}::text[],
                ${etags.map(({ after }) => after)}::text[]) AS t (user_id, before, after)
    WHERE c.user_id = t.user_id AND c.etag = t.before`
  await closeRestoredCounters(tx, lives)
  await storeLaterErasures(tx, later)
  if (paused)
    await tx.sql`
      UPDATE activity SET status = 'paused', version = version + 1, changed_by = 'restore',
        changed_at = from_epoch_ms(${nowMs})
      WHERE status = 'active'`
  const details = JSON.stringify({ made_at: header.made_at })
  await tx.sql`
    INSERT INTO audit_log (at, role, token_name, token_fingerprint, action, details, request_id)
    VALUES (from_epoch_ms(${nowMs}), 'owner', 'command line', '', 'restore',
      ${details}::text::jsonb, ${crypto.randomUUID()})`
}

// People who were erased after a backup was made stay erased when it is restored.

/** Erasures that an installation has recorded. The kv still has those of a database that is lost. */
async function ownErasures({ db, kv }: Installation): Promise<Erased[]> {
  const [there] = await db.sql`SELECT to_regclass('erasures') IS NOT NULL AS known`
  const held = await Promise.all(
    Array.from({ length: kv.partitions }, (_, partition) => kv.erased(partition)),
  )
  const stored = there?.known ? await readErasures(db) : []
  const byHash = new Map([...held.flat(), ...stored].map((erasure) => [erasure.userHash, erasure]))
  return [...byHash.values()]
}

/**
 * Merges the backup's erasures with those of the installation that are later, or after which the person has consented
 * anew.
 */
function mergeLaterErasures(
  inBackup: readonly Erased[],
  here: readonly Erased[],
  madeMs: number,
): { readonly all: Erased[]; readonly later: Erased[] } {
  const known = new Map(inBackup.map((erasure) => [erasure.userHash, erasure]))
  const later = here
    .filter(({ userHash: hash, generation, erasedMs, stands }) => {
      const own = known.get(hash)
      if (own?.generation === generation && own.stands === true && stands !== true) return true
      return erasedMs > madeMs && erasedMs > (own?.erasedMs ?? 0)
    })
    .map((erasure) => ({
      ...erasure,
      generation: Math.max(erasure.generation, known.get(erasure.userHash)?.generation ?? 0),
    }))
  for (const erasure of later) known.set(erasure.userHash, erasure)
  return { all: [...known.values()], later }
}

/** Every column that contains user ids: in people's own rows, and in others'. */
const NAMED = [
  ...PERSONAL_TABLES.map((table) => `SELECT user_id FROM ${table}`),
  `SELECT details->>'user_id' FROM audit_log`,
  'SELECT jsonb_array_elements_text(recipients) FROM message_chunks',
  `SELECT jsonb_array_elements_text(audience->'user_ids') FROM messages WHERE jsonb_typeof(audience->'user_ids') = 'array'`,
  `SELECT payload->'source'->>'userId' FROM outbox`,
].join(' UNION ')
const PEOPLE_AT_ONCE = 5_000

/** Writes later erasures to a restored database, and queues the people in it whom they concern for erasure. */
async function storeLaterErasures(tx: Tx, later: readonly Erased[]): Promise<void> {
  if (later.length === 0) return
  await tx.sql`
    INSERT INTO erasures (user_hash, generation, erased_at, stands, walked)
    SELECT hash, generation, from_epoch_ms(ms), stands = 1, 0 FROM unnest(
      ${later.map((erasure) => erasure.userHash)}::text[], ${later.map((erasure) => erasure.generation)}::int[],
      ${later.map((erasure) => erasure.erasedMs)}::float8[], ${later.map((erasure) => Number(erasure.stands ?? false))}::int[])
      AS l (hash, generation, ms, stands)
    ON CONFLICT (user_hash) DO UPDATE SET
      generation = excluded.generation, erased_at = excluded.erased_at, stands = excluded.stands`
  const byHash = new Map(later.map((erasure) => [erasure.userHash, erasure]))
  const back: { readonly userId: string; readonly erased: Erased }[] = []
  const named = `SELECT user_id FROM (${NAMED}) n (user_id) WHERE user_id IS NOT NULL`
  for await (const rows of cursorBatches<{ user_id: string }>(tx, 'named', named, PEOPLE_AT_ONCE))
    for (const { user_id: userId } of rows) {
      const erased = byHash.get(userHash(userId))
      if (erased !== undefined) back.push({ userId, erased })
    }
  await tx.sql`
    INSERT INTO erasing (subject, generation, erased_at, erased, objects, remaining)
    SELECT subject, generation, from_epoch_ms(ms), '{"pending": 0, "pictures": 0}', '[]',
           '["rows", "buffer", "objects"]'
    FROM unnest(${back.map(({ userId }) => userId)}::text[], ${back.map(({ erased }) => erased.generation)}::int[],
                ${back.map(({ erased }) => erased.erasedMs)}::float8[]) AS b (subject, generation, ms)
    ON CONFLICT (subject) DO UPDATE SET generation = excluded.generation, erased_at = excluded.erased_at,
      remaining = excluded.remaining`
}

// The command.

const USAGE = `Restores a backup into an empty installation whose services are stopped.

  bun run restore --from <file> [--replace] [--paused]
  bun run restore --from <file> --check
  bun run restore --recovered <URL> [--to <folder>] [--replace] [--paused]

  --from      the backup file; it is read completely and checked before anything is written
  --check     restore it into an embedded database beside the file, which is deleted afterwards, while the services run
  --recovered a Postgres that was recovered from an archive to an earlier moment: back it up with the pictures and the
              pending points of this installation, and restore this backup
  --to        where that backup is written and stays: a folder, or a file that ends in .jsonl.zst (default: ./backups)
  --replace   first delete everything that the installation stores
  --paused    restore an active event as paused
  --help      show this text

Exit codes: 0 restored, 1 refused or failed, 2 wrong command line, 3 checked: the backup cannot be restored.`

async function restore(
  config: Config,
  from: string,
  options: Parameters<typeof restoreBackup>[2],
): Promise<void> {
  screen.progress(`Reading and checking ${from}`)
  const backup = await verifyBackup(from)
  screen.progress(`Restoring ${from}`)
  const status = await withInstallation(config, (installation) =>
    restoreBackup(installation, backup, options),
  )
  screen.progress('')
  screen.print(`Restored as of ${backup.header.made_at}: ${summary(backup.counts)}. The event is ${status}.`)
}

/** Errors of Postgres about what is written: the data, a constraint, a name, a limit (SQLSTATE 22, 23, 42, 54). */
const isAboutContent = (error: unknown): boolean =>
  error instanceof CommandRefused || /^(22|23|42|54)/.test(String((error as { code?: unknown }).code))

/**
 * Restores a backup into a database of its own, and deletes it. Everything else in the file has been checked when it
 * was read.
 * @throws CannotRestore when the file cannot be restored; any other error says that it could not be checked
 */
async function check(from: string): Promise<void> {
  screen.progress(`Reading and checking ${from}`)
  await access(from, constants.R_OK)
  const cannotRestore = (error: unknown): never => {
    throw new CannotRestore(`${from} cannot be restored: ${(error as Error).message}`, { cause: error })
  }
  const backup = await verifyBackup(from).catch(cannotRestore)
  const needed = FREE_BYTES + 3 * backup.rowBytes
  const free = await freeBytesOf(dirname(from))
  if (free < needed)
    throw new CommandRefused(
      `${from} was not checked: that takes ${megabytes(needed)} MB of its disk, and ${megabytes(free)} MB are free.`,
    )
  const options = { paused: false, etags: [], later: [], nowMs: machineNow() }
  await withScratchDatabase(from, (db) =>
    restoreDatabase(db, backup, options).catch((error: unknown) => {
      if (isAboutContent(error)) cannotRestore(error)
      throw error
    }),
  )
  screen.progress('')
  screen.print(`It can be restored, as of ${backup.header.made_at}: ${summary(backup.counts)}.`)
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1_000_000)

if (import.meta.main) {
  const {
    from,
    recovered,
    to,
    check: isCheck,
    ...options
  } = readCommandLine(USAGE, {
    from: { type: 'string' },
    recovered: { type: 'string' },
    to: { type: 'string', default: './backups' },
    check: { type: 'boolean', default: false },
    replace: { type: 'boolean', default: false },
    paused: { type: 'boolean', default: false },
  }).values
  if ((from === undefined) === (recovered === undefined))
    refuseCommandLine(
      USAGE,
      'Name either the backup, --from <file>, or a recovered database, --recovered <URL>.',
    )
  if (recovered !== undefined && isCheck) refuseCommandLine(USAGE, '--check reads a file: --from <file>.')
  await runCommand(async (config) => {
    const file = from ?? fileIn(to, 'recovered')
    if (recovered !== undefined)
      await withInstallation(config, (installation) => backUpRecovered(installation, recovered, file))
    await (isCheck ? check(file) : restore(config, file, options))
  })
}

/**
 * Takes a backup while everything runs. A point moves journal → buffer → database, so these are read in this order: a
 * point that left one of them before it was read is in the next. A point that is found twice has the same identity.
 */
import { getTableName, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { collectJournals, deleteJournals } from '#shared/points/journal/journal-export.ts'
import { redoDirectory } from '#shared/points/redo/redo-log.ts'
import { slices } from '#shared/points/pending-points.ts'
import { readEvent } from '#shared/pilgrims/event-settings.ts'
import { FREE_BYTES } from '#shared/service/alerts/health-checks.ts'
import { recordBackup } from '#shared/service/last-backup.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { dayOfPartition } from '#shared/stores/db/day-partitions.ts'
import { cursorBatches, type Tx } from '#shared/stores/db/db.ts'
import { OtherSchema, readSchema } from '#shared/stores/db/migrate.ts'
import type { Entry, Position, KvPresence } from '#shared/stores/kv/kv.ts'
import * as schema from '#shared/stores/schema/tables.ts'
import { type Counts, FORMAT, type Header, type Write, CommandRefused } from './archive.ts'
import { ObjectDamaged } from '#shared/stores/objects/objects.ts'
import { describeError } from '#shared/runtime/log.ts'
import { isPicture } from '#shared/stores/objects/pictures.ts'

export type Installation = Pick<ServiceContext, 'config' | 'db' | 'kv' | 'objects' | 'now'>

interface Waiting {
  readonly userId: string
  readonly entries: readonly Entry[]
  /** Latest position of these points, for the live map. */
  readonly position: Position | null
}

const ROWS_A_LINE = 1_000
const POINTS_A_LINE = 2_000
const POSITIONS_A_LINE = 5_000

export const TABLES: readonly string[] = Object.values(schema)
  .filter((value) => is(value, PgTable))
  .map((table) => getTableName(table))

export const journalsOf = ({ config }: Pick<Installation, 'config'>): string =>
  join(config.dataDir, 'journal')

/** Deletes the points that tracking stores on disk: journals and redo files. @throws as `deleteJournals` */
export async function deleteKeptPoints({ config }: Pick<Installation, 'config'>): Promise<void> {
  await deleteJournals(journalsOf({ config }))
  await rm(redoDirectory(config.dataDir), { recursive: true, force: true })
}

/** @throws CommandRefused naming the store that does not answer */
export async function expectStores({ db, kv, objects }: Installation): Promise<void> {
  const stores = { 'The database': db, 'The kv (Redis)': kv, 'The object store': objects }
  for (const [name, store] of Object.entries(stores))
    try {
      await store.probe()
    } catch (error) {
      const why = describeError(error)
      throw new CommandRefused(`${name} does not answer, so nothing was done: ${why}`, { cause: error })
    }
}

/** @throws CommandRefused while services use the stores */
export async function expectStopped({ config, db, kv }: Installation): Promise<void> {
  const others = await kv.others()
  if (others > 0)
    throw new CommandRefused(`Services are connected to the kv (${others} connections): stop them first.`)
  // The embedded database has one client, and the data directory a lock.
  if (config.databaseUrl === '') return
  const [clients] = await db.sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'event' AND pid <> pg_backend_pid()`
  if (clients!.n > 0)
    throw new CommandRefused(
      `Services are connected to the database (${clients!.n} connections): stop them first.`,
    )
}

/**
 * Writes everything that the installation stores. The backup contains every point that was acknowledged
 * before the call, and the totals match the points in the database. A damaged picture is skipped and counted.
 * @throws if anything else cannot be read: a backup is never incomplete
 */
export async function takeBackup(installation: Installation, write: Write): Promise<void> {
  const { config, db, now } = installation
  await expectStores(installation)
  const counts: Counts = { rows: {}, waiting: 0, objects: 0, damaged: 0 }
  const had = await readSchema(db)
  if (had.length === 0) throw new CommandRefused('The database is empty: there is nothing to back up.')
  const { name } = await readEvent(db, config)
  const header: Header = { backup: FORMAT, made_at: time(now()), event: name, schema: had }
  await write(JSON.stringify(header))
  await writePositions(installation.kv, write)
  // Pictures are stored after their rows or with them. Other objects may still be written to the database.
  await writeObjects(installation, (key) => !isPicture(key), counts, write)
  await writePending(installation, counts, write)
  await writeDatabase(installation, had, counts, write)
  await writeObjects(installation, isPicture, counts, write)
  await write(JSON.stringify({ end: counts }))
  await recordBackup(installation.kv, now())
}

async function writePending(installation: Installation, counts: Counts, write: Write): Promise<void> {
  const { kv } = installation
  const writeLine = async (waiting: readonly Waiting[]): Promise<void> => {
    if (waiting.length === 0) return
    for (const { entries } of waiting) counts.waiting += entries.length
    await write(JSON.stringify({ waiting }))
  }
  for await (const submissions of collectJournals(journalsOf(installation)))
    await writeLine(submissions.map(({ userId, entries, position }) => ({ userId, entries, position })))
  for (let partition = 0; partition < kv.partitions; partition++)
    for await (const slice of slices(kv, partition, POINTS_A_LINE))
      await writeLine(slice.pending.map((pending) => ({ ...pending, position: null })))
  // The counters are for the ledger, because those of a restored buffer start at zero.
  await write(JSON.stringify({ lives: await kv.counters() }))
}

async function writePositions(kv: KvPresence, write: Write): Promise<void> {
  for (let partition = 0; partition < kv.partitions; partition++) {
    let since = 0
    for (;;) {
      const page = await kv.moved(partition, since, POSITIONS_A_LINE)
      const live = page.map(({ userId, t, lat, lng, rough }) => ({ userId, t, lat, lng, rough }))
      if (live.length > 0) await write(JSON.stringify({ live }))
      if (page.length < POSITIONS_A_LINE) break
      // Inclusive, as in `LivePositions`.
      since = page.at(-1)!.movedMs
    }
  }
}

async function writeObjects(
  { objects }: Installation,
  wanted: (key: string) => boolean,
  counts: Counts,
  write: Write,
): Promise<void> {
  for await (const key of objects.list('')) {
    if (!wanted(key)) continue
    const object = await objects.get(key).catch((error: unknown) => {
      if (!(error instanceof ObjectDamaged)) throw error
      counts.damaged++
      return null
    })
    // Damaged, or deleted meanwhile.
    if (object === null) continue
    const { contentType: type, etag, bytes } = object
    await write(JSON.stringify({ object: key, type, etag, base64: Buffer.from(bytes).toString('base64') }))
    counts.objects++
  }
}

/** Writes all tables as of one moment. */
async function writeDatabase(
  { db }: Installation,
  had: readonly string[],
  counts: Counts,
  write: Write,
): Promise<void> {
  await db.longSnapshot(async (tx) => {
    await tx.sql.unsafe(`
      SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min';
      SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 3`)
    if ((await readSchema(tx)).join() !== had.join())
      throw new OtherSchema('The database was migrated while the backup began. Run the backup again.')
    const rows = await tx.sql<{ name: string; partition: boolean }[]>`
      SELECT relname AS name, relispartition AS partition FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`
    const there = new Set(rows.filter(({ partition }) => !partition).map(({ name }) => name))
    const days = rows.map(({ name }) => dayOfPartition(name)).filter((day) => day !== null)
    await write(JSON.stringify({ days }))
    for (const table of TABLES.filter((name) => there.has(name)))
      counts.rows[table] = await writeTable(tx, table, write)
    const sequences = await tx.sql<{ name: string; last: string }[]>`
      SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
      WHERE schemaname = 'public' AND last_value IS NOT NULL`
    const values = Object.fromEntries(sequences.map(({ name, last }) => [name, Number(last)]))
    await write(JSON.stringify({ sequences: values }))
  }, FREE_BYTES)
}

async function writeTable(tx: Tx, table: string, write: Write): Promise<number> {
  let count = 0
  const select = `SELECT row_to_json(t)::text AS row FROM ${table} t`
  for await (const rows of cursorBatches<{ row: string }>(tx, 'backup', select, ROWS_A_LINE)) {
    await write(`{"rows":"${table}","are":[${rows.map(({ row }) => row).join(',')}]}`)
    count += rows.length
  }
  return count
}

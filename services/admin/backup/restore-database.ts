/** The database's part of a restore: one transaction, so that a failed restore changes nothing. */
import type { Sql } from 'postgres'
import { dayPartition } from '#shared/db/day-partition.ts'
import type { Query } from '#shared/db/db.ts'
import { applyMigrations, lockMigrations, type Migration, MIGRATIONS } from '#shared/db/migrate.ts'
import { type Erased, userHash } from '#shared/kv/kv.ts'
import { closeRestoredCounters } from '#shared/ledger/stored-counters.ts'
import { kindOf, readArchive, rowsOf } from './archive.ts'
import { CommandRefused } from './command-refused.ts'
import type { Verified } from './verify-backup.ts'
import { TABLES } from './take-backup.ts'
import { cursorBatches } from '#shared/db/cursor-batches.ts'
import { PERSONAL_TABLES } from '#shared/schema/personal-data.ts'

/** A card whose ETag differs in the object store that it was restored to. */
export interface ChangedTag {
  readonly userId: string
  readonly before: string
  readonly after: string
}

/**
 * Creates the tables with the schema of the backup's release, fills them, and migrates them to this release's schema.
 * @param options.paused an active event is restored as paused
 * @param options.later erasures that are later than the backup
 * @throws CommandRefused when the archive is not complete; then the database is unchanged
 */
export async function restoreDatabase(
  sql: Sql,
  backup: Verified,
  options: {
    readonly paused: boolean
    readonly etags: readonly ChangedTag[]
    readonly later: readonly Erased[]
    readonly nowMs: number
    /** The migrations of this release. */
    readonly migrations?: readonly Migration[]
  },
): Promise<void> {
  const { migrations = MIGRATIONS } = options
  const had = (name: string): boolean => backup.header.schema.includes(name)
  await sql.begin(async (tx) => {
    await tx.unsafe(`
      SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'`)
    await lockMigrations(tx)
    await tx.unsafe(`DROP TABLE IF EXISTS ${TABLES.join(', ')}, drizzle.__drizzle_migrations CASCADE`)
    const past = migrations.filter(({ name }) => had(name))
    await applyMigrations(tx, past)
    await fill(tx, backup)
    const since = migrations.filter(({ name }) => !had(name))
    await applyMigrations(tx, since)
    await adapt(tx, backup, options)
  })
  await sql.unsafe(`ANALYZE ${TABLES.join(', ')}`)
}

async function fill(tx: Query, { path, counts }: Verified): Promise<void> {
  const tables = Object.keys(counts.rows)
  const unknown = tables.filter((table) => !TABLES.includes(table))
  if (unknown.length > 0)
    throw new CommandRefused(`The backup contains unknown tables: ${unknown.join(', ')}.`)
  // Migrations insert rows of their own.
  await tx.unsafe(`TRUNCATE ${tables.join(', ')}`)
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
      const { count } = await tx.unsafe(
        `INSERT INTO ${table} (${columns[table]})
          SELECT ${columns[table]} FROM json_populate_recordset(NULL::${table}, $1::text::json)`,
        [json],
      )
      filled[table] += count
    }
  for (const table of tables)
    if (filled[table] !== counts.rows[table])
      throw new CommandRefused(
        `The backup contains ${filled[table]} rows of ${table}, but its own count is ${counts.rows[table]}.`,
      )
}

/** Names of the columns to insert, by table. Generated columns are left out. */
async function writtenColumns(tx: Query): Promise<Record<string, string>> {
  const rows = await tx<{ table: string; columns: string }[]>`
    SELECT table_name AS table, string_agg(quote_ident(column_name), ', ') AS columns
    FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY 1`
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

async function makeDays(tx: Query, days: readonly string[]): Promise<void> {
  for (const day of days) if (/^\d{4}-\d\d-\d\d$/.test(day)) await tx.unsafe(dayPartition(day).create)
}

/** Restores the sequences, so that no number is used twice. */
async function setSequences(tx: Query, sequences: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, last] of Object.entries(sequences))
    await tx`
      SELECT setval(oid::regclass, ${last}::bigint) FROM pg_class
      WHERE relkind = 'S' AND relname = ${name} AND relnamespace = 'public'::regnamespace`
}

/** Adapts the rows to this installation: ETags, counters, later erasures, status. */
async function adapt(
  tx: Query,
  { header, lives }: Verified,
  { paused, etags, later, nowMs }: Parameters<typeof restoreDatabase>[2],
): Promise<void> {
  await tx`
    UPDATE share_cards c SET etag = t.after
    FROM unnest(${etags.map(({ userId }) => userId)}::text[], ${etags.map(({ before }) => before)}::text[],
                ${etags.map(({ after }) => after)}::text[]) AS t (user_id, before, after)
    WHERE c.user_id = t.user_id AND c.etag = t.before`
  await closeRestoredCounters(tx, lives)
  await storeLaterErasures(tx, later)
  if (paused)
    await tx`
      UPDATE activity SET status = 'paused', version = version + 1, changed_by = 'restore',
        changed_at = to_timestamp(${nowMs}::float8 / 1000)
      WHERE status = 'active'`
  const details = JSON.stringify({ made_at: header.made_at })
  await tx`
    INSERT INTO audit_log (at, role, token_name, token_fingerprint, action, details, request_id)
    VALUES (to_timestamp(${nowMs}::float8 / 1000), 'owner', 'command line', '', 'restore',
      ${details}::text::jsonb, ${crypto.randomUUID()})`
}

// People who were erased after a backup was made stay erased when it is restored.

/** Erasures that an installation has recorded; none when its database is empty. */
export async function readErasures(sql: Query): Promise<Erased[]> {
  const [there] = await sql`SELECT to_regclass('erasures') IS NOT NULL AS known`
  if (!there?.known) return []
  const rows = await sql<{ hash: string; generation: number; ms: number; stands: boolean }[]>`
    SELECT user_hash AS hash, generation, (extract(epoch FROM erased_at) * 1000)::float8 AS ms, stands FROM erasures`
  return rows.map(({ hash, generation, ms, stands }) => ({
    userHash: hash,
    generation,
    erasedMs: ms,
    stands,
  }))
}

/**
 * Merges the backup's erasures with those of the installation that are later, or after which the person has consented
 * anew.
 * @param madeMs when the backup was made, in epoch milliseconds
 */
export function mergeLaterErasures(
  inBackup: readonly Erased[],
  here: readonly Erased[],
  madeMs: number,
): { readonly all: Erased[]; readonly later: Erased[] } {
  const known = new Map(inBackup.map((one) => [one.userHash, one]))
  const later = here
    .filter(({ userHash: hash, erasedMs, stands }) => {
      const held = known.get(hash)
      if (held?.erasedMs === erasedMs) return held.stands === true && stands !== true
      return erasedMs > madeMs && erasedMs > (held?.erasedMs ?? 0)
    })
    .map((one) => ({
      ...one,
      generation: Math.max(one.generation, known.get(one.userHash)?.generation ?? 0),
    }))
  for (const one of later) known.set(one.userHash, one)
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
async function storeLaterErasures(tx: Query, later: readonly Erased[]): Promise<void> {
  if (later.length === 0) return
  await tx`
    INSERT INTO erasures (user_hash, generation, erased_at, stands, walked)
    SELECT hash, generation, to_timestamp(ms / 1000), stands = 1, 0 FROM unnest(
      ${later.map((one) => one.userHash)}::text[], ${later.map((one) => one.generation)}::int[],
      ${later.map((one) => one.erasedMs)}::float8[], ${later.map((one) => Number(one.stands ?? false))}::int[])
      AS l (hash, generation, ms, stands)
    ON CONFLICT (user_hash) DO UPDATE SET
      generation = excluded.generation, erased_at = excluded.erased_at, stands = excluded.stands`
  const byHash = new Map(later.map((one) => [one.userHash, one]))
  const back: { readonly userId: string; readonly erased: Erased }[] = []
  const named = `SELECT user_id FROM (${NAMED}) n (user_id) WHERE user_id IS NOT NULL`
  for await (const rows of cursorBatches<{ user_id: string }>(tx, 'named', named, PEOPLE_AT_ONCE))
    for (const { user_id: userId } of rows) {
      const erased = byHash.get(userHash(userId))
      if (erased !== undefined) back.push({ userId, erased })
    }
  await tx`
    INSERT INTO erasing (subject, generation, erased_at, erased, objects, remaining)
    SELECT subject, generation, to_timestamp(ms / 1000), '{"pending": 0, "pictures": 0}', '[]',
           '["rows", "buffer", "objects"]'
    FROM unnest(${back.map(({ userId }) => userId)}::text[], ${back.map(({ erased }) => erased.generation)}::int[],
                ${back.map(({ erased }) => erased.erasedMs)}::float8[]) AS b (subject, generation, ms)
    ON CONFLICT (subject) DO UPDATE SET generation = excluded.generation, erased_at = excluded.erased_at,
      remaining = excluded.remaining`
}

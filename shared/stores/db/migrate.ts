/**
 * Migrates a database to the schema of this release, forward only. A migration may name the oldest release that works
 * with it (`-- Readable from 1.6.0` in its file). The database records the name, so that this release also accepts
 * later migrations. `bun shared/stores/db/migrate.ts` is the migration job of docker-compose.yml.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError, environment, readConfig } from '#shared/runtime/config/config.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import type { Database, Tx } from './db.ts'
import { openDatabase } from './open-database.ts'
import { describeError, LoggableError } from '#shared/runtime/log.ts'
import { RELEASE } from '#shared/runtime/release.ts'

const FOLDER = new URL('../schema/migrations/', import.meta.url)
/** Key of the advisory lock that serializes migration jobs; the same in all releases. */
const MIGRATION_LOCK = 20_260_413
/**
 * Lock timeout. A statement that waits for a table lock blocks all later queries of the table, so it must not wait
 * long.
 */
const LOCK_MS = 2_000
const RETRY_MS = 1_000
/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

export interface Migration {
  readonly name: string
  /** Creation time (epoch milliseconds), which identifies it in the database. */
  readonly madeMs: number
  readonly sql: string
}

/** The oldest release that works with a migration, or null: only releases that include it. */
export const readableFrom = ({ sql }: Migration): string | null =>
  /^-- Readable from (\d+\.\d+\.\d+)\b/m.exec(sql)?.[1] ?? null

/** Every migration of this release, oldest first. */
export const MIGRATIONS: readonly Migration[] = z
  .object({ entries: z.array(z.object({ tag: z.string(), when: z.number() })) })
  .parse(JSON.parse(readFileSync(new URL('meta/_journal.json', FOLDER), 'utf8')))
  .entries.map(({ tag, when }) => ({
    name: tag,
    madeMs: when,
    sql: readFileSync(new URL(`${tag}.sql`, FOLDER), 'utf8'),
  }))

/** The database has the schema of another release. */
export class OtherSchema extends LoggableError {
  override name = 'OtherSchema'
}

/** Migrations that a later release has applied, as reasons not to start. Null: this release works with them. */
function refuseLater(later: readonly (string | null)[], release: string): string | null {
  const refused = later.filter((from) => from === null || Bun.semver.order(from, release) > 0)
  if (refused.length === 0) return null
  const oldest = refused.includes(null) ? null : refused.toSorted((a, b) => Bun.semver.order(a!, b!)).at(-1)!
  const way = oldest === null ? 'Run that release' : `Run release ${oldest} or a later one`
  return (
    `The database has ${refused.length} migration(s) that release ${release} cannot read: a newer release has ` +
    `migrated it. ${way}, or restore a backup from before the upgrade into an empty database.`
  )
}

/**
 * Names of this release's migrations that were applied to a database, oldest first.
 * @throws OtherSchema when a newer release has migrated it, and this release cannot read the result
 */
export async function readSchema(tx: Tx, migrations = MIGRATIONS, release = RELEASE): Promise<string[]> {
  const [table] = await tx.sql`SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS known`
  if (!table?.known) return []
  // Through JSON, because releases before 1.6.0 create the table without this column.
  const rows = await tx.sql<{ made_ms: number; readable_from: string | null }[]>`
    SELECT created_at::float8 AS made_ms, to_jsonb(m)->>'readable_from' AS readable_from
    FROM drizzle.__drizzle_migrations m ORDER BY created_at`
  const names = new Map(migrations.map(({ name, madeMs }) => [madeMs, name]))
  const later = rows.filter(({ made_ms }) => !names.has(made_ms))
  const refusal = refuseLater(
    later.map(({ readable_from }) => readable_from),
    release,
  )
  if (refusal !== null) throw new OtherSchema(refusal)
  return rows.flatMap(({ made_ms }) => names.get(made_ms) ?? [])
}

/** Whether a later release has migrated the database, and may have added tables. */
export async function isOfLaterRelease(tx: Tx): Promise<boolean> {
  const [table] = await tx.sql`SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS known`
  if (!table?.known) return false
  const [row] = await tx.sql<{ later: boolean }[]>`
    SELECT EXISTS (SELECT FROM drizzle.__drizzle_migrations
      WHERE created_at <> ALL(${MIGRATIONS.map(({ madeMs }) => madeMs)}::float8[]::bigint[])) AS later`
  return row!.later
}

/** @throws OtherSchema unless the database has the schema of this release, or a later one that it can read */
export async function expectSchema(tx: Tx, migrations = MIGRATIONS): Promise<void> {
  const applied = await readSchema(tx, migrations)
  const missing = migrations.filter(({ name }) => !applied.includes(name))
  if (missing.length > 0)
    throw new OtherSchema(
      `The database lacks ${missing.map(({ name }) => name).join(', ')}: run \`bun run migrate\` of this release first.`,
    )
}

/** Applies migrations in the caller's transaction and records them in the same format as drizzle's migrator. */
export async function applyMigrations(tx: Tx, migrations: readonly Migration[]): Promise<void> {
  await tx.sql`CREATE SCHEMA IF NOT EXISTS drizzle`
  await tx.sql`
    CREATE TABLE IF NOT EXISTS drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`
  await tx.sql`ALTER TABLE drizzle.__drizzle_migrations ADD COLUMN IF NOT EXISTS readable_from text`
  for (const migration of migrations) {
    const { sql, madeMs } = migration
    for (const statement of sql.split('--> statement-breakpoint')) await tx.sql.unsafe(statement)
    const hash = new Bun.CryptoHasher('sha256').update(sql).digest('hex')
    await tx.sql`
      INSERT INTO drizzle.__drizzle_migrations (hash, created_at, readable_from)
      VALUES (${hash}, ${madeMs}, ${readableFrom(migration)})`
  }
}

/** Takes the lock of migrations and restores until the transaction ends. */
export const lockMigrations = async (tx: Tx): Promise<void> =>
  void (await tx.sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)

/**
 * Applies the missing migrations, each in its own transaction. Safe to repeat and to run concurrently. On a live
 * database, a migration that does not get its table lock within two seconds aborts and is retried.
 * @param options.tries maximum attempts per migration; the default lasts about five minutes
 * @throws OtherSchema as `readSchema`
 */
export async function migrateDatabase(
  db: Database,
  { migrations = MIGRATIONS, tries = 100 }: { migrations?: readonly Migration[]; tries?: number } = {},
): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      while (await db.transaction((tx) => migrateOnce(tx, migrations))) attempt = 1
      return
    } catch (error) {
      const locked = error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
      if (!locked || attempt === tries) throw error
      await Bun.sleep(RETRY_MS)
    }
}

/** Applies the next migration. @returns whether there was one */
async function migrateOnce(tx: Tx, migrations: readonly Migration[]): Promise<boolean> {
  // Building an index of a large table is slow, and another job may hold the lock for long.
  await tx.sql`SET LOCAL statement_timeout = 0`
  await lockMigrations(tx)
  const applied = await readSchema(tx, migrations)
  const next = migrations.find(({ name }) => !applied.includes(name))
  if (next === undefined) return false
  await tx.sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_MS}`)
  await applyMigrations(tx, [next])
  return true
}

/** Opens the database at `url`, migrates it, closes it. */
export async function migrate(url: string): Promise<void> {
  const db = await openDatabase({ url, dir: '', statementMs: 0 })
  try {
    await migrateDatabase(db)
  } finally {
    await db.close()
  }
}

const USAGE = `Migrates the database at DATABASE_URL to the schema of this release. Safe while services run, and safe to repeat.

  bun run migrate [--help]

The embedded database does not need this command: it migrates itself at start.`

if (import.meta.main) {
  readCommandLine(USAGE, {})
  try {
    const { databaseUrl } = readConfig(environment())
    if (databaseUrl === '')
      throw new ConfigError(['DATABASE_URL is not set; the embedded database migrates itself'])
    await migrate(databaseUrl)
    console.log('The database has the schema of this release, or a later one that it can read.')
  } catch (error) {
    console.error(describeError(error))
    process.exitCode = 1
  }
}

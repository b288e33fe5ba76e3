/**
 * Migrations: forward only, one at a time, yielding to a live database; the schema of another release is
 * rejected.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import {
  expectSchema,
  migrate,
  type Migration,
  MIGRATIONS,
  migrateDatabase,
  readableFrom,
  readSchema,
} from '#shared/stores/db/migrate.ts'
import { RELEASE } from '#shared/runtime/release.ts'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'
import { type Server, startPostgres } from '#tests/helpers/servers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'

const NAMES = MIGRATIONS.map(({ name }) => name)
const last = MIGRATIONS.at(-1)!
/** A migration of a later release. */
const next = (sql: string): Migration => ({ name: '9999_next', madeMs: last.madeMs + 1, sql })
const NEWER = /a newer release has migrated it\. Run that release/

const columnsOf = async (db: Database): Promise<string[]> =>
  (
    await db.sql<{ name: string }[]>`
      SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY 1`
  ).map(({ name }) => name)

describeOnServers('migrations on Postgres', () => {
  let server: Server
  let db: Database
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    db = await openDatabase({ url: server.url, dir: '' })
    await db.sql`DROP SCHEMA public CASCADE`
    await db.sql`CREATE SCHEMA public`
    await db.sql`DROP SCHEMA IF EXISTS drizzle CASCADE`
  })
  afterEach(() => db?.close())

  test('concurrent jobs apply each migration once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => migrate(server.url)))
    expect(await readSchema(db)).toEqual(NAMES)
    await expectSchema(db)
  })

  test('a migration waits for transactions that use its table, and completes after them', async () => {
    await migrateDatabase(db)
    const held = Promise.withResolvers<void>()
    const reading = Promise.withResolvers<void>()
    const reader = db.transaction(async (tx) => {
      await tx.sql`SELECT count(*) FROM pilgrims`
      reading.resolve()
      await held.promise
    })
    await reading.promise
    const migrations = [...MIGRATIONS, next('ALTER TABLE pilgrims ADD COLUMN shoe_size integer')]
    const migrating = migrateDatabase(db, { migrations })
    let slowestMs = 0
    // While an ALTER waits for a table, every query of that table waits: two seconds at most, repeatedly.
    const until = performance.now() + 2_600
    while (performance.now() < until) {
      const startedAt = performance.now()
      await db.sql`SELECT count(*) FROM pilgrims`
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    }
    expect(await columnsOf(db)).not.toContain('pilgrims.shoe_size')
    held.resolve()
    await reader
    await migrating
    expect(await columnsOf(db)).toContain('pilgrims.shoe_size')
    expect(slowestMs).toBeGreaterThan(1_000)
    expect(slowestMs).toBeLessThan(3_000)
  })

  test('a failed migration is rolled back, and the earlier ones stay', async () => {
    const faulty = next('CREATE TABLE half (id integer);--> statement-breakpoint SELECT 1 / 0')
    await rejection(migrateDatabase(db, { migrations: [...MIGRATIONS, faulty] }))
    expect(await readSchema(db)).toEqual(NAMES)
    expect(await columnsOf(db)).not.toContain('half.id')
  })

  test('a newer schema is refused by the migration job and by every service, with a sentence', async () => {
    await migrateDatabase(db, { migrations: [...MIGRATIONS, next('CREATE TABLE things (id integer)')] })
    expect(String(await rejection(migrateDatabase(db)))).toMatch(NEWER)
    for (const file of ['shared/stores/db/migrate.ts', 'services/survey-profile/app.ts']) {
      const { code, out, err } = await runCommand([process.execPath, file], {
        env: { PATH: process.env.PATH, ...SETTINGS, DATABASE_URL: server.url, PORT: '0' },
      })
      expect(code).toBe(1)
      expect(out + err).toMatch(NEWER)
    }
  })

  test('a newer schema is accepted by the releases that its migrations name', async () => {
    const { [0]: major, [1]: minor } = RELEASE.split('.').map(Number)
    const after = `${major}.${minor! + 10}.0`
    const cases: [from: string[], refusal: RegExp | null][] = [
      [[RELEASE], null],
      [['1.5.9'], null],
      [[RELEASE, '1.0.0'], null],
      [
        [after],
        new RegExp(
          `1 migration\\(s\\) that release ${RELEASE} cannot read.* Run release ${after} or a later one`,
        ),
      ],
      [[after, RELEASE, `${major}.${minor! + 9}.0`], new RegExp(`2 migration.* Run release ${after} or`)],
    ]
    for (const [releases, refusal] of cases) {
      await db.sql`DROP SCHEMA IF EXISTS drizzle CASCADE`
      await db.sql`DROP SCHEMA public CASCADE`
      await db.sql`CREATE SCHEMA public`
      const later = releases.map((from, i) => ({
        name: `999${i}_next`,
        madeMs: last.madeMs + 1 + i,
        sql: `-- Readable from ${from}\nCREATE TABLE things_${i} (id integer)`,
      }))
      await migrateDatabase(db, { migrations: [...MIGRATIONS, ...later] })
      for (const expects of [migrateDatabase, expectSchema])
        if (refusal === null) await expects(db)
        else expect(String(await rejection(expects(db)))).toMatch(refusal)
      if (refusal === null) expect(await readSchema(db)).toEqual(NAMES)
    }
  })

  test('the migrations of a release that recorded no oldest release are known', async () => {
    await migrateDatabase(db)
    await db.sql`ALTER TABLE drizzle.__drizzle_migrations DROP COLUMN readable_from`
    await expectSchema(db)
    await db.sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ('', ${last.madeMs + 1})`
    expect(String(await rejection(expectSchema(db)))).toMatch(NEWER)
  })

  test('a service refuses a database that lacks a migration, and says what to run', async () => {
    await migrateDatabase(db)
    const later = next('CREATE TABLE things (id integer)')
    expect(String(await rejection(expectSchema(db, [...MIGRATIONS, later])))).toContain(
      `The database lacks ${later.name}: run \`bun run migrate\``,
    )
  })
})

test('the embedded run refuses a newer schema too (long)', async () => {
  const dataDir = await newDirectory('newer')
  const db = await openDatabase({ url: '', dir: `${dataDir}/db` })
  await migrateDatabase(db, { migrations: [...MIGRATIONS, next('CREATE TABLE things (id integer)')] })
  await db.close()
  const { code, err } = await runCommand([process.execPath, 'proxy/local.ts'], {
    env: { PATH: process.env.PATH, EVENT_DATA_DIR: dataDir, EVENT_PORT: '0' },
  })
  expect(err).toMatch(NEWER)
  expect(code).toBe(1)
  await rm(dataDir, { recursive: true })
})

describe('each migration is safe while services run', () => {
  /**
   * Services of the previous release still run, and tables are large: statements that would break or block
   * them.
   */
  const UNSAFE: [RegExp, string][] = [
    [/\bDROP\s+(TABLE|COLUMN)\b/i, 'takes away what running services use'],
    [/\bRENAME\b/i, 'takes away what running services use'],
    [/\bALTER\s+COLUMN\b.*\b(TYPE|SET\s+NOT\s+NULL)\b/i, 'reads or rewrites the whole table under its lock'],
    [/\bADD\s+COLUMN\b(?=.*\bNOT\s+NULL\b)(?!.*\bDEFAULT\b)/i, 'fails on a table that has rows'],
    [
      /\bADD\s+COLUMN\b.*\bDEFAULT\s+(?!'|\d|true|false|now\(\))/i,
      'may rewrite the whole table under its lock',
    ],
    [/\bADD\s+CONSTRAINT\b(?!.*\bNOT\s+VALID\b)/i, 'reads the whole table under its lock'],
    [/\bINDEX\b.*\bON\s+"?gps_points\b/i, 'keeps the flush out while the largest table is indexed'],
    [/\b(LOCK\s+TABLE|VACUUM\s+FULL|CLUSTER)\b/i, 'stops everyone'],
  ]
  const faultsOf = (sql: string): string[] =>
    sql
      .replaceAll(/--.*$/gm, '')
      .split(';')
      .flatMap((statement) =>
        UNSAFE.filter(([pattern]) => pattern.test(statement.replaceAll(/\s+/g, ' '))).map(
          ([, fault]) => fault,
        ),
      )

  for (const { name, sql } of MIGRATIONS) test(name, () => expect(faultsOf(sql)).toEqual([]))

  test('each names the oldest release that works with it, since releases ask', () => {
    const since = MIGRATIONS.filter(({ name }) => name > '0015')
    expect(since.filter((migration) => readableFrom(migration) === null)).toEqual([])
  })

  test('unsafe migrations are reported', () => {
    for (const unsafe of [
      'ALTER TABLE "pilgrims" DROP COLUMN "phone"',
      'ALTER TABLE "a" ALTER COLUMN "b" SET DATA TYPE bigint',
      'ALTER TABLE "a" ADD COLUMN "b" integer NOT NULL',
      'ALTER TABLE "a" ADD COLUMN "b" uuid DEFAULT gen_random_uuid() NOT NULL',
      'ALTER TABLE "a" ADD CONSTRAINT "b" CHECK (c > 0)',
      'CREATE INDEX "x" ON "gps_points" USING btree ("lat")',
    ])
      expect([unsafe, faultsOf(unsafe).length]).toEqual([unsafe, 1])
    expect(faultsOf('ALTER TABLE "a" ADD COLUMN "b" integer DEFAULT 0 NOT NULL')).toEqual([])
  })
})

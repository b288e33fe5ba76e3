/** One suite for both drivers of the database port, plus tests of the embedded one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { type Database, DatabaseTimeout, isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { openDatabase, queuedProbe } from '#shared/stores/db/open-database.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { activity, outbox } from '#shared/stores/schema/tables.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Server, startPostgres } from '#tests/helpers/servers.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

let dir: string
let server: Server
beforeAll(async () => {
  dir = await newDirectory('db')
  if (!embeddedOnly) server = await startPostgres()
})
afterAll(async () => {
  await server?.close()
  await rm(dir, { recursive: true })
})

for (const [name, open] of [
  ['embedded', () => openDatabase({ url: '', dir: join(dir, 'embedded') })],
  ['Postgres', () => openDatabase({ url: server.url, dir: '' })],
] as const)
  describe.skipIf(embeddedOnly && name === 'Postgres')(`database: ${name}`, () => {
    let db: Database
    beforeAll(async () => {
      db = await open()
    })
    afterAll(() => db?.close())

    const write = (subject: string, to: Pick<Database['orm'], 'insert'> = db.orm) =>
      to.insert(outbox).values({ subject, payload: { subject }, createdAt: new Date(1_700_000_000_123) })
    const written = async (subject: string) =>
      (await db.orm.select().from(outbox).where(eq(outbox.subject, subject))).length

    test('migrates an empty database, and a second run changes nothing', async () => {
      const schema = () => db.sql`
        SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
        WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`
      expect(await schema()).toBeEmpty()
      await migrateDatabase(db)
      const once = [...(await schema())]
      expect(once.map(({ table_name }) => table_name as string)).toContain('gps_points')
      await migrateDatabase(db)
      expect([...(await schema())]).toEqual(once)
      expect(await db.orm.select().from(activity)).toMatchObject([{ status: 'active', version: 1 }])
    })

    test('a transaction is applied completely or not at all', async () => {
      await db.transaction(async (tx) => {
        await write('both', tx.orm)
        await write('both', tx.orm)
      })
      expect(await written('both')).toBe(2)
      const failure = await rejection(
        db.transaction(async (tx) => {
          await write('none', tx.orm)
          throw new Error('no')
        }),
      )
      expect(failure).toMatchObject({ message: 'no' })
      await rejection(
        db.transaction(async (tx) => {
          await tx.sql`INSERT INTO outbox (subject, payload, created_at) VALUES ('none', '{}', now())`
          await tx.sql`SELECT 1 / 0`
        }),
      )
      expect(await written('none')).toBe(0)
    })

    test('concurrent transactions all commit', async () => {
      const transactions = Array.from({ length: 20 }, (_, i) =>
        db.transaction(async (tx) => {
          await write(`at-once-${i}`, tx.orm)
          const [row] = await tx.orm
            .select()
            .from(outbox)
            .where(eq(outbox.subject, `at-once-${i}`))
          return row!.subject
        }),
      )
      const answers = await Promise.all(transactions)
      expect(answers).toEqual(Array.from({ length: 20 }, (_, i) => `at-once-${i}`))
    })

    test('times keep milliseconds, JSON keeps its structure, arrays keep their order', async () => {
      await write('shape')
      const [row] = await db.orm.select().from(outbox).where(eq(outbox.subject, 'shape'))
      expect(row).toMatchObject({ payload: { subject: 'shape' }, createdAt: new Date(1_700_000_000_123) })
      const [raw] = await db.sql<{ ms: number; names: string[] }[]>`
        SELECT (extract(epoch FROM created_at) * 1000)::float8 AS ms,
          (SELECT array_agg(name ORDER BY place) FROM unnest(${['b', 'a|"}', '雨']}::text[])
            WITH ORDINALITY AS u (name, place)) AS names
        FROM outbox WHERE subject = 'shape'`
      expect(raw).toEqual({ ms: 1_700_000_000_123, names: ['b', 'a|"}', '雨'] })
    })

    test('points of a day are stored in its partition, others in the default one, with one identity', async () => {
      await db.sql`
        CREATE TABLE gps_points_of_a_day PARTITION OF gps_points
        FOR VALUES FROM ('2026-04-12T00:00:00Z') TO ('2026-04-13T00:00:00Z')`
      const store = (sentAt: string) => db.sql<{ partition: string }[]>`
        INSERT INTO gps_points
          (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
        VALUES ('U', 'c', ${sentAt}::text::timestamptz, now(), now(), 25, 121, true, false)
        ON CONFLICT DO NOTHING RETURNING tableoid::regclass::text AS partition`
      expect([...(await store('2026-04-12T23:59:59.999Z'))]).toEqual([{ partition: 'gps_points_of_a_day' }])
      expect([...(await store('2026-04-13T00:00:00.000Z'))]).toEqual([{ partition: 'gps_points_default' }])
      expect(await store('2026-04-12T23:59:59.999Z')).toBeEmpty()
      expect(await store('2026-04-13T00:00:00.000Z')).toBeEmpty()
    })

    test('the probe succeeds; a wrong query is not reported as an outage', async () => {
      await db.probe()
      for (const wrong of [
        () => db.sql`SELECT nothing`,
        () => db.orm.execute(sql`SELECT 1 / 0`),
        () => db.sql`INSERT INTO activity (id, status, version, changed_at) VALUES (1, '', 1, now())`,
      ]) {
        let asked = 0
        const failure = await rejection(
          db.read(async () => {
            asked++
            return wrong()
          }),
        )
        expect(isDatabaseUnavailable(failure)).toBe(false)
        expect(asked).toBe(1)
      }
      expect(isDatabaseUnavailable(new Error('else'))).toBe(false)
      expect(isDatabaseUnavailable('text')).toBe(false)
    })

    test('long SQL does not stop this thread', async () => {
      let isDone = false
      const query = db.sql`SELECT count(*) FROM generate_series(1, 6000000)`.execute()
      void query.then(() => (isDone = true))
      // If the query blocked the thread, no timer would fire before its end.
      for (let turns = 0; turns < 3; turns++) {
        await Bun.sleep(5)
        expect(isDone).toBe(false)
      }
      await query
    })
  })

describe('the embedded database', () => {
  test('keeps what was committed over a restart', async () => {
    // Opens the suite's own database again after its end.
    const again = await openDatabase({ url: '', dir: join(dir, 'embedded') })
    expect(await again.orm.select().from(outbox).where(eq(outbox.subject, 'both'))).toHaveLength(2)
    await migrateDatabase(again)
    await again.close()
  })

  test('a long read sees one moment, and delays no other statement', async () => {
    const path = join(dir, 'read-for-long')
    const db = await openDatabase({ url: '', dir: path })
    await db.sql`CREATE TABLE told (n int)`
    await db.sql`INSERT INTO told VALUES (1)`
    const read = await db.longSnapshot(async (tx) => {
      await db.sql`INSERT INTO told VALUES (2)`
      return tx.sql`SELECT n FROM told`
    }, 0)
    expect([...read]).toEqual([{ n: 1 }])
    expect(await db.sql`SELECT n FROM told`).toHaveLength(2)
    const full = await rejection(db.longSnapshot(async () => undefined, 1e18))
    expect(String(full)).toMatch(/cannot be copied: its disk lacks \d+ MB/)
    expect(readdirSync(dir).filter((name) => name.includes('.copy-'))).toEqual([])
    await db.close()
    await mkdir(`${path}.copy-of-a-killed-process`)
    await (await openDatabase({ url: '', dir: path })).close()
    expect(readdirSync(dir).filter((name) => name.includes('.copy-'))).toEqual([])
  })

  test('reports that it cannot start, and leaves no process running', async () => {
    const broken = join(dir, 'broken')
    await mkdir(broken)
    writeFileSync(join(broken, 'PG_VERSION'), '99')
    const { TMPDIR } = process.env
    process.env.TMPDIR = join(dir, 'temporary')
    await mkdir(process.env.TMPDIR)
    try {
      const failure = await rejection(openDatabase({ url: '', dir: broken }))
      expect(String(failure)).toContain('the embedded database cannot start')
      expect(readdirSync(join(dir, 'temporary'))).toEqual([])
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    }
  })
})

test('a busy embedded database does not time out, unless it is busy for long (long)', async () => {
  const db = await openDatabase({ url: '', dir: join(dir, 'busy') })
  const probe = queuedProbe(async () => db.sql`SELECT 1`, { waitMs: 20, busyMs: 200 })
  const beganMs = performance.now()
  await probe()
  const held = Promise.withResolvers<void>()
  const holding = db.transaction(async (tx) => {
    await tx.sql`SELECT 1`
    await held.promise
  })
  await probe()
  // The previous probe is still in progress, and becomes too old.
  await until(
    () =>
      probe().then(
        () => false,
        (error: unknown) => error instanceof DatabaseTimeout,
      ),
    'the database to be called silent',
  )
  expect(performance.now() - beganMs).toBeGreaterThan(200)
  held.resolve()
  await holding
  await until(
    () =>
      probe().then(
        () => true,
        () => false,
      ),
    'an answer',
  )
  const broken = queuedProbe(() => Promise.reject(new Error('broken')))
  for (let i = 0; i < 2; i++) expect(await rejection(broken())).toMatchObject({ message: 'broken' })
  await db.close()
})

/** Bulk inserts, with both drivers of the database port. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Column, type Database, ValueRefused } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import postgres from 'postgres'
import { openTestDatabase, type TestDatabase } from '#tests/helpers/database.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'

type Thing = readonly [id: number, text: string | null, at: number | null, small: number | null, yes: boolean]

const COLUMNS: readonly Column<Thing>[] = [
  { name: 'id', type: 'float8', of: ([id]) => id },
  { name: 'said', type: 'text', of: ([, said]) => said },
  { name: 'at', type: 'instant', of: ([, , at]) => at },
  { name: 'small', type: 'float4', of: ([, , , small]) => small },
  { name: 'yes', type: 'boolean', of: ([, , , , yes]) => yes },
]

const LAST_MS = 9_000_000_000_000
const THINGS: readonly Thing[] = [
  [1, 'a', Date.UTC(2026, 3, 12, 4, 0, 0, 123), 0.1, true],
  [2, null, null, null, false],
  [-1.5e300, '', -1, 3.4e38, true],
  [24.12345678901234, '進香 🚶 "{,}\\N\n\t', Date.UTC(1999, 11, 31), 1e-60, false],
  [Number.MAX_SAFE_INTEGER, 'é'.repeat(5_000), LAST_MS, -0.5, true],
]

let dir: string
beforeAll(async () => {
  dir = await newDirectory('db-rows')
})
afterAll(() => rm(dir, { recursive: true }))

for (const driver of ['embedded', 'Postgres'])
  describe.skipIf(embeddedOnly && driver === 'Postgres')(`rows: ${driver}`, () => {
    let db: Database
    let server: TestDatabase | undefined
    beforeAll(async () => {
      if (driver === 'Postgres') server = await openTestDatabase()
      else await copyMigratedDatabase(dir)
      db = await openDatabase({ url: server?.url ?? '', dir: join(dir, 'db') })
      await db.sql`CREATE TABLE things (id float8 PRIMARY KEY, said text, at timestamptz(3), small float4, yes boolean)`
    })
    afterAll(async () => {
      await db?.close()
      await server?.drop()
    })

    const insert = (things: readonly Thing[]) =>
      db.transaction((tx) => db.insertRows(tx, 'things', COLUMNS, things))
    const held = () =>
      db.sql`SELECT id, said, (extract(epoch FROM at) * 1000)::float8 AS at, small, yes FROM things ORDER BY id`.values()

    test('are stored in the table as given', async () => {
      await insert(THINGS)
      const rows = THINGS.map(([id, said, at, small, yes]) => [id, said, at, small, yes])
      const single = (small: number | null) => (small === null ? null : Math.fround(small))
      const given = rows.map(([id, said, at, small, yes]) => [
        id,
        said,
        at,
        single(small as number | null),
        yes,
      ])
      const found = (await held()).map(([id, said, at, small, yes]) => [
        id,
        said,
        at,
        single(small as number | null),
        yes,
      ])
      expect(found).toEqual(given.sort((a, b) => Number(a[0]) - Number(b[0])))
      await db.sql`TRUNCATE things`
    })

    test('are stored in large numbers and with long texts', async () => {
      const many = Array.from({ length: 3_000 }, (_, i): Thing => [i, `${i} `.repeat(40), i, i, true])
      await insert(many)
      const [row] = await db.sql`SELECT count(*)::int AS rows, sum(length(said))::int AS length FROM things`
      expect(row).toEqual({ rows: 3_000, length: many.reduce((sum, [, said]) => sum + said!.length, 0) })
      await db.sql`TRUNCATE things`
    })

    test.each<readonly [string, Thing, RegExp]>([
      ['a key that is there', [7, 'again', 0, 0, true], /duplicate key/],
      ['a character that no text has', [8, 'a\0b', 0, 0, true], /0x00/],
      ['more than a float4 holds', [9, 'x', 0, 1e39, true], /out of range/],
      ['a time beyond the table', [10, 'x', 1e300, 0, true], /out of range/],
      ['text for a number', [11, 'x', 0, 'fast' as never, true], /fast|not a value of its type/],
    ])('%s is refused, and the connection goes on', async (_, thing, reason) => {
      await insert([[7, 'first', 0, 0, true]])
      const error = await rejection(insert([[6, 'before', 0, 0, true], thing]))
      expect(error instanceof ValueRefused || error instanceof postgres.PostgresError).toBe(true)
      expect((error as Error).message).toMatch(reason)
      // More queries than connections: none of them hangs.
      const answers = await Promise.all(Array.from({ length: 20 }, () => db.sql`SELECT id FROM things`))
      for (const answer of answers) expect([...answer]).toEqual([{ id: 7 }])
      await db.sql`TRUNCATE things`
    })
  })

/** What a public read of the board costs the database. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { listFeedback, readBoard } from '#services/feedback-media/feedback/reports.ts'
import { type FeedbackQuery, feedbackStatusEndpoint } from '#shared/contracts/feedback.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'

const STORED = 20_000
/** Rows of a page and of a small count, with the row that means another page. */
const FEW = 200

let dir: string
let db: Database
beforeAll(async () => {
  dir = await newDirectory('board-cost')
  await copyMigratedDatabase(dir)
  db = await openDatabase({ url: '', dir: join(dir, 'db') })
  await db.sql`
    INSERT INTO feedback (category, description, status, created_at, updated_at)
    SELECT CASE WHEN i % 1000 = 0 THEN 'water' ELSE 'flood' END, 'x',
           CASE WHEN i % 2000 = 0 THEN 'fixed' ELSE 'new' END, now(), now()
    FROM generate_series(1, ${STORED}::int) i`
})
afterAll(async () => {
  await db?.close()
  await rm(dir, { recursive: true })
})

const contextOf = (count: () => void = () => undefined): ServiceContext =>
  ({
    db: new Proxy(db, {
      get(target, name: keyof Database) {
        if (name === 'read') count()
        return target[name]
      },
    }),
  }) as never

/** Rows that the database has read of tables and indexes since it was opened. */
async function rowsRead(): Promise<number> {
  await db.sql`SELECT pg_stat_force_next_flush()`
  const [row] = await db.sql<{ n: number }[]>`
    SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = 'feedback')
          + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'feedback'))::float8 AS n`
  return row!.n
}

test.each([false, true])(
  'a flood of reports makes no public read dearer (statistics: %p)',
  async (analyzed) => {
    if (analyzed) await db.sql`ANALYZE feedback`
    const context = contextOf()
    const read = async (query: Partial<FeedbackQuery>) => {
      const asked = feedbackStatusEndpoint.query.parse(query)
      await listFeedback(context, asked, null)
      await readBoard(context, asked)
    }
    const queries: Partial<FeedbackQuery>[] = [
      {},
      { status: 'fixed' },
      { status: 'wontfix' },
      { category: 'flood' },
      { category: 'water' },
      { category: 'none' },
      { category: 'flood', status: 'fixed' },
      { category: 'flood', status: 'wontfix' },
      { category: 'water', status: 'new' },
    ]
    for (const query of queries) {
      // The counts of the flood are read once, and cached.
      await read(query)
      const before = await rowsRead()
      await read(query)
      const rows = (await rowsRead()) - before
      expect({ query, rows, isFew: rows < FEW }).toEqual({ query, rows, isFew: true })
    }
  },
)

test('concurrent reads of the board count a flood once', async () => {
  let reads = 0
  const context = contextOf(() => reads++)
  const asked = feedbackStatusEndpoint.query.parse({ limit: '1' })
  const answers = await Promise.all(Array.from({ length: 20 }, () => readBoard(context, asked)))
  expect(new Set(answers.map(({ counts }) => JSON.stringify(counts))).size).toBe(1)
  // A page each, and the counts.
  expect(reads).toBe(21)
})

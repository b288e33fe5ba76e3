/** The flush's own records. */
import { boolean, index, integer, pgTable, serial, text } from 'drizzle-orm/pg-core'
import { exact, instant } from './columns.ts'

/** One row per finished flush of a partition; `last_flush` is the youngest that succeeded. */
export const flushes = pgTable(
  'flushes',
  {
    id: serial('id').primaryKey(),
    partition: integer('partition').notNull(),
    startedAt: instant('started_at').notNull(),
    finishedAt: instant('finished_at').notNull(),
    stored: exact('stored').notNull(),
    duplicates: exact('duplicates').notNull(),
    deadLetters: integer('dead_letters').notNull(),
    succeeded: boolean('succeeded').notNull(),
  },
  (table) => [index().on(table.partition, table.succeeded, table.finishedAt), index().on(table.finishedAt)],
)

/** Points that the database refuses, with the reason; an operator replays or drops them. */
export const deadLetters = pgTable('dead_letters', {
  id: serial('id').primaryKey(),
  userId: text('user_id').notNull(),
  field: text('field').notNull(),
  value: text('value').notNull(),
  reason: text('reason').notNull(),
  /** How often the database has refused it. */
  refusals: integer('refusals').notNull().default(1),
  createdAt: instant('created_at').notNull(),
})

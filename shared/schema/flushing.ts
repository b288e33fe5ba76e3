/** Records of the flush. */
import { boolean, index, integer, pgTable, serial, text } from 'drizzle-orm/pg-core'
import { exact, instant } from './columns.ts'

/** One row per finished flush of a partition; `last_flush` is the latest successful one. */
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

/** Dead letters: points that the database refused, with the reason; an operator requeues or drops them. */
export const deadLetters = pgTable('dead_letters', {
  id: serial('id').primaryKey(),
  userId: text('user_id').notNull(),
  field: text('field').notNull(),
  value: text('value').notNull(),
  reason: text('reason').notNull(),
  /** Number of refusals. */
  refusals: integer('refusals').notNull().default(1),
  createdAt: instant('created_at').notNull(),
})

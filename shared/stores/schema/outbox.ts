/** Domain events between services. */
import { index, integer, jsonb, pgTable, primaryKey, serial, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** Written in the transaction of the change that an event reports. */
export const outbox = pgTable(
  'outbox',
  {
    id: serial('id').primaryKey(),
    subject: text('subject').notNull(),
    payload: jsonb('payload').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index().on(table.createdAt)],
)

/** Handled events per subscriber, written in the transaction of the effect, so that each effect happens once. */
export const handled = pgTable(
  'handled',
  {
    eventId: integer('event_id').notNull(),
    subscriber: text('subscriber').notNull(),
    handledAt: instant('handled_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.eventId, table.subscriber] })],
)

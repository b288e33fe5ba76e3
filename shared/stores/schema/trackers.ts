/** Keys of tracker apps. */
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

export const trackers = pgTable(
  'trackers',
  {
    id: uuid('id').primaryKey(),
    userId: text('user_id').notNull(),
    /** SHA-256 of the key, in hex. The key itself is not stored. */
    keyHash: text('key_hash').notNull().unique(),
    label: text('label'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

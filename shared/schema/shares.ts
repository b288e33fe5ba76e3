/** Links that pilgrims pass on. A row is deleted when its link ends, so no trace of a revoked one remains. */
import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

export const shares = pgTable(
  'shares',
  {
    /** Random; whoever has it sees the page. */
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    /** `pilgrim`, or `bot`: the one link that the bot's answers use. */
    madeBy: text('made_by').notNull(),
    showName: boolean('show_name').notNull(),
    /** Until then the page shows where the pilgrim is; null: it does not. */
    liveUntil: instant('live_until'),
    /** Since when it shows so without a break; the line has nothing from before. Null with `liveUntil`. */
    liveSince: instant('live_since'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** How often the page was opened; nothing is known of who opened it. */
    views: integer('views').notNull().default(0),
    lastViewedAt: instant('last_viewed_at'),
  },
  (table) => [
    index().on(table.userId),
    uniqueIndex('shares_of_bot')
      .on(table.userId)
      .where(sql`${table.madeBy} = 'bot'`),
  ],
)

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

// Stored share cards and the state that they were drawn from.

export const shareCards = pgTable('share_cards', {
  userId: text('user_id').primaryKey(),
  /** Digest of the content of the stored picture; null: none is stored. */
  fingerprint: text('fingerprint'),
  etag: text('etag'),
  /** The same of the picture without the name, for links that do not show it. */
  namelessFingerprint: text('nameless_fingerprint'),
  namelessEtag: text('nameless_etag'),
  /** Whether it is the achievement card. */
  unlocked: boolean('unlocked').notNull(),
  /** The pilgrim's stored points at the last check; a different number causes a new check. */
  points: integer('points').notNull(),
  /** Time of the last drawing or confirmation. */
  checkedAt: instant('checked_at').notNull(),
  /** Time of the last failure; null after a success. */
  failedAt: instant('failed_at'),
})

/** Which share cards are stored, and of what they were drawn. */
import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

export const shareCards = pgTable('share_cards', {
  userId: text('user_id').primaryKey(),
  /** Digest of everything that the stored picture shows; null while none is stored. */
  fingerprint: text('fingerprint'),
  etag: text('etag'),
  /** Whether it is the festive one. */
  unlocked: boolean('unlocked').notNull(),
  /** Stored points of the pilgrim when it was looked at last: other ones are a reason to look again. */
  points: integer('points').notNull(),
  /** When it was last drawn, or found still right. */
  checkedAt: instant('checked_at').notNull(),
  /** When drawing it failed; null after a success. */
  failedAt: instant('failed_at'),
})

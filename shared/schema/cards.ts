/** Stored share cards and the state that they were drawn from. */
import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

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

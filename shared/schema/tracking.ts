/** Accepted points. Only the flush writes them. */
import { boolean, doublePrecision, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant, measure } from './columns.ts'

/**
 * Partitioned by day of `sent_at` (the migration is written by hand: drizzle-kit cannot express it).
 * The key begins with the user id, so that the table can be sharded.
 */
export const gpsPoints = pgTable(
  'gps_points',
  {
    userId: text('user_id').notNull(),
    /** `c` check-in, `t` track point. */
    kind: text('kind').notNull(),
    /** The time the client sent: part of the identity. */
    sentAt: instant('sent_at').notNull(),
    /** Time of the point: `sent_at`, or the time of receipt if the phone's clock was ahead. */
    recordedAt: instant('recorded_at').notNull(),
    receivedAt: instant('received_at').notNull(),
    lat: doublePrecision('lat').notNull(),
    lng: doublePrecision('lng').notNull(),
    accuracy: measure('accuracy'),
    altitude: measure('altitude'),
    speed: measure('speed'),
    mode: text('mode'),
    source: text('source'),
    inRange: boolean('in_range').notNull(),
    clockCorrected: boolean('clock_corrected').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.kind, table.sentAt] })],
)

/** Points as they were accepted. Written by the flush only. */
import { boolean, doublePrecision, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant, measure } from './columns.ts'

/**
 * Partitioned by day of `sent_at` (the migration is written by hand: drizzle-kit cannot express it).
 * The key begins with the user, so that a sharded Postgres can hold the table.
 */
export const gpsPoints = pgTable(
  'gps_points',
  {
    userId: text('user_id').notNull(),
    /** `c` check-in, `t` track point. */
    kind: text('kind').notNull(),
    /** The time the client sent: part of the identity. */
    sentAt: instant('sent_at').notNull(),
    /** Its place in time: `sent_at`, or the time of receipt where a phone's clock ran ahead. */
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

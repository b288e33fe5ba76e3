/** Accepted points. Only the flush writes them. */
import {
  boolean,
  doublePrecision,
  pgTable,
  primaryKey,
  text,
  index,
  integer,
  serial,
} from 'drizzle-orm/pg-core'
import type { Measurement } from '#shared/contracts/gps-points.ts'
import { instant, measure, exact } from './columns.ts'

const measurements = {
  accuracy: measure('accuracy'),
  altitude: measure('altitude'),
  speed: measure('speed'),
  mode: text('mode'),
  source: text('source'),
} satisfies Record<Measurement, unknown>

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
    ...measurements,
    inRange: boolean('in_range').notNull(),
    clockCorrected: boolean('clock_corrected').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.kind, table.sentAt] })],
)

// Records of the flush.

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

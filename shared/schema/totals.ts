/** Projections that the flush keeps, so that no reader ever scans points. */
import { date, doublePrecision, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { exact, instant } from './columns.ts'

/** Per pilgrim: sums, and where they were last. Its migration leaves half of each page free for updates. */
export const pilgrimTotals = pgTable('pilgrim_totals', {
  userId: text('user_id').primaryKey(),
  points: integer('points').notNull().default(0),
  checkins: integer('checkins').notNull().default(0),
  distanceMm: exact('distance_mm').notNull().default(0),
  carbonMg: exact('carbon_mg').notNull().default(0),
  firstSeen: instant('first_seen'),
  lastSeen: instant('last_seen'),
  lastLat: doublePrecision('last_lat'),
  lastLng: doublePrecision('last_lng'),
})

/** Per pilgrim and local day: sums, the hours walked, and the fold's state at the end of the day. */
export const pilgrimDays = pgTable(
  'pilgrim_days',
  {
    userId: text('user_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    points: integer('points').notNull(),
    checkins: integer('checkins').notNull(),
    distanceMm: exact('distance_mm').notNull(),
    carbonMg: exact('carbon_mg').notNull(),
    /** Bit n: a point in the n-th hour after the day's start (a day has up to 25). */
    hours: integer('hours').notNull(),
    anchorLat: doublePrecision('anchor_lat').notNull(),
    anchorLng: doublePrecision('anchor_lng').notNull(),
    anchorAt: instant('anchor_at').notNull(),
    beforeLat: doublePrecision('before_lat'),
    beforeLng: doublePrecision('before_lng'),
    beforeAt: instant('before_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.day] })],
)

/** Per hour of the event's time zone, by the time of the point. */
export const eventHours = pgTable('event_hours', {
  hour: instant('hour').primaryKey(),
  points: integer('points').notNull(),
  checkins: integer('checkins').notNull(),
  pilgrims: integer('pilgrims').notNull(),
  distanceMm: exact('distance_mm').notNull(),
  carbonMg: exact('carbon_mg').notNull(),
})

/** Per local day: how many pilgrims had a point. */
export const eventDays = pgTable('event_days', {
  day: date('day', { mode: 'string' }).primaryKey(),
  pilgrims: integer('pilgrims').notNull(),
})

/**
 * What erased people had added to the event's sums, without saying who: the sums stay as they were, and a
 * rebuild from the points agrees with them.
 */
export const erasedHours = pgTable('erased_hours', {
  hour: instant('hour').primaryKey(),
  points: integer('points').notNull(),
  checkins: integer('checkins').notNull(),
  pilgrims: integer('pilgrims').notNull(),
  distanceMm: exact('distance_mm').notNull(),
  carbonMg: exact('carbon_mg').notNull(),
})

export const erasedDays = pgTable('erased_days', {
  day: date('day', { mode: 'string' }).primaryKey(),
  pilgrims: integer('pilgrims').notNull(),
})

export const erasedModes = pgTable(
  'erased_modes',
  {
    day: date('day', { mode: 'string' }).notNull(),
    mode: text('mode').notNull(),
    distanceMm: exact('distance_mm').notNull(),
    carbonMg: exact('carbon_mg').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.mode] })],
)

/** Per local day and mode. */
export const eventModes = pgTable(
  'event_modes',
  {
    day: date('day', { mode: 'string' }).notNull(),
    mode: text('mode').notNull(),
    distanceMm: exact('distance_mm').notNull(),
    carbonMg: exact('carbon_mg').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.mode] })],
)

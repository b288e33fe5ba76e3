/** Totals that the flush updates, so that no reader scans points. */
import {
  bigserial,
  date,
  doublePrecision,
  integer,
  pgTable,
  primaryKey,
  text,
  index,
} from 'drizzle-orm/pg-core'
import { bytes, exact, instant } from './columns.ts'
import { sql } from 'drizzle-orm'

/** Per pilgrim: totals and the latest position. Its migration leaves half of each page free for updates. */
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

/** Per pilgrim and local day: totals, the hours walked, and the state of the fold at the end of the day. */
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
    /** Null while the pilgrim has only rough points. */
    anchorLat: doublePrecision('anchor_lat'),
    anchorLng: doublePrecision('anchor_lng'),
    anchorAt: instant('anchor_at'),
    beforeLat: doublePrecision('before_lat'),
    beforeLng: doublePrecision('before_lng'),
    beforeAt: instant('before_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.day] })],
)

// Columns of the event's totals, and of what erased people contributed to them.
const ofHour = {
  hour: instant('hour').primaryKey(),
  points: integer('points').notNull(),
  checkins: integer('checkins').notNull(),
  pilgrims: integer('pilgrims').notNull(),
  distanceMm: exact('distance_mm').notNull(),
  carbonMg: exact('carbon_mg').notNull(),
}
const ofDay = {
  day: date('day', { mode: 'string' }).primaryKey(),
  pilgrims: integer('pilgrims').notNull(),
}
const ofMode = {
  day: date('day', { mode: 'string' }).notNull(),
  mode: text('mode').notNull(),
  distanceMm: exact('distance_mm').notNull(),
  carbonMg: exact('carbon_mg').notNull(),
}

/** Per hour of the event's time zone, by the time of the point. */
export const eventHours = pgTable('event_hours', ofHour)

/** Per local day: number of pilgrims with a point. */
export const eventDays = pgTable('event_days', ofDay)

/**
 * Contributions of erased people to the event's totals, without their identity: the totals stay the same, and a
 * rebuild from the points gives the same result.
 */
export const erasedHours = pgTable('erased_hours', ofHour)

export const erasedDays = pgTable('erased_days', ofDay)

export const erasedModes = pgTable('erased_modes', ofMode, (table) => [
  primaryKey({ columns: [table.day, table.mode] }),
])

/** Per local day and mode. */
export const eventModes = pgTable('event_modes', ofMode, (table) => [
  primaryKey({ columns: [table.day, table.mode] }),
])

/** Changes of cells by slices that the roll-up has not added yet: packed `CellChanges`. */
export const cellChanges = pgTable('cell_changes', {
  id: bigserial('id', { mode: 'number' }).primaryKey(),
  changes: bytes('changes').notNull(),
})

/**
 * Points and pilgrims by cell of the map. A row is a tile of 256 × 256 cells, so a flush writes few rows for many
 * cells. Only the roll-up and the rebuild write it.
 */
export const cellTiles = pgTable(
  'cell_tiles',
  {
    /** Zoom of the cells: 10, 14 or 18; other zooms are computed from these. */
    zoom: integer('zoom').notNull(),
    /** `hour`, `day` or `all`: period of the points and of the pilgrims' latest positions. */
    span: text('span').notNull(),
    /** Start of the local hour or day; for `all`, 1970. */
    start: instant('start').notNull(),
    x: integer('x').notNull(),
    y: integer('y').notNull(),
    /** Totals of the tile. */
    points: exact('points').notNull(),
    users: integer('users').notNull(),
    /** Counts by cell, packed by `packCounts`. */
    counts: bytes('counts').notNull(),
    /** Pilgrims by cell, for tiles that determine front and tail (`storesPeople`); null for other tiles. */
    people: bytes('people'),
  },
  (table) => [primaryKey({ columns: [table.zoom, table.span, table.start, table.y, table.x] })],
)

/** Points of erased people: `hour` is the start of a local day, `x` and `y` the cell in the middle of one of zoom 14. */
export const erasedCells = pgTable(
  'erased_cells',
  {
    hour: instant('hour').notNull(),
    x: integer('x').notNull(),
    y: integer('y').notNull(),
    points: integer('points').notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.y, table.x] })],
)

// Totals of self-reports and surveys, updated by each write, so that no reader scans all pilgrims.

/**
 * Self-reports by consumable (pieces) and by mode (millimetres). Each total is the sum of several rows (shards), so
 * that concurrent writers seldom wait for each other. Shard -1: reports of erased people.
 */
export const reportedSums = pgTable(
  'reported_sums',
  {
    shard: integer('shard').notNull(),
    name: text('name').notNull(),
    amount: exact('amount').notNull(),
    carbonMg: exact('carbon_mg').notNull(),
  },
  (table) => [primaryKey({ columns: [table.shard, table.name] })],
)

/** Number of surveys that answer each question; under the empty name, the number of all surveys. */
export const surveyQuestions = pgTable(
  'survey_questions',
  {
    question: text('question').primaryKey(),
    responses: integer('responses').notNull(),
  },
  // Clients may invent any number of names with a suffix; this index finds the most common ones.
  (table) => [
    index('survey_questions_suffixed')
      .on(table.responses.desc(), table.question)
      .where(sql`strpos(${table.question}, '_') > 0`),
  ],
)

/** Number of surveys with each answer; long free texts are not counted. */
export const surveyCounts = pgTable(
  'survey_counts',
  {
    question: text('question').notNull(),
    answer: text('answer').notNull(),
    count: integer('count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.question, table.answer] }),
    index().on(table.question, table.count.desc(), table.answer),
  ],
)

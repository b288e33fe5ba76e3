/** What operators decide. */
import { bigserial, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import { instant } from './columns.ts'

/** The activity: one row. Its version orders status changes on their way to the kv. */
export const activity = pgTable('activity', {
  id: integer('id').primaryKey(),
  status: text('status').notNull(),
  version: integer('version').notNull(),
  message: text('message'),
  changedAt: instant('changed_at').notNull(),
  changedBy: text('changed_by'),
})

/** How far the end of the event has come: one row, made by the end. */
export const ending = pgTable('ending', {
  id: integer('id').primaryKey(),
  endedAt: instant('ended_at').notNull(),
  flushedAt: instant('flushed_at'),
  cardsDone: integer('cards_done').notNull().default(0),
  /** Null until they are counted. */
  cardsTotal: integer('cards_total'),
  /** waiting, sending or sent. */
  summary: text('summary').notNull().default('waiting'),
})

/** Who has a part in the event: decides audiences of messages, not access. */
export const roleAssignments = pgTable('role_assignments', {
  userId: text('user_id').primaryKey(),
  role: text('role').notNull(),
  assignedBy: text('assigned_by').notNull(),
  assignedAt: instant('assigned_at').notNull(),
})

/**
 * Who has been erased, under a name that tells nobody who it was. A point that was admitted under an older
 * generation, and arrives later, is dropped.
 */
export const erasures = pgTable('erasures', {
  /** SHA-1 of the user id, in hex. */
  userHash: text('user_hash').primaryKey(),
  generation: integer('generation').notNull(),
  erasedAt: instant('erased_at').notNull(),
  /** How many people that were, of those who had a point or a report: the event's sums still hold them. */
  walked: integer('walked').notNull().default(0),
})

/**
 * Erasures that are under way: what is deleted outside of the database is written down with what was deleted in it,
 * and repeated until it is done. A row goes with its last part, and the person's id with it.
 */
export const erasing = pgTable('erasing', {
  /** Id of the erased person: their card and their place in the buffer are found by it. */
  subject: text('subject').primaryKey(),
  generation: integer('generation').notNull(),
  erasedAt: instant('erased_at').notNull(),
  /** How much went so far: rows by table, pending points, stored objects. */
  erased: jsonb('erased').$type<Record<string, number>>().notNull(),
  /** Keys of objects that only the deleted rows named. */
  objects: jsonb('objects').$type<string[]>().notNull(),
  /** `ErasurePart`s that are not done. */
  remaining: jsonb('remaining').$type<ErasurePart[]>().notNull(),
})

/** Every admin write. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    at: instant('at').notNull(),
    role: text('role').notNull(),
    tokenName: text('token_name').notNull(),
    tokenFingerprint: text('token_fingerprint').notNull(),
    action: text('action').notNull(),
    details: jsonb('details').notNull(),
    requestId: text('request_id').notNull(),
  },
  (table) => [index().on(table.at)],
)

/** Status, roles, erasures and the audit log. */
import { bigserial, boolean, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import { instant } from './columns.ts'

/** The activity: one row. Its version orders status changes that are copied to the kv. */
export const activity = pgTable('activity', {
  id: integer('id').primaryKey(),
  status: text('status').notNull(),
  version: integer('version').notNull(),
  message: text('message'),
  changedAt: instant('changed_at').notNull(),
  changedBy: text('changed_by'),
})

/** Progress of the end of the event: one row, created at the end. */
export const ending = pgTable('ending', {
  id: integer('id').primaryKey(),
  endedAt: instant('ended_at').notNull(),
  flushedAt: instant('flushed_at'),
  cardsDone: integer('cards_done').notNull().default(0),
  /** Null until they are counted. */
  cardsTotal: integer('cards_total'),
  /** waiting, sending, sent or skipped. */
  summary: text('summary').notNull().default('waiting'),
})

/** Roles of people in the event; they determine the audiences of messages, not access. */
export const roleAssignments = pgTable('role_assignments', {
  userId: text('user_id').primaryKey(),
  role: text('role').notNull(),
  assignedBy: text('assigned_by').notNull(),
  assignedAt: instant('assigned_at').notNull(),
})

/**
 * Erased people, identified by a hash only. A point that was admitted under an older generation is dropped when it
 * arrives later.
 */
export const erasures = pgTable('erasures', {
  /** SHA-1 of the user id, in hex. */
  userHash: text('user_hash').primaryKey(),
  generation: integer('generation').notNull(),
  erasedAt: instant('erased_at').notNull(),
  /** Whether nothing of the person is accepted, because they have not consented anew since. */
  stands: boolean('stands').notNull().default(false),
  /** Number of erased people who had a point or a report: the event's totals still include them. */
  walked: integer('walked').notNull().default(0),
})

/**
 * Erasures in progress. The parts outside the database are recorded in the transaction that deletes the rows, and
 * retried until they succeed. The last part deletes the row, and with it the person's id.
 */
export const erasing = pgTable('erasing', {
  /** Id of the erased person, needed to find their card and their buffer. */
  subject: text('subject').primaryKey(),
  generation: integer('generation').notNull(),
  erasedAt: instant('erased_at').notNull(),
  /** What was deleted so far: rows by table, pending points, stored objects. */
  erased: jsonb('erased').$type<Record<string, number>>().notNull(),
  /** Keys of objects that only the deleted rows referred to. */
  objects: jsonb('objects').$type<string[]>().notNull(),
  /** Hashes of the keys of their trackers, which must be refused. */
  trackers: jsonb('trackers').$type<string[]>().notNull().default([]),
  /** Remaining `ErasurePart`s. */
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

/** What operators decide. */
import { bigserial, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
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

/** Feedback items. */
import { index, pgTable, serial, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

export const feedback = pgTable(
  'feedback',
  {
    id: serial('id').primaryKey(),
    userId: text('user_id'),
    /** The phone's own id of the report, so that one that is sent again is stored once. */
    reportId: uuid('report_id'),
    category: text('category').notNull(),
    description: text('description').notNull(),
    status: text('status').notNull(),
    screenshotUrl: text('screenshot_url'),
    deviceInfo: text('device_info'),
    userAgent: text('user_agent'),
    contact: text('contact'),
    adminNote: text('admin_note'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    resolvedAt: instant('resolved_at'),
  },
  (table) => [uniqueIndex().on(table.reportId), index().on(table.userId), index().on(table.status, table.id)],
)

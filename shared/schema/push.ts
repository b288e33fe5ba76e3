/** Web Push: the devices of pilgrims, and the ledger of what was sent to each. */
import { bigserial, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** A device at its browser's push service. Who knows address and keys can send to it. */
export const pushSubscriptions = pgTable(
  'push_subscriptions',
  {
    id: uuid('id').primaryKey(),
    userId: text('user_id').notNull(),
    endpoint: text('endpoint').notNull().unique(),
    p256dh: text('p256dh').notNull(),
    auth: text('auth').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** One message to one device. Its text is in `messages.notices`. */
export const pushDeliveries = pgTable(
  'push_deliveries',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    messageId: uuid('message_id').notNull(),
    /** Of a subscription, which may be gone. */
    subscriptionId: uuid('subscription_id').notNull(),
    userId: text('user_id').notNull(),
    language: text('language').notNull(),
    /** waiting, sent or failed. */
    state: text('state').notNull(),
    attempts: integer('attempts').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    dueAt: instant('due_at').notNull(),
    settledAt: instant('settled_at'),
    detail: text('detail'),
  },
  (table) => [
    index().on(table.state, table.dueAt),
    uniqueIndex().on(table.messageId, table.subscriptionId),
    index().on(table.userId),
  ],
)

/** LINE: followers, webhook events, outgoing messages. */
import {
  bigserial,
  boolean,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { Recipients } from '#shared/contracts/messages.ts'
import { instant } from './columns.ts'

/** What a device shows of a message. */
export interface Notice {
  readonly title: string
  readonly body: string
}

/** Reachability and profile at LINE. A person without a row is reachable. */
export const followers = pgTable('followers', {
  userId: text('user_id').primaryKey(),
  reachable: boolean('reachable').notNull(),
  /** Time of the follow, unfollow or failed delivery that set this; older ones are ignored. */
  changedAt: instant('changed_at').notNull(),
  /** Null until the profile is known. */
  profileFetchedAt: instant('profile_fetched_at'),
})

/** Webhook events; each is stored and handled once, even if LINE delivers it repeatedly. */
export const lineEvents = pgTable(
  'line_events',
  {
    webhookEventId: text('webhook_event_id').primaryKey(),
    receivedAt: instant('received_at').notNull(),
    appliedAt: instant('applied_at'),
    answeredAt: instant('answered_at'),
  },
  (table) => [index().on(table.receivedAt)],
)

/** Webhook events that the database refused, as JSON text, with the reason. */
export const refusedLineEvents = pgTable(
  'refused_line_events',
  {
    /** SHA-256 of the event, so that a repeated delivery is the same row. */
    digest: text('digest').primaryKey(),
    userId: text('user_id'),
    event: text('event').notNull(),
    reason: text('reason').notNull(),
    refusedAt: instant('refused_at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** The message ledger: every outgoing message except replies to pilgrims. */
export const messages = pgTable('messages', {
  id: uuid('id').primaryKey(),
  /** push, pause, summary, notification or alert. */
  cause: text('cause').notNull(),
  /** Deduplication key: there is at most one message per subject. */
  causeKey: text('cause_key').notNull().unique(),
  audience: jsonb('audience').$type<Recipients>().notNull(),
  /** Whether it may exceed the monthly quota. */
  forced: boolean('forced').notNull(),
  /** sending, sent or skipped. */
  state: text('state').notNull(),
  recipients: integer('recipients').notNull(),
  leftOut: jsonb('left_out').$type<Record<string, number>>().notNull(),
  /** Title and text for Web Push by language; null: it goes to no device. */
  notices: jsonb('notices').$type<Record<string, Notice>>(),
  createdBy: text('created_by'),
  createdAt: instant('created_at').notNull(),
  completedAt: instant('completed_at'),
})

/** A message to at most 500 people: one call to LINE, retried with the same retry key until its result is known. */
export const messageChunks = pgTable(
  'message_chunks',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    messageId: uuid('message_id').notNull(),
    /** waiting, sent, failed, split or skipped. */
    state: text('state').notNull(),
    recipients: jsonb('recipients').$type<string[]>().notNull(),
    size: integer('size').notNull(),
    body: jsonb('body').$type<unknown[]>().notNull(),
    retryKey: uuid('retry_key').notNull(),
    attempts: integer('attempts').notNull().default(0),
    triedAt: instant('tried_at'),
    dueAt: instant('due_at').notNull(),
    settledAt: instant('settled_at'),
    lineRequestId: text('line_request_id'),
    detail: text('detail'),
  },
  (table) => [index().on(table.state, table.dueAt), index().on(table.messageId)],
)

/** The scheduled notifications set by the owner: one row; none while the defaults apply. */
export const notificationPlan = pgTable('notification_plan', {
  id: integer('id').primaryKey(),
  slots: jsonb('slots').$type<unknown[]>().notNull(),
  changedAt: instant('changed_at').notNull(),
  changedBy: text('changed_by').notNull(),
})

/** Sent slots: each is sent once a day. */
export const notificationDispatches = pgTable(
  'notification_dispatches',
  {
    slot: text('slot').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    dispatchedAt: instant('dispatched_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.slot, table.day] })],
)

/** The deployed rich menu of each language. */
export const richMenus = pgTable('rich_menus', {
  language: text('language').primaryKey(),
  menuId: text('menu_id').notNull(),
  /** Digest of the menu's image and actions. */
  digest: text('digest').notNull(),
  deployedAt: instant('deployed_at').notNull(),
})

// Web Push: the devices of pilgrims, and the ledger of what was sent to each.

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

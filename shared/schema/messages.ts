/** What is said by LINE: who follows, what came in, what goes out. */
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
} from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** People as LINE knows them. Who has no row is reachable. */
export const followers = pgTable('followers', {
  userId: text('user_id').primaryKey(),
  reachable: boolean('reachable').notNull(),
  /** Time of the follow, unfollow or refusal that says so; an older one changes nothing. */
  changedAt: instant('changed_at').notNull(),
  /** Null until LINE has told the profile. */
  profileFetchedAt: instant('profile_fetched_at'),
})

/** Webhook events, each taken in once and acted on once, however often LINE delivers it. */
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

/** Webhook events that the database refuses, as JSON text, with the reason. */
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

/** The ledger: every outbound message but answers to pilgrims. */
export const messages = pgTable('messages', {
  id: uuid('id').primaryKey(),
  /** push, pause, summary, notification or alert. */
  cause: text('cause').notNull(),
  /** What the message is about; a second one about the same is not made. */
  causeKey: text('cause_key').notNull().unique(),
  audience: jsonb('audience').$type<Record<string, unknown>>().notNull(),
  /** May go beyond the monthly quota. */
  forced: boolean('forced').notNull(),
  /** sending, sent or skipped. */
  state: text('state').notNull(),
  recipients: integer('recipients').notNull(),
  leftOut: jsonb('left_out').$type<Record<string, number>>().notNull(),
  createdBy: text('created_by'),
  createdAt: instant('created_at').notNull(),
  completedAt: instant('completed_at'),
})

/** A message to at most 500 people: one call to LINE, repeated with the same retry key until it is decided. */
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

/** The scheduled notifications as the owner has set them: one row, none while the defaults hold. */
export const notificationPlan = pgTable('notification_plan', {
  id: integer('id').primaryKey(),
  slots: jsonb('slots').$type<unknown[]>().notNull(),
  changedAt: instant('changed_at').notNull(),
  changedBy: text('changed_by').notNull(),
})

/** Each slot goes out once a day. */
export const notificationDispatches = pgTable(
  'notification_dispatches',
  {
    slot: text('slot').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    dispatchedAt: instant('dispatched_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.slot, table.day] })],
)

/** The rich menu that each language has at LINE. */
export const richMenus = pgTable('rich_menus', {
  language: text('language').primaryKey(),
  menuId: text('menu_id').notNull(),
  /** Of everything that the menu shows and does. */
  digest: text('digest').notNull(),
  deployedAt: instant('deployed_at').notNull(),
})

/** All tables. A change of them needs a migration (tests/README.md). */
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  customType,
  date,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { isNumeric, MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import type { Recipients } from '#shared/contracts/messages.ts'

// Column types that several tables share.

/** An instant; written and read as Date. */
const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** Whole millimetres or milligrams: exact in any grouping, far below 2^53. */
const exact = (name: string) => bigint(name, { mode: 'number' })

/** float4, for what phones measure. */
const measure = customType<{ data: number }>({ dataType: () => 'real' })

/** Raw bytes; raw SQL writes them by `decode(…, 'base64')` and reads them by `encode`. */
const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

// Accepted points. Only the flush writes them.

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
    ...Object.fromEntries(MEASUREMENTS.map((name) => [name, isNumeric(name) ? measure(name) : text(name)])),
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

// Totals that the flush updates, so that no reader scans points.

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

/**
 * Points of erased people: `hour` is the start of a local day, `x` and `y` the cell in the middle of one of zoom 14.
 */
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

// Pilgrims, their self-reports and surveys.

/** Whether a pilgrim's row has a self-report above zero, which adds to the event's totals. */
export const REPORTS = `(consumption @? '$.* ? (@ > 0)'::jsonpath OR transport @? '$.* ? (@ > 0)'::jsonpath)`

export const pilgrims = pgTable(
  'pilgrims',
  {
    userId: text('user_id').primaryKey(),
    displayName: text('display_name'),
    pictureUrl: text('picture_url'),
    language: text('language'),
    phone: text('phone'),
    surveyCompletedAt: instant('survey_completed_at'),
    privacyAgreed: boolean('privacy_agreed').notNull().default(false),
    privacyAgreedAt: instant('privacy_agreed_at'),
    privacyVersion: text('privacy_version'),
    /** Consent was withdrawn: the pilgrim is hidden on the live map until they consent again. */
    consentWithdrawn: boolean('consent_withdrawn').notNull().default(false),
    participantStatus: text('participant_status').notNull().default('active'),
    /** This pilgrim's device is the palanquin, whose place is public. At most one is. */
    palanquin: boolean('palanquin').notNull().default(false),
    photoCount: integer('photo_count').notNull().default(0),
    /** Self-reports: numbers of consumables, and kilometres by mode. */
    consumption: jsonb('consumption').$type<Record<string, number>>().notNull().default({}),
    transport: jsonb('transport').$type<Record<string, number>>().notNull().default({}),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** The text that operators search, in lower case. */
    searchable: text('searchable').generatedAlwaysAs(
      sql`lower(user_id || chr(10) || coalesce(display_name, ''))`,
    ),
  },
  (table) => [
    index('pilgrims_who_report').on(table.userId).where(sql.raw(REPORTS)),
    uniqueIndex('pilgrims_palanquin')
      .on(table.palanquin)
      .where(sql`palanquin`),
  ],
)

/** The latest survey of each pilgrim; earlier ones are in the history. */
export const surveys = pgTable('surveys', {
  userId: text('user_id').primaryKey(),
  answers: jsonb('answers').$type<Record<string, unknown>>().notNull(),
  revision: integer('revision').notNull(),
  submittedAt: instant('submitted_at').notNull(),
})

export const surveyHistory = pgTable(
  'survey_history',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    userId: text('user_id').notNull(),
    answers: jsonb('answers').$type<Record<string, unknown>>().notNull(),
    revision: integer('revision').notNull(),
    submittedAt: instant('submitted_at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** Every consent and every withdrawal of consent. */
export const consents = pgTable(
  'consents',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    userId: text('user_id').notNull(),
    agreed: boolean('agreed').notNull(),
    version: text('version'),
    at: instant('at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

// How many pilgrims the event's totals are of: the same number wherever totals are shown.

/** SQL of a number: those with a counted point or a report of their own above zero, and erased ones who walked. */
export const PILGRIMS_OF_EVENT = `(
  (SELECT count(*) FROM pilgrim_totals WHERE points > 0)
  + (SELECT count(*) FROM pilgrims p WHERE ${REPORTS} AND NOT EXISTS (
      SELECT FROM pilgrim_totals t WHERE t.user_id = p.user_id AND t.points > 0))
  + (SELECT coalesce(sum(walked), 0) FROM erasures))`

// Links that pilgrims pass on. A row is deleted when its link ends, so no trace of a revoked one remains.

export const shares = pgTable(
  'shares',
  {
    /** Random; whoever has it sees the page. */
    id: text('id').primaryKey(),
    userId: text('user_id').notNull(),
    /** `pilgrim`, or `bot`: the one link that the bot's answers use. */
    madeBy: text('made_by').notNull(),
    showName: boolean('show_name').notNull(),
    /** Until then the page shows where the pilgrim is; null: it does not. */
    liveUntil: instant('live_until'),
    /** Since when it shows so without a break; the line has nothing from before. Null with `liveUntil`. */
    liveSince: instant('live_since'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** How often the page was opened; nothing is known of who opened it. */
    views: integer('views').notNull().default(0),
    lastViewedAt: instant('last_viewed_at'),
  },
  (table) => [
    index().on(table.userId),
    uniqueIndex('shares_of_bot')
      .on(table.userId)
      .where(sql`${table.madeBy} = 'bot'`),
  ],
)

// Stored share cards and the state that they were drawn from.

export const shareCards = pgTable('share_cards', {
  userId: text('user_id').primaryKey(),
  /** Digest of the content of the stored picture; null: none is stored. */
  fingerprint: text('fingerprint'),
  etag: text('etag'),
  /** The same of the picture without the name, for links that do not show it. */
  namelessFingerprint: text('nameless_fingerprint'),
  namelessEtag: text('nameless_etag'),
  /** Whether it is the achievement card. */
  unlocked: boolean('unlocked').notNull(),
  /** The pilgrim's stored points at the last check; a different number causes a new check. */
  points: integer('points').notNull(),
  /** Time of the last drawing or confirmation. */
  checkedAt: instant('checked_at').notNull(),
  /** Time of the last failure; null after a success. */
  failedAt: instant('failed_at'),
})

// Keys of tracker apps.

export const trackers = pgTable(
  'trackers',
  {
    id: uuid('id').primaryKey(),
    userId: text('user_id').notNull(),
    /** SHA-256 of the key, in hex. The key itself is not stored. */
    keyHash: text('key_hash').notNull().unique(),
    label: text('label'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

// Feedback items.

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

// The part of the ledger in Postgres; the other counters are in the kv.

const count = (name: string) => exact(name).notNull().default(0)

/** Counters of points per epoch of each partition of the buffer. */
export const ledgerCounters = pgTable(
  'ledger_counters',
  {
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    // Written in the transaction of each slice of a flush. A slice that is flushed twice counts twice in the last two
    // columns.
    stored: count('stored'),
    deadLetters: count('dead_letters'),
    repeated: count('repeated'),
    erased: count('erased'),
    // The last known counters of the kv, in case it loses them.
    settled: count('settled'),
    /** Excess of the four columns above over `settled` when nothing was in flight. */
    excess: count('excess'),
    duplicate: count('duplicate'),
    dropped: count('dropped'),
    erasedPending: count('erased_pending'),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition] })],
)

/** Per caller: points that an epoch of a partition acknowledged, and how many of those it lost. */
export const ledgerCallers = pgTable(
  'ledger_callers',
  {
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    caller: text('caller').notNull(),
    acknowledged: count('acknowledged'),
    lost: count('lost'),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition, table.caller] })],
)

/** Counters of points that never reached the buffer; each caller writes its own rows. */
export const ledgerCounts = pgTable(
  'ledger_counts',
  {
    caller: text('caller').notNull(),
    name: text('name').notNull(),
    points: exact('points').notNull(),
  },
  (table) => [primaryKey({ columns: [table.caller, table.name] })],
)

/** Detected losses; a negative number corrects an earlier loss whose points were found again. */
export const ledgerLosses = pgTable(
  'ledger_losses',
  {
    id: serial('id').primaryKey(),
    at: instant('at').notNull(),
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    points: exact('points').notNull(),
  },
  (table) => [index().on(table.at)],
)

// Status, roles, erasures and the audit log.

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

// Domain events between services.

/** Written in the transaction of the change that an event reports. */
export const outbox = pgTable(
  'outbox',
  {
    id: serial('id').primaryKey(),
    subject: text('subject').notNull(),
    payload: jsonb('payload').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index().on(table.createdAt)],
)

/** Handled events per subscriber, written in the transaction of the effect, so that each effect happens once. */
export const handled = pgTable(
  'handled',
  {
    eventId: integer('event_id').notNull(),
    subscriber: text('subscriber').notNull(),
    handledAt: instant('handled_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.eventId, table.subscriber] })],
)

// LINE: followers, webhook events, outgoing messages.

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
    /** The subscription, which may be gone. */
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

/**
 * Tables with personal data: every table with a column `user_id`. An export reads them and an erasure deletes the
 * pilgrim's rows. A test fails if a table is missing here.
 */
export const PERSONAL_TABLES = [
  'pilgrims',
  'surveys',
  'survey_history',
  'consents',
  'role_assignments',
  'followers',
  'refused_line_events',
  'feedback',
  'share_cards',
  'shares',
  'trackers',
  'push_subscriptions',
  'push_deliveries',
  'pilgrim_totals',
  'pilgrim_days',
  'dead_letters',
  'gps_points',
] as const

export type PersonalTable = (typeof PERSONAL_TABLES)[number]

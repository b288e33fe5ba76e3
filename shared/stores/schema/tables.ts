/** All tables; a column has its property's name in snake case. A change needs a migration (tests/README.md). */
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
import type { Role } from '#shared/contracts/fields.ts'
import type { Recipients } from '#shared/contracts/messages.ts'

// Column types that several tables share.

/** An instant; written and read as Date. */
const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

/** Whole millimetres or milligrams: exact in any grouping, far below 2^53. */
const exact = () => bigint({ mode: 'number' })

/** float4, for values that phones measure. Postgres rejects a text whose number is too small instead of rounding it. */
const measure = customType<{ data: number }>({
  dataType: () => 'real',
  toDriver: (value) => Math.fround(value),
})

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
    userId: text().notNull(),
    /** `c` check-in, `t` track point. */
    kind: text().notNull(),
    /** The time the client sent: part of the identity. */
    sentAt: instant().notNull(),
    /** Time of the point: `sent_at`, or the time of receipt if the phone's clock was ahead. */
    recordedAt: instant().notNull(),
    receivedAt: instant().notNull(),
    lat: doublePrecision().notNull(),
    lng: doublePrecision().notNull(),
    ...Object.fromEntries(MEASUREMENTS.map((name) => [name, isNumeric(name) ? measure() : text()])),
    inRange: boolean().notNull(),
    clockCorrected: boolean().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.kind, table.sentAt] })],
)

// Records of the flush.

/** One row per finished flush of a partition; `last_flush` is the latest successful one. */
export const flushes = pgTable(
  'flushes',
  {
    id: serial().primaryKey(),
    partition: integer().notNull(),
    startedAt: instant().notNull(),
    finishedAt: instant().notNull(),
    stored: exact().notNull(),
    duplicates: exact().notNull(),
    deadLetters: integer().notNull(),
    succeeded: boolean().notNull(),
  },
  (table) => [index().on(table.partition, table.succeeded, table.finishedAt), index().on(table.finishedAt)],
)

/**
 * Dead letters: points that the database refused, with the reason; an operator requeues or drops them.
 */
export const deadLetters = pgTable('dead_letters', {
  id: serial().primaryKey(),
  userId: text().notNull(),
  field: text().notNull(),
  value: text().notNull(),
  reason: text().notNull(),
  /** Number of refusals. */
  refusals: integer().notNull().default(1),
  createdAt: instant().notNull(),
  /** Whether the next flush tries it again. If it stores the point, it deletes the row in the same transaction. */
  requeued: boolean().notNull().default(false),
})

// Totals that the flush updates, so that no reader scans points.

/** Per pilgrim: totals and the latest position. Its migration leaves half of each page free for updates. */
export const pilgrimTotals = pgTable('pilgrim_totals', {
  userId: text().primaryKey(),
  points: integer().notNull().default(0),
  checkins: integer().notNull().default(0),
  distanceMm: exact().notNull().default(0),
  carbonMg: exact().notNull().default(0),
  firstSeen: instant(),
  lastSeen: instant(),
  lastLat: doublePrecision(),
  lastLng: doublePrecision(),
})

/** The walk of a claim that others see until the end of the event. Only the flush writes it. */
export const shownWalks = pgTable('shown_walks', {
  userId: text().primaryKey(),
  distanceMm: exact().notNull(),
  carbonMg: exact().notNull(),
  /** State of the fold; null as in `pilgrim_days`. */
  anchorLat: doublePrecision(),
  anchorLng: doublePrecision(),
  anchorAt: instant(),
  beforeLat: doublePrecision(),
  beforeLng: doublePrecision(),
  beforeAt: instant(),
  until: instant().notNull(),
})

/** Per pilgrim and local day: totals, the hours walked, and the state of the fold at the end of the day. */
export const pilgrimDays = pgTable(
  'pilgrim_days',
  {
    userId: text().notNull(),
    day: date({ mode: 'string' }).notNull(),
    points: integer().notNull(),
    checkins: integer().notNull(),
    distanceMm: exact().notNull(),
    carbonMg: exact().notNull(),
    /** Bit n: a point in the n-th hour after the day's start (a day has up to 25). */
    hours: integer().notNull(),
    /** Null while the pilgrim has only rough points. */
    anchorLat: doublePrecision(),
    anchorLng: doublePrecision(),
    anchorAt: instant(),
    beforeLat: doublePrecision(),
    beforeLng: doublePrecision(),
    beforeAt: instant(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.day] })],
)

// Columns of the event's totals, and of the contributions of erased people.
const ofHour = {
  hour: instant().primaryKey(),
  points: integer().notNull(),
  checkins: integer().notNull(),
  pilgrims: integer().notNull(),
  distanceMm: exact().notNull(),
  carbonMg: exact().notNull(),
}
const ofDay = {
  day: date({ mode: 'string' }).primaryKey(),
  pilgrims: integer().notNull(),
}
const ofMode = {
  day: date({ mode: 'string' }).notNull(),
  mode: text().notNull(),
  distanceMm: exact().notNull(),
  carbonMg: exact().notNull(),
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
  id: bigserial({ mode: 'number' }).primaryKey(),
  changes: bytes().notNull(),
})

/**
 * Points and pilgrims by cell of the map. A row is a tile of 256 × 256 cells, so a flush writes few rows for many
 * cells. Only the roll-up and the rebuild write it.
 */
export const cellTiles = pgTable(
  'cell_tiles',
  {
    /** Zoom of the cells: 10, 14 or 18; other zooms are computed from these. */
    zoom: integer().notNull(),
    /** `hour`, `day` or `all`: period of the points and of the pilgrims' latest positions. */
    span: text().notNull(),
    /** Start of the local hour or day; for `all`, 1970. */
    start: instant().notNull(),
    x: integer().notNull(),
    y: integer().notNull(),
    /** Totals of the tile. */
    points: exact().notNull(),
    users: integer().notNull(),
    /** Counts by cell, packed by `packCounts`. */
    counts: bytes().notNull(),
    /** Pilgrims by cell, for tiles that determine front and tail (`storesPeople`); null for other tiles. */
    people: bytes(),
  },
  (table) => [primaryKey({ columns: [table.zoom, table.span, table.start, table.y, table.x] })],
)

/**
 * Points of erased people: `hour` is the start of a local day, and `x`, `y` are the finest cell in the middle of a
 * zoom-14 cell.
 */
export const erasedCells = pgTable(
  'erased_cells',
  {
    hour: instant().notNull(),
    x: integer().notNull(),
    y: integer().notNull(),
    points: integer().notNull(),
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
    shard: integer().notNull(),
    name: text().notNull(),
    amount: exact().notNull(),
    carbonMg: exact().notNull(),
  },
  (table) => [primaryKey({ columns: [table.shard, table.name] })],
)

/** Number of surveys that answer each question; under the empty name, the number of all surveys. */
export const surveyQuestions = pgTable(
  'survey_questions',
  {
    question: text().primaryKey(),
    responses: integer().notNull(),
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
    question: text().notNull(),
    answer: text().notNull(),
    count: integer().notNull(),
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
    userId: text().primaryKey(),
    displayName: text(),
    pictureUrl: text(),
    language: text(),
    phone: text(),
    surveyCompletedAt: instant(),
    privacyAgreed: boolean().notNull().default(false),
    privacyAgreedAt: instant(),
    privacyVersion: text(),
    /** Consent was withdrawn: the pilgrim is hidden on the live map until they consent again. */
    consentWithdrawn: boolean().notNull().default(false),
    participantStatus: text().notNull().default('active'),
    /** A claim has marked the pilgrim as completed; the next request of the pilgrim undoes it. */
    completionClaimed: boolean().notNull().default(false),
    /** This pilgrim's device is the palanquin, whose place is public. There is at most one. */
    palanquin: boolean().notNull().default(false),
    /** The tracker that is this device; null: the phone that proves the pilgrim's id. */
    palanquinTracker: uuid(),
    photoCount: integer().notNull().default(0),
    /** Self-reports: numbers of consumables, and kilometres by mode. */
    consumption: jsonb().$type<Record<string, number>>().notNull().default({}),
    transport: jsonb().$type<Record<string, number>>().notNull().default({}),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** The text that operators search, in lower case. */
    searchable: text().generatedAlwaysAs(sql`lower(user_id || chr(10) || coalesce(display_name, ''))`),
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
  userId: text().primaryKey(),
  answers: jsonb().$type<Record<string, unknown>>().notNull(),
  revision: integer().notNull(),
  /** Version of the survey that was answered; null: not known. */
  formVersion: integer(),
  submittedAt: instant().notNull(),
})

export const surveyHistory = pgTable(
  'survey_history',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    userId: text().notNull(),
    answers: jsonb().$type<Record<string, unknown>>().notNull(),
    revision: integer().notNull(),
    formVersion: integer(),
    submittedAt: instant().notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** Every consent and every withdrawal of consent. */
export const consents = pgTable(
  'consents',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    userId: text().notNull(),
    agreed: boolean().notNull(),
    version: text(),
    at: instant().notNull(),
  },
  (table) => [index().on(table.userId)],
)

/**
 * SQL of the number of pilgrims in the event's totals, the same wherever totals are shown: those with a counted point
 * or a report of their own above zero, and erased ones who walked.
 */
export const PILGRIMS_OF_EVENT = `(
  (SELECT count(*) FROM pilgrim_totals WHERE points > 0)
  + (SELECT count(*) FROM pilgrims p WHERE ${REPORTS} AND NOT EXISTS (
      SELECT FROM pilgrim_totals t WHERE t.user_id = p.user_id AND t.points > 0))
  + (SELECT coalesce(sum(walked), 0) FROM erasures))`

// Share links. A row is deleted when its link ends, so that nothing remains of a revoked link.

export const shares = pgTable(
  'shares',
  {
    /** Random; anyone who has it sees the page. */
    id: text().primaryKey(),
    userId: text().notNull(),
    /** `pilgrim`, or `bot`: the one link that the bot's answers use. */
    madeBy: text().notNull(),
    showName: boolean().notNull(),
    /** Until then the page shows the pilgrim's position; null: it does not. */
    liveUntil: instant(),
    /** Start of the current period of sharing; the line contains no earlier points. Null with `liveUntil`. */
    liveSince: instant(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    /** How often the page was opened; visitors are not identified. */
    views: integer().notNull().default(0),
    lastViewedAt: instant(),
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
  userId: text().primaryKey(),
  /** Digest of the content of the stored picture; null: none is stored. */
  fingerprint: text(),
  etag: text(),
  /** The same for the picture without the name, for links that do not show it. */
  namelessFingerprint: text(),
  namelessEtag: text(),
  /** Whether it is the achievement card. */
  unlocked: boolean().notNull(),
  /** The pilgrim's stored points at the last check; a different number causes a new check. */
  points: integer().notNull(),
  /** Time of the last drawing or confirmation. */
  checkedAt: instant().notNull(),
  /** Time of the last failure; null after a success. */
  failedAt: instant(),
})

// Keys of tracker apps.

export const trackers = pgTable(
  'trackers',
  {
    id: uuid().primaryKey(),
    userId: text().notNull(),
    /** SHA-256 of the key, in hex. The key itself is not stored. */
    keyHash: text().notNull().unique('trackers_key_hash_unique'),
    label: text(),
    createdAt: instant().notNull(),
  },
  (table) => [index().on(table.userId)],
)

// Feedback items.

export const feedback = pgTable(
  'feedback',
  {
    id: serial().primaryKey(),
    userId: text(),
    /** The phone's own id of the report, so that a repeated one is stored once. */
    reportId: uuid(),
    category: text().notNull(),
    description: text().notNull(),
    status: text().notNull(),
    screenshotUrl: text(),
    deviceInfo: text(),
    userAgent: text(),
    contact: text(),
    adminNote: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    resolvedAt: instant(),
    /** When and why an operator removed it from the public board; null: it is on the board. */
    hiddenAt: instant(),
    hiddenReason: text(),
  },
  (table) => [
    uniqueIndex().on(table.reportId),
    index().on(table.userId),
    index().on(table.status, table.id),
    index().on(table.category, table.id),
  ],
)

/** Presses of one pilgrim until an operator confirms them. At most one emergency of a pilgrim is unconfirmed. */
export const emergencies = pgTable(
  'emergencies',
  {
    id: uuid().primaryKey(),
    userId: text().notNull(),
    /** `app`, or the tracker app that sent the latest press. */
    source: text().notNull(),
    /** Time of the latest press by the clock of the device. */
    sentAt: instant().notNull(),
    /** `source-milliseconds` of the latest presses, by the clock of the device: a repeated request has the same. */
    knownPresses: text().array().notNull().default([]),
    firstPressAt: instant().notNull(),
    lastPressAt: instant().notNull(),
    presses: integer().notNull(),
    /** Place of the latest press that had one; null: none had. */
    lat: doublePrecision(),
    lng: doublePrecision(),
    /** Metres. */
    accuracy: measure(),
    placeAt: instant(),
    /** By the clock of the database, as `nextAlertAt`. */
    raisedAt: instant().notNull(),
    /** Alerts that were planned. */
    alerts: integer().notNull().default(0),
    /** When the next one is due while unconfirmed; null: no more. */
    nextAlertAt: instant(),
    /** People and devices that the latest alert was planned for. */
    reached: integer(),
    /** By the clock of the database. */
    confirmedAt: instant(),
    /** Name of the operator's token. */
    confirmedBy: text(),
  },
  (table) => [
    index().on(table.userId),
    index().on(table.raisedAt),
    uniqueIndex('emergencies_unconfirmed')
      .on(table.userId)
      .where(sql`confirmed_at IS NULL`),
  ],
)

// The part of the ledger in Postgres; the other counters are in the kv.

const count = () => exact().notNull().default(0)

/** Counters of points per epoch of each partition of the buffer. */
export const ledgerCounters = pgTable(
  'ledger_counters',
  {
    epoch: text().notNull(),
    partition: integer().notNull(),
    // Written in the transaction of each slice of a flush. A slice that is flushed twice counts twice in the last two
    // columns.
    stored: count(),
    deadLetters: count(),
    repeated: count(),
    erased: count(),
    // The last known counters of the kv, in case it loses them.
    settled: count(),
    /** Excess of the four columns above over `settled` when nothing was in flight. */
    excess: count(),
    duplicate: count(),
    dropped: count(),
    erasedPending: count(),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition] })],
)

/** Per caller: points that an epoch of a partition acknowledged, and how many of those it lost. */
export const ledgerCallers = pgTable(
  'ledger_callers',
  {
    epoch: text().notNull(),
    partition: integer().notNull(),
    caller: text().notNull(),
    acknowledged: count(),
    lost: count(),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition, table.caller] })],
)

/** Counters of points that never reached the buffer; each caller writes its own rows. */
export const ledgerCounts = pgTable(
  'ledger_counts',
  {
    caller: text().notNull(),
    name: text().notNull(),
    points: exact().notNull(),
  },
  (table) => [primaryKey({ columns: [table.caller, table.name] })],
)

/** Detected losses; a negative number corrects an earlier loss whose points were found again. */
export const ledgerLosses = pgTable(
  'ledger_losses',
  {
    id: serial().primaryKey(),
    at: instant().notNull(),
    epoch: text().notNull(),
    partition: integer().notNull(),
    points: exact().notNull(),
  },
  (table) => [index().on(table.at)],
)

// Status, roles, erasures and the audit log.

/** The activity: one row. Its version orders status changes that are copied to the kv. */
export const activity = pgTable('activity', {
  id: integer().primaryKey(),
  status: text().notNull(),
  version: integer().notNull(),
  message: text(),
  /** By language; null: the message is for all. Without the message among them, a release that knows none has replaced it. */
  messages: jsonb().$type<Record<string, string>>(),
  changedAt: instant().notNull(),
  changedBy: text(),
  /** Identity of the event, also in its backups. Redo files name it, so that no other event gets their points. */
  eventId: uuid().defaultRandom(),
})

/** Progress of the end of the event: one row, created at the end. */
export const ending = pgTable('ending', {
  id: integer().primaryKey(),
  endedAt: instant().notNull(),
  flushedAt: instant(),
  cardsDone: integer().notNull().default(0),
  /** Null until they are counted. */
  cardsTotal: integer(),
  /** waiting, sending, sent or skipped. */
  summary: text().notNull().default('waiting'),
})

/** Roles of people in the event; they determine the audiences of messages, not access. */
export const roleAssignments = pgTable('role_assignments', {
  userId: text().primaryKey(),
  role: text().notNull(),
  assignedBy: text().notNull(),
  assignedAt: instant().notNull(),
})

/**
 * Erased people, identified by a hash only. A point that was admitted under an older generation is dropped when it
 * arrives later.
 */
export const erasures = pgTable('erasures', {
  /** SHA-1 of the user id, in hex. */
  userHash: text().primaryKey(),
  generation: integer().notNull(),
  /** Time of the erasure, by the clock of the erasing process; after a new consent, the time set by `beginAnew`. */
  erasedAt: instant().notNull(),
  /** Whether nothing of the person is accepted, because they have not consented again. */
  stands: boolean().notNull().default(false),
  /** Number of erased people who had a point or a report: the event's totals still include them. */
  walked: integer().notNull().default(0),
})

/**
 * Erasures in progress. The parts outside the database are recorded in the transaction that deletes the rows, and
 * retried until they succeed. The last part deletes the row, and with it the person's id.
 */
export const erasing = pgTable('erasing', {
  /** Id of the erased person, needed to find their card and their buffer. */
  subject: text().primaryKey(),
  generation: integer().notNull(),
  erasedAt: instant().notNull(),
  /** What was deleted so far: rows by table, pending points, stored objects. */
  erased: jsonb().$type<Record<string, number>>().notNull(),
  /** Keys of objects that only the deleted rows referred to. */
  objects: jsonb().$type<string[]>().notNull(),
  /** Hashes of the keys of their trackers, which must be refused. */
  trackers: jsonb().$type<string[]>().notNull().default([]),
  /** Remaining `ErasurePart`s. */
  remaining: jsonb().$type<ErasurePart[]>().notNull(),
})

/** Every admin write. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    at: instant().notNull(),
    role: text().notNull(),
    tokenName: text().notNull(),
    tokenFingerprint: text().notNull(),
    action: text().notNull(),
    details: jsonb().notNull(),
    requestId: text().notNull(),
  },
  (table) => [index().on(table.at)],
)

/** Written in the transaction of the change that an event reports. */
export const outbox = pgTable(
  'outbox',
  {
    id: serial().primaryKey(),
    subject: text().notNull(),
    payload: jsonb().notNull(),
    createdAt: instant().notNull(),
  },
  (table) => [index().on(table.createdAt)],
)

/** Handled events per subscriber, written in the transaction of the effect, so that each effect happens once. */
export const handled = pgTable(
  'handled',
  {
    eventId: integer().notNull(),
    subscriber: text().notNull(),
    handledAt: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.eventId, table.subscriber] })],
)

/** What a device shows of a message. */
export interface Notice {
  readonly title: string
  readonly body: string
}

/** Reachability and profile at LINE. A person without a row is reachable. */
export const followers = pgTable('followers', {
  userId: text().primaryKey(),
  reachable: boolean().notNull(),
  /** Time of the follow, unfollow or failed delivery that set this; older ones are ignored. */
  changedAt: instant().notNull(),
  /** Null until the profile is known. */
  profileFetchedAt: instant(),
})

/** Webhook events; each is stored and handled once, even if LINE delivers it repeatedly. */
export const lineEvents = pgTable(
  'line_events',
  {
    webhookEventId: text().primaryKey(),
    receivedAt: instant().notNull(),
    appliedAt: instant(),
    answeredAt: instant(),
    /** LINE's id of a counted photo; null once the photo was unsent. */
    photoId: text(),
    /** LINE's id of the message that this event unsent. */
    unsentId: text(),
    /** LINE's id of the photos that were sent together with this one. */
    imageSetId: text(),
  },
  (table) => [
    index().on(table.receivedAt),
    index()
      .on(table.photoId)
      .where(sql`${table.photoId} IS NOT NULL`),
    index()
      .on(table.unsentId)
      .where(sql`${table.unsentId} IS NOT NULL`),
    index()
      .on(table.imageSetId)
      .where(sql`${table.imageSetId} IS NOT NULL`),
  ],
)

/** Webhook events that the database refused, as JSON text, with the reason. */
export const refusedLineEvents = pgTable(
  'refused_line_events',
  {
    /** SHA-256 of the event, so that a repeated delivery is the same row. */
    digest: text().primaryKey(),
    userId: text(),
    event: text().notNull(),
    reason: text().notNull(),
    refusedAt: instant().notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** The message ledger: every outgoing message except replies to pilgrims. */
export const messages = pgTable('messages', {
  id: uuid().primaryKey(),
  /** push, pause, summary, notification, alert or emergency. */
  cause: text().notNull(),
  /** Deduplication key: there is at most one message per subject. */
  causeKey: text().notNull().unique('messages_cause_key_unique'),
  audience: jsonb().$type<Recipients>().notNull(),
  /** Whether it may exceed the monthly quota. */
  forced: boolean().notNull(),
  /** sending, sent or skipped. */
  state: text().notNull(),
  recipients: integer().notNull(),
  leftOut: jsonb().$type<Record<string, number>>().notNull(),
  /** Title and text for Web Push by language; null: it goes to no device. */
  notices: jsonb().$type<Record<string, Notice>>(),
  createdBy: text(),
  createdAt: instant().notNull(),
  completedAt: instant(),
})

/** A message to at most 500 people: one call to LINE, retried with the same retry key until its result is known. */
export const messageChunks = pgTable(
  'message_chunks',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    messageId: uuid().notNull(),
    /** waiting, sent, failed, split or skipped. */
    state: text().notNull(),
    recipients: jsonb().$type<string[]>().notNull(),
    size: integer().notNull(),
    body: jsonb().$type<unknown[]>().notNull(),
    retryKey: uuid().notNull(),
    attempts: integer().notNull().default(0),
    triedAt: instant(),
    dueAt: instant().notNull(),
    settledAt: instant(),
    lineRequestId: text(),
    detail: text(),
  },
  (table) => [index().on(table.state, table.dueAt), index().on(table.messageId)],
)

/** The scheduled notifications set by the owner: one row; none while the defaults apply. */
export const notificationPlan = pgTable('notification_plan', {
  id: integer().primaryKey(),
  slots: jsonb().$type<unknown[]>().notNull(),
  changedAt: instant().notNull(),
  changedBy: text().notNull(),
})

/** Sent slots: each is sent once a day. */
export const notificationDispatches = pgTable(
  'notification_dispatches',
  {
    slot: text().notNull(),
    day: date({ mode: 'string' }).notNull(),
    dispatchedAt: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.slot, table.day] })],
)

/** The deployed rich menu of each language. */
export const richMenus = pgTable('rich_menus', {
  language: text().primaryKey(),
  menuId: text().notNull(),
  /** Digest of the menu's image and actions. */
  digest: text().notNull(),
  deployedAt: instant().notNull(),
})

/** A device at its browser's push service. Anyone who knows address and keys can send to it. */
export const pushSubscriptions = pgTable(
  'push_subscriptions',
  {
    id: uuid().primaryKey(),
    userId: text().notNull(),
    endpoint: text().notNull().unique(),
    p256dh: text().notNull(),
    auth: text().notNull(),
    createdAt: instant().notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** One message to one device. Its text is in `messages.notices`. */
export const pushDeliveries = pgTable(
  'push_deliveries',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    messageId: uuid().notNull(),
    /** The subscription, which may be gone. */
    subscriptionId: uuid().notNull(),
    userId: text().notNull(),
    language: text().notNull(),
    /** waiting, sent or failed. */
    state: text().notNull(),
    attempts: integer().notNull().default(0),
    createdAt: instant().notNull(),
    dueAt: instant().notNull(),
    settledAt: instant(),
    detail: text(),
  },
  (table) => [
    index().on(table.state, table.dueAt),
    uniqueIndex().on(table.messageId, table.subscriptionId),
    index().on(table.userId),
  ],
)

/**
 * The description of the event: each change of a part adds a row. The latest row of a part is its value; older rows
 * show what has changed since a version.
 */
export const eventSettings = pgTable(
  'event_settings',
  {
    version: integer().notNull(),
    /** A key of `EVENT_PARTS`. */
    part: text().notNull(),
    value: jsonb().notNull(),
    changedAt: instant().notNull(),
    /** Name of the token; null: from the environment. */
    changedBy: text(),
  },
  (table) => [primaryKey({ columns: [table.version, table.part] })],
)

/** Admin tokens that owners have created in the console. */
export const adminTokens = pgTable('admin_tokens', {
  /** First 12 digits of the hash: its name in the audit log and in limits. */
  fingerprint: text().primaryKey(),
  /** SHA-256 of the token, in hex. The token itself is not stored. */
  hash: text().notNull(),
  name: text().notNull(),
  role: text().$type<Role>().notNull(),
  createdAt: instant().notNull(),
  /** Name of the token that created it. */
  createdBy: text().notNull(),
  revokedAt: instant(),
})

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
  'emergencies',
  'share_cards',
  'shares',
  'trackers',
  'push_subscriptions',
  'push_deliveries',
  'pilgrim_totals',
  'shown_walks',
  'pilgrim_days',
  'dead_letters',
  'gps_points',
] as const

export type PersonalTable = (typeof PERSONAL_TABLES)[number]

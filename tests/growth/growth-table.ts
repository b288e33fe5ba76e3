/**
 * Everything that grows with requests or days: keys of Redis, tables, objects and files, each with its bound.
 * `hostile-day.long.test.ts` compares the bounds with the sizes after a day of fake pilgrims.
 */
import type { ServiceName } from '#shared/contracts/endpoint.ts'

/** Units by which sizes are bounded. */
export const UNITS = {
  pilgrim: 'pilgrims, invented ids included',
  point: 'pending or stored points',
  call: 'requests that succeed',
  hour: 'hours with points, times the cells that they are in',
  person: 'pilgrims who were erased',
  process: 'starts of processes',
} as const
export type Unit = keyof typeof UNITS

export interface Growth {
  /** The service that writes most of it. */
  readonly owner: ServiceName | 'all'
  /** What makes it grow. */
  readonly grows: string
  /** Maximum size: the sum of `fixed` bytes and this many bytes for each unit. */
  readonly bytes: { readonly fixed: number } & Readonly<Partial<Record<Unit, number>>>
  /** What makes it shrink. */
  readonly shrinks: string
}

const KB = 1_000
const MB = 1_000_000
const STAYS = 'stays until the event is reset'
const ERASED = 'an erasure deletes the rows of its pilgrim'

const growth = (
  owner: Growth['owner'],
  grows: string,
  bytes: Partial<Growth['bytes']>,
  shrinks: string,
): Growth => ({ owner, grows, bytes: { fixed: 64 * KB, ...bytes }, shrinks })

/** Keys of Redis, by a pattern: `*` is one part of a key. */
export const KEYS: Readonly<Record<string, Growth>> = {
  '{gps:*}:buf:*': growth('tracking', 'points', { point: 300, pilgrim: 400 }, 'a flush; after three days'),
  '{gps:*}:pending': growth('tracking', 'pilgrims with points', { pilgrim: 350 }, 'a flush'),
  '{gps:*}:live': growth(
    'tracking',
    'a place of a pilgrim',
    { pilgrim: 400 },
    'a flush, two days after the last place',
  ),
  '{gps:*}:moved': growth('tracking', 'a place of a pilgrim', { pilgrim: 350 }, 'as {gps:*}:live'),
  '{gps:*}:returning': growth(
    'survey-profile',
    'pilgrims who show themselves again',
    { pilgrim: 350 },
    'the next who hides or returns after the full hour',
  ),
  '{gps:*}:hidden': growth(
    'survey-profile',
    'pilgrims who hide',
    { pilgrim: 300 },
    'they show themselves, or are erased',
  ),
  '{gps:*}:refused': growth(
    'survey-profile',
    'consents taken back',
    { pilgrim: 300 },
    'a new consent, or an erasure',
  ),
  '{gps:*}:erased': growth('admin', 'erasures', { person: 200 }, STAYS),
  '{gps:*}:erased-order': growth('admin', 'erasures', { person: 250 }, STAYS),
  '{gps:*}:win:*:*': growth(
    'tracking',
    'check-ins and calls',
    { pilgrim: 400, call: 150 },
    'two windows later',
  ),
  '{gps:*}:ledger': growth('all', 'starts of processes', { process: 200 }, 'a Redis that is emptied'),
  '{gps:*}:status': growth('admin', 'nothing', {}, STAYS),
  '{gps:*}:probe': growth('all', 'nothing', {}, 'after a minute'),
  partitions: growth('all', 'nothing', {}, STAYS),
  'limit:*:*': growth(
    'all',
    'callers with a limit',
    { call: 400 },
    'after their window, ten minutes at most',
  ),
  'lock:*': growth('all', 'work that one process does', { fixed: 20 * KB }, 'the end of the work'),
  'cache:tracker:*': growth('tracking', 'tracker apps that send', { call: 800 }, 'after three days'),
  'cache:tracker-revoked:*': growth('tracking', 'tracker apps that end', { call: 300 }, 'after six days'),
  'cache:photos:*': growth('survey-profile', 'photos of pilgrims', { pilgrim: 300 }, 'after thirty days'),
  'cache:full-days:*': growth(
    'scheduler',
    'days of pilgrims with more points than phones record',
    { pilgrim: 100 },
    'once points of the day are too old',
  ),
  'cache:*': growth(
    'all',
    'heartbeats, marks and the latest snapshot of the map',
    { fixed: 4 * MB, process: KB },
    'each has a life of its own',
  ),
}

const PER_CALL = { call: 2 * KB }
export const TABLES: Readonly<Record<string, Growth>> = {
  // 200,000 points per day and pilgrim in the area; then track points are rejected
  // (`points/full-days.ts`).
  gps_points: growth('scheduler', 'stored points', { fixed: 2 * MB, point: 400 }, ERASED),
  dead_letters: growth(
    'scheduler',
    'points that the database refuses',
    { point: 600 },
    'an operator requeues or drops them',
  ),
  pilgrim_totals: growth('scheduler', 'pilgrims', { pilgrim: KB }, ERASED),
  pilgrim_days: growth('scheduler', 'pilgrims a day', { pilgrim: 2 * KB, point: 100 }, ERASED),
  shown_walks: growth('scheduler', 'claims with points', { pilgrim: KB }, ERASED),
  event_hours: growth('scheduler', 'hours with points', { hour: 200 }, STAYS),
  event_days: growth('scheduler', 'days with points', { hour: 200 }, STAYS),
  event_modes: growth('scheduler', 'days with points, by mode', { hour: 800 }, STAYS),
  erased_hours: growth('admin', 'hours of erased pilgrims', { hour: 200 }, STAYS),
  erased_days: growth('admin', 'days of erased pilgrims', { hour: 200 }, STAYS),
  erased_modes: growth('admin', 'days of erased pilgrims, by mode', { hour: 800 }, STAYS),
  erased_cells: growth('admin', 'cells of erased pilgrims', { point: 150 }, STAYS),
  cell_changes: growth(
    'scheduler',
    'new points',
    { fixed: 2 * MB, point: 50 },
    'the roll-up after each flush',
  ),
  cell_tiles: growth(
    'scheduler',
    'cells with points',
    { fixed: MB, hour: 4 * KB, point: 300 },
    'an erasure removes the points',
  ),
  reported_sums: growth('survey-profile', 'nothing: a row per mode', {}, STAYS),
  survey_questions: growth(
    'survey-profile',
    'questions that were answered',
    { call: KB },
    'an erasure takes its answers out',
  ),
  survey_counts: growth(
    'survey-profile',
    'answers that were given',
    { call: 4 * KB },
    'an erasure takes its answers out',
  ),
  pilgrims: growth('survey-profile', 'pilgrims', { pilgrim: 4 * KB, call: 2 * KB }, ERASED),
  surveys: growth('survey-profile', 'surveys', { call: 4 * KB }, ERASED),
  survey_history: growth('survey-profile', 'each survey that is sent again', { call: 4 * KB }, ERASED),
  consents: growth('survey-profile', 'each consent and refusal', { call: KB }, ERASED),
  shares: growth(
    'feedback-media',
    'links, twenty a pilgrim',
    { call: KB },
    'they expire, are revoked, or are erased',
  ),
  share_cards: growth('feedback-media', 'cards that were drawn', { pilgrim: KB }, ERASED),
  trackers: growth('tracking', 'tracker apps, ten a pilgrim', { call: KB }, 'they are revoked or erased'),
  feedback: growth('feedback-media', 'reports', { call: 8 * KB }, ERASED),
  emergencies: growth('tracking', 'SOS presses', { call: KB }, ERASED),
  ledger_counters: growth('scheduler', 'each Redis that begins empty', { process: KB }, STAYS),
  ledger_callers: growth('all', 'starts of processes', { process: 4 * KB }, STAYS),
  ledger_counts: growth('all', 'starts of processes', { process: 4 * KB }, STAYS),
  ledger_losses: growth('scheduler', 'losses', { process: KB }, STAYS),
  activity: growth('admin', 'nothing: one row', {}, STAYS),
  ending: growth('admin', 'nothing: one row', {}, STAYS),
  role_assignments: growth('admin', 'roles', PER_CALL, 'an operator takes them back'),
  erasures: growth('admin', 'erasures', { person: 400 }, STAYS),
  erasing: growth('admin', 'erasures that wait for a store', { person: 2 * KB }, 'their end'),
  audit_log: growth('admin', 'calls of operators', PER_CALL, STAYS),
  outbox: growth('all', 'domain events', { call: 4 * KB }, 'after a month'),
  handled: growth('all', 'domain events, by subscriber', { call: 2 * KB }, 'after a month'),
  followers: growth('line-bot', 'people who follow the bot', PER_CALL, ERASED),
  line_events: growth('line-bot', 'events of the bot', PER_CALL, 'after two days'),
  refused_line_events: growth('line-bot', 'events that cannot be handled', PER_CALL, 'after two days'),
  messages: growth('line-bot', 'messages of operators, and alerts', { call: 4 * KB }, STAYS),
  message_chunks: growth('line-bot', 'their recipients', { call: 4 * KB, pilgrim: 200 }, STAYS),
  notification_plan: growth('line-bot', 'nothing: one row', {}, STAYS),
  notification_dispatches: growth('line-bot', 'scheduled messages a day', PER_CALL, STAYS),
  rich_menus: growth('line-bot', 'nothing: a row per language', {}, STAYS),
  push_subscriptions: growth(
    'line-bot',
    'devices, ten a pilgrim',
    { call: 2 * KB },
    'they are removed, gone, or erased',
  ),
  push_deliveries: growth('line-bot', 'messages to devices', { call: 2 * KB }, STAYS),
  flushes: growth('scheduler', 'flushes', { fixed: MB }, 'after a month'),
  event_settings: growth('admin', 'each change of a part', { call: 4 * KB }, STAYS),
  admin_tokens: growth('admin', 'tokens that owners make', PER_CALL, STAYS),
}

/** Objects, by the first part of their key. */
export const OBJECTS: Readonly<Record<string, Growth>> = {
  cards: growth('feedback-media', 'cards that are drawn', { pilgrim: 250 * KB }, ERASED),
  screenshots: growth(
    'feedback-media',
    'pictures that are uploaded',
    { call: 2 * MB },
    'after a week without a report; an erasure',
  ),
  webhooks: growth(
    'line-bot',
    'events of the bot while Postgres is down',
    { call: 100 * KB },
    'Postgres takes them',
  ),
  emergencies: growth(
    'tracking',
    'SOS presses while Postgres is down',
    { call: 4 * KB },
    'Postgres takes them',
  ),
}

/** Files below `EVENT_DATA_DIR`, by the first part of their path. */
export const FILES: Readonly<Record<string, Growth>> = {
  journal: growth(
    'tracking',
    'check-ins while Redis is late or down',
    { fixed: MB, point: 400, process: 100 * KB },
    'Redis takes them',
  ),
  redo: growth(
    'tracking',
    'points that Redis admits, to 1 GB a process',
    { fixed: MB, point: KB, process: 100 * KB },
    'two flush intervals later, or an hour after its process has ended',
  ),
  alarms: growth(
    'tracking',
    'SOS presses while Postgres and the object store are down',
    { call: 4 * KB },
    'Postgres takes them',
  ),
  objects: growth(
    'feedback-media',
    'objects, without an S3 server',
    { pilgrim: 250 * KB, call: 2 * MB },
    'as the objects',
  ),
}

/** Maximum size in bytes for these numbers of units. */
export const boundOf = ({ bytes }: Growth, counts: Readonly<Record<Unit, number>>): number =>
  (Object.keys(UNITS) as Unit[]).reduce((sum, unit) => sum + (bytes[unit] ?? 0) * counts[unit], bytes.fixed)

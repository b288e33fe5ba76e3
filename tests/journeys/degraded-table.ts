/** Outcomes of read endpoints while a store is down. */

/** `whole`: as before; `marked`: without pending points, and marked as such; `away`: 503. */
export type Outcome = 'whole' | 'marked' | 'away'

type Outcomes = readonly [redis: Outcome, postgres: Outcome]

/** Endpoints whose outcome differs from the default. */
export const EXCEPTIONS: Readonly<Record<string, Outcomes>> = {
  // Cached for at most five seconds.
  '/api/event/data': ['away', 'whole'],
  // The last snapshot, with its outdated parts marked (tests/tracking/map-snapshots.test.ts).
  '/api/event/map': ['whole', 'whole'],
  '/api/event/route': ['whole', 'whole'],
  // From the cache or the table.
  '/api/event/photos/count': ['whole', 'whole'],
  // Points go to the journal; a recently used key is known to the kv.
  '/api/event/ingest/:key/owntracks': ['whole', 'whole'],
  '/api/event/ingest/:key/overland': ['whole', 'whole'],
  '/api/event/ingest/:key/traccar': ['whole', 'whole'],
  '/api/event/ingest/:key/osmand': ['whole', 'whole'],
  '/api/event/ingest/:key/gpslogger': ['whole', 'whole'],
  '/api/event/ingest/:key/gpslogger.properties': ['whole', 'whole'],
  '/api/event/user/:userId': ['marked', 'away'],
  '/api/event/feedback-image/:file': ['whole', 'whole'],
  // The stored card may be of a pilgrim who has withdrawn.
  '/api/event/og/:file': ['away', 'away'],
  // The health report shows the outage.
  '/health': ['away', 'away'],
  '/api/event/auth/role': ['whole', 'whole'],
  '/api/event/admin/users': ['marked', 'away'],
  '/api/event/admin/users/:userId': ['marked', 'away'],
  '/api/event/admin/users/:userId/export': ['marked', 'away'],
  // A stream always opens, sends what is available, and recovers by itself.
  '/api/event/admin/stream': ['whole', 'whole'],
  // A ledger with only one of its two halves would report losses that did not happen.
  '/api/event/admin/ledger': ['away', 'away'],
  '/api/event/line-usage': ['whole', 'whole'],
  // They report the outage.
  '/api/event/admin/condition': ['whole', 'whole'],
  '/api/event/admin/last-hour': ['whole', 'whole'],
  '/api/event/admin/tokens': ['whole', 'whole'],
  '/api/event/admin/end-activity': ['away', 'away'],
  '/api/event/admin/users/:userId/points': ['marked', 'away'],
  // Without the stores the page shows the event's name, but no status.
  '/api/event/config': ['whole', 'whole'],
  '/api/event/notice': ['whole', 'whole'],
  '/api/event/survey-form': ['whole', 'whole'],
  '/api/event/words/:language': ['whole', 'whole'],
  '/api/event/admin/settings/translations/:language': ['whole', 'whole'],
  '/api': ['whole', 'whole'],
  '/api/event': ['whole', 'whole'],
  '/api/event/docs': ['whole', 'whole'],
  '/api/event/docs/rapidoc.js': ['whole', 'whole'],
  '/api/event/openapi.json': ['whole', 'whole'],
}

/** Most are read only from Postgres. */
export const outcomesOf = (path: string): Outcomes => EXCEPTIONS[path] ?? ['whole', 'away']

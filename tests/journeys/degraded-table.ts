/** What each read endpoint answers while a store is down. */

/** `whole`: as before; `marked`: without pending points, and marked as such; `away`: 503. */
export type Outcome = 'whole' | 'marked' | 'away'

export const TABLE: Readonly<Record<string, readonly [redis: Outcome, postgres: Outcome]>> = {
  // Cached for at most five seconds.
  '/api/event/data': ['away', 'whole'],
  // The last one that was made; it names its stale parts (tests/tracking/map-snapshots.test.ts).
  '/api/event/map': ['whole', 'whole'],
  '/api/event/route': ['whole', 'whole'],
  // Whether a link works is read each time.
  '/api/event/shares': ['whole', 'away'],
  '/s/:file': ['whole', 'away'],
  // From its cache or from the table.
  '/api/event/photos/count': ['whole', 'whole'],
  '/api/event/trackers': ['whole', 'away'],
  // Points go to the journal; a key that was used before is known to the kv.
  '/api/event/ingest/:key/traccar': ['whole', 'whole'],
  '/api/event/ingest/:key/osmand': ['whole', 'whole'],
  '/api/event/ingest/:key/gpslogger': ['whole', 'whole'],
  '/api/event/ingest/:key/gpslogger.properties': ['whole', 'whole'],
  '/api/event/user/:userId': ['marked', 'away'],
  '/api/event/feedback/status': ['whole', 'away'],
  '/api/event/feedback': ['whole', 'away'],
  '/api/event/feedback-image/:file': ['whole', 'whole'],
  // The stored card.
  '/api/event/og/:file': ['whole', 'whole'],
  // The health report shows the outage.
  '/health': ['away', 'away'],
  '/api/event/admin/status': ['whole', 'away'],
  '/api/event/auth/role': ['whole', 'whole'],
  '/api/event/admin/audit': ['whole', 'away'],
  '/api/event/admin/carbon': ['whole', 'away'],
  '/api/event/admin/roles': ['whole', 'away'],
  '/api/event/admin/surveys': ['whole', 'away'],
  '/api/event/admin/timeline': ['whole', 'away'],
  '/api/event/admin/users': ['marked', 'away'],
  '/api/event/admin/users/:userId': ['marked', 'away'],
  '/api/event/admin/users/:userId/export': ['marked', 'away'],
  '/api/event/admin/clusters': ['whole', 'away'],
  // A stream always opens, sends what is available, and recovers by itself.
  '/api/event/admin/stream': ['whole', 'whole'],
  '/api/event/admin/dead-letters': ['whole', 'away'],
  '/api/event/admin/dead-letters/:id': ['whole', 'away'],
  // A ledger without one of its two halves would report losses that did not happen.
  '/api/event/admin/ledger': ['away', 'away'],
  '/api/event/admin/richmenu': ['whole', 'away'],
  '/api/event/line-usage': ['whole', 'whole'],
  '/api/event/admin/notifications': ['whole', 'away'],
  '/api/event/push/:id': ['whole', 'away'],
  '/api/event/push': ['whole', 'away'],
  '/api/event/push/left-out': ['whole', 'away'],
  '/api/event/push-subscriptions': ['whole', 'away'],
  // They show the outage.
  '/api/event/admin/condition': ['whole', 'whole'],
  '/api/event/admin/last-hour': ['whole', 'whole'],
  '/api/event/admin/tokens': ['whole', 'whole'],
  '/api/event/admin/end-activity': ['away', 'away'],
  '/api/event/admin/users/:userId/points': ['marked', 'away'],
  '/api/event/admin/users/:userId/messages': ['whole', 'away'],
  // Without the stores the page shows the event's name, but no status.
  '/api/event/config': ['whole', 'whole'],
  '/api': ['whole', 'whole'],
  '/api/event': ['whole', 'whole'],
  '/api/event/docs': ['whole', 'whole'],
  '/api/event/docs/rapidoc.js': ['whole', 'whole'],
  '/api/event/openapi.json': ['whole', 'whole'],
}

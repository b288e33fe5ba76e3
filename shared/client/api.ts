/** Generated from the OpenAPI document by `bun run client:generate`. Do not edit. */

/** No field. */
export type Nothing = Record<never, never>

/** A pilgrim's request: `user_id` may be left to the client's identity. */
export type Caller<T> = T extends unknown ? Omit<T, 'user_id'> & { user_id?: string | undefined } : never

/** A body that is sent as it is: a picture, for example. */
export interface RawBody {
  body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | FormData | string
}

export interface Activity {
  status: ActivityStatus
  /** Error message that pilgrims get while the event is paused or ended */
  message: string | null
  /** Time of the last status change; a new message alone does not change it */
  changed_at: Time
  changed_by: string | null
  ending: Ending | null
}

export type ActivityStatus = 'active' | 'paused' | 'ended'

export interface Alerting {
  /** null: nobody gets alerts; they are recorded only */
  channel: 'line' | null
  /** Whether the service has credentials of LINE */
  line: boolean
  /** Whether EVENT_ALERT_USER_ID names who gets alerts */
  recipient: boolean
  /** Seconds between two checks, each of which may alert */
  within_s: number
  /** Minutes between the alerts of an incident that goes on; the last one repeats */
  repeats_min: number[]
  conditions: {
    key: 'database' | 'flush' | 'disk' | 'dead-letters' | 'lost' | 'clock' | 'slots' | 'quota'
    when: {
      "zh-Hant": string
      en: string
    }
    what_to_do: {
      "zh-Hant": string
      en: string
    }
  }[]
}

export type Answer = number | boolean | string | string[]

export type Answers = Record<string, Answer>

export interface AppSetUp {
  /** The address that the app sends to; it contains the key */
  url: string
  /** Opens the app on the phone and sets it up; null: the app has no such link, so type the url */
  link: string | null
  /** A QR code of the link, or of the url where there is no link, as an SVG document */
  qr: string
}

export interface AssignRoleAnswer {
  userId: UserId
  role: Role | null
}

export interface AssignRoleRequest {
  user_id: UserId
  role: Role | null
}

export interface AttachedAnswer {
  accepted: number
  duplicates: number
  rejected: {
    index: number
    reason: PointRejection
  }[]
  /** The phone may delete these points up to this time, and the rejected points, except those with the reasons too-many and no-room: send these with track/sync */
  durable_through: Time | null
}

export type Audience = 'all' | 'participants' | 'volunteers' | 'managers' | 'owners' | 'completed' | 'inactive'

export interface AuditEntry {
  id: number
  at: Time
  role: AuditRole
  token_name: string
  token_fingerprint: string
  action: string
  details: Record<string, unknown>
  /** Present name of the pilgrim of details.user_id; null: there is none, or without a name */
  display_name: string | null
  request_id: string
}

export type AuditRole = 'owner' | 'manager' | 'volunteer' | 'pilgrim'

export interface BoardCounts {
  new: number
  triaging: number
  fixing: number
  fixed: number
  wontfix: number
}

export interface BoardItem {
  id: number
  category: string
  description: string
  status: FeedbackStatus
  created_at: Time
  updated_at: Time
  resolved_at: Time | null
}

export type BoundingBox = string

export interface CallerRole {
  role: Role
  level: number
  /** Name of the token, which identifies its holder */
  name: string
}

export interface Carbon {
  total_kg: number
  /** total_kg divided by pilgrims */
  mean_kg: number
  /** Compared with the same distance by bus */
  saved_kg: number
  /** Number of pilgrims in the total: those with a counted point or a self-report above zero, including erased ones */
  pilgrims: number
  /** With journeys that pilgrims reported */
  by_mode: Record<string, {
    km: number
    kg: number
  }>
  /** Kilometres between recorded points by mode, without reported journeys */
  recorded_km: Record<string, number>
  by_day: {
    km: number
    kg: number
    day: Day
  }[]
  consumption: {
    water: number
    recycle: number
    hotel: number
    kg: number
  }
  /** Time of the last flush */
  as_of: Time | null
}

export interface CardAnswer {
  url: string
  width: number
  height: number
  /** The picture’s ETag as in its header, with the quotes; it changes only when the picture changes */
  etag: string
}

export type Cause = 'push' | 'pause' | 'summary' | 'notification' | 'alert'

export interface CellFeature {
  type: 'Feature'
  /** zoom/x/y of the cell */
  id: string
  geometry: {
    type: 'Polygon'
    /** The square of the cell */
    coordinates: [Longitude, Latitude][][]
  }
  properties: {
    /** Number of points */
    count: number
    /** Number of pilgrims whose latest position is here */
    users: number
  }
}

export interface ChangeShareRequest {
  user_id: UserId
  /** From now on for so many hours; null: no longer */
  live_hours?: number | null | undefined
  show_name?: boolean | null | undefined
}

export interface CheckIn {
  lat: Latitude
  lng: Longitude
  timestamp?: SentTime | null | undefined
  /** metres */
  accuracy?: Measure | null | undefined
  /** metres */
  altitude?: Measure | null | undefined
  /** km/h as measured by the phone; stored only, because the mode follows from the segment’s speed */
  speed?: Measure | null | undefined
  /** walk, car, scooter, bike, bus, mrt, train or hsr; not case-sensitive */
  mode?: Mode | null | undefined
  /** Any label; truncated to 64 characters */
  source?: Source | null | undefined
  user_id: UserId
  /** Track points, as in track/sync; invalid ones do not fail the check-in */
  track_points?: TrackPoint[] | null | undefined
}

export interface CheckInAnswer {
  userId: UserId
  /** Time of the check-in */
  recorded_at: Time
  duplicate: boolean
  /** Number of this pilgrim’s points in the buffer */
  pending: number
  /** false: outside the event’s area, stored but not counted */
  in_range: boolean
  /** true: the timestamp is ahead of the server’s clock, so the check-in has its time of receipt */
  clock_corrected: boolean
  /** Result of track_points; absent if none were sent */
  track?: AttachedAnswer
}

export interface Clusters {
  type: 'FeatureCollection'
  features: CellFeature[]
  /** The requested zoom, or the next coarser one with at most 5000 cells */
  zoom: number
  requested_zoom: number
  /** Start of the requested hour */
  since: Time | null
  /** Front of the whole walk, independent of bbox: 95 % of the pilgrims are behind it; with `until`, 95 % of the points of this time */
  front: {
    lat: Latitude
    lng: Longitude
    /** Distance from the start of the route; null without a route */
    route_km: number | null
  } | null
  /** Middle of the whole walk: half of the pilgrims are behind it; with `until`, of the points */
  middle: {
    lat: Latitude
    lng: Longitude
    /** Distance from the start of the route; null without a route */
    route_km: number | null
  } | null
  /** Tail of the whole walk: 95 % of the pilgrims are ahead of it; with `until`, of the points */
  tail: {
    lat: Latitude
    lng: Longitude
    /** Distance from the start of the route; null without a route */
    route_km: number | null
  } | null
  /** Distance from tail to front, along the route if there is one */
  spread_km: number | null
  /** Time of the last flush */
  as_of: Time | null
}

export interface Condition {
  parts: Part[]
  last_flush: Time | null
  /** Since when points have been waiting; null: none wait, or unknown */
  oldest_pending: Time | null
  /** As admin/ledger; null: it cannot be read now */
  ledger: Ledger | null
  /** Used memory of Redis as a fraction of its limit; null: unknown */
  kv_memory: number | null
  /** The incident that the owner was alerted about */
  incident: StreamIncident | null
  /** What is wrong now, whether or not the owner was alerted yet */
  causes: IncidentCause[]
  alerting: Alerting
  /** Time of the latest backup; null: none is known */
  backup_at: Time | null
  as_of: Time
}

export interface CreateShareRequest {
  user_id: UserId
  /** Shows where the pilgrim is, from now on for so many hours */
  live_hours?: number | null | undefined
  show_name?: boolean | null | undefined
}

export type Day = string

export interface DaySummary {
  day: Day
  /** Number of points of the day, also outside the area; pending points included */
  points: number
  left_out: LeftOut
  /** The latest point of the day inside the area; null: there is none, or not all were read */
  last: {
    lat: Latitude
    lng: Longitude
    recorded_at: Time
  } | null
  /** Kilometres of the day by mode, pending points included */
  recorded_km: Record<string, number>
  /** Whether the day has more than 100000 points, of which the first were read */
  truncated: boolean
}

export interface DeadLetter {
  id: number
  userId: string
  /** Key in the pilgrim’s buffer: kind (c or t) and timestamp in epoch milliseconds */
  field: string
  /** The point as the buffer stored it */
  value: string
  /** The last error message of the database */
  reason: string
  /** Number of refusals */
  refusals: number
  refused_at: Time
}

export interface DrawCardRequest {
  user_id: UserId
}

export interface DropDeadLetterAnswer {
  id: number
}

export interface EndPreview {
  status: ActivityStatus
  /** Points in the buffer, which the final flush stores */
  points_waiting: number
  /** Pilgrims with points in the buffer */
  pilgrims_waiting: number
  /** Points in the journals; they reach the buffer by themselves */
  points_journaled: number
  /** Cards that the end draws, and how many of them are up to date; points that wait may unlock more */
  cards: {
    done: number
    total: number
  }
  as_of: Time
}

export interface Ending {
  flush: 'running' | 'done'
  cards: {
    done: number
    total: number | null
  }
  /** skipped: it was not sent in LINE, because LINE is not configured */
  summary: 'waiting' | 'sending' | 'sent' | 'skipped'
}

export interface Erasure {
  /** Numbers of deleted rows by table, pending points and stored objects */
  erased: Record<string, number>
  erased_at: Time
  /** Parts that have failed so far and are retried until they succeed; empty with status 200 */
  remaining: ErasurePart[]
}

export type ErasurePart = 'rows' | 'buffer' | 'objects'

export interface ErrorBody {
  /** A sentence for people: what happened and what to do */
  error: string
  code: ErrorCode
  /** The X-Request-Id of the answer */
  request_id?: string
}

/** Stable; clients branch on it */
export type ErrorCode = 'invalid-request' | 'unauthorized' | 'forbidden' | 'paused' | 'ended' | 'not-found' | 'method-not-allowed' | 'too-slow' | 'conflict' | 'gone' | 'erased' | 'too-large' | 'rate-limited' | 'internal' | 'unavailable' | 'buffer-full'

export interface EventConfig {
  name: string
  /** IANA name; days of the API are days of this zone */
  time_zone: string
  /** line: a pilgrim’s requests need the ID token of LINE Login; open: an id that the app keeps */
  identity: 'open' | 'line'
  /** LIFF app of the event; null where none is set */
  liff_id: string | null
  /** Version of the privacy notice that a pilgrim agrees to now */
  privacy_version: string
  /** Public VAPID key for Web Push, base64url; null: Web Push is off */
  push_key: string | null
  /** null: not known at the moment */
  status: ActivityStatus | null
  /** The organisers’ message about the status */
  message: string | null
  starts_at: Time | null
  ends_at: Time | null
  /** Time of this answer; an app compares its own clock with it */
  as_of: Time
}

export interface EventMap {
  /** This is the whole map */
  since: null
  /** Ask for what changes after it with ?since= */
  version: number
  /** Time of the crowd */
  as_of: Time
  event: {
    name: string
    starts_at: Time | null
    ends_at: Time | null
    /** IANA zone of the event */
    time_zone: string
    /** Fewest pilgrims in a cell */
    crowd: number
    /** Version of the route: GET /api/event/route?v=<version>. null: the event has no route */
    route: string | null
  }
  status: ActivityStatus
  /** The operators’ message */
  message: string | null
  /** Parts that are not current, because a store is unavailable: the crowd is that of `as_of`, the totals are those of `totals.as_of` */
  stale: ('crowd' | 'totals')[]
  /** All pilgrims of the cells were seen then or later */
  seen_since: Time
  /** Number of pilgrims in all cells together */
  on_map: number
  cells: MapCellEntry[]
  /** 95 % of the pilgrims on the map are behind it; null: nobody is there */
  front: MapPlace | null
  /** Half of the pilgrims on the map are behind it */
  middle: MapPlace | null
  /** 95 % of the pilgrims on the map are ahead of it */
  tail: MapPlace | null
  /** The device that an operator has named as the palanquin: its place is exact, and public by its nature. null: none is named, or it is hidden, or was not seen for a day */
  palanquin: {
    lat: Latitude
    lng: Longitude
    /** Distance from the start of the route; null without a route */
    route_km: number | null
    /** Index in the route’s stations of the nearest station along the route; null without stations */
    station: number | null
    seen_at: Time
  } | null
  /** Speed of the palanquin, or else of the middle, over the last hour, or since it is known (15 minutes at least); null: not known, or only faster than anybody walks (8 km/h), when late points have moved the middle */
  speed_kmh: number | null
  /** Estimated times at the stations that the middle has not reached */
  estimates: StationEstimate[]
  /** null: not known, or fewer pilgrims than the crowd */
  totals: MapTotals | null
}

export interface EventMapDelta {
  /** This is what has changed since this version. Fields that are absent have not changed */
  since: number
  version: number
  as_of: Time
  event?: {
    name: string
    starts_at: Time | null
    ends_at: Time | null
    /** IANA zone of the event */
    time_zone: string
    /** Fewest pilgrims in a cell */
    crowd: number
    /** Version of the route: GET /api/event/route?v=<version>. null: the event has no route */
    route: string | null
  }
  status?: ActivityStatus
  /** The operators’ message */
  message?: string | null
  /** Parts that are not current, because a store is unavailable: the crowd is that of `as_of`, the totals are those of `totals.as_of` */
  stale?: ('crowd' | 'totals')[]
  /** All pilgrims of the cells were seen then or later */
  seen_since?: Time
  /** Number of pilgrims in all cells together */
  on_map?: number
  /** Cells that are new or have changed; 0 pilgrims: gone */
  cells?: MapCellEntry[]
  /** 95 % of the pilgrims on the map are behind it; null: nobody is there */
  front?: MapPlace | null
  /** Half of the pilgrims on the map are behind it */
  middle?: MapPlace | null
  /** 95 % of the pilgrims on the map are ahead of it */
  tail?: MapPlace | null
  /** The device that an operator has named as the palanquin: its place is exact, and public by its nature. null: none is named, or it is hidden, or was not seen for a day */
  palanquin?: {
    lat: Latitude
    lng: Longitude
    /** Distance from the start of the route; null without a route */
    route_km: number | null
    /** Index in the route’s stations of the nearest station along the route; null without stations */
    station: number | null
    seen_at: Time
  } | null
  /** Speed of the palanquin, or else of the middle, over the last hour, or since it is known (15 minutes at least); null: not known, or only faster than anybody walks (8 km/h), when late points have moved the middle */
  speed_kmh?: number | null
  /** Estimated times at the stations that the middle has not reached */
  estimates?: StationEstimate[]
  /** null: not known, or fewer pilgrims than the crowd */
  totals?: MapTotals | null
}

export interface EventRoute {
  /** null: the event has no route */
  version: string | null
  /** Length of the route */
  km: number
  /** Lines in the order in which they are walked, simplified to about 10 m. Each is a flat list: latitude and longitude of its first place in 1e-5 degrees, then the differences to each next place */
  lines: number[][]
  /** In the order of the route */
  stations: MapStation[]
}

export interface ExcludedRecipients {
  /** Blocked or left the LINE account */
  unreachable: number
  withdrawn: number
  /** The id is not a LINE user id */
  no_line_id: number
}

export interface FeedbackItem {
  id: number
  category: string
  description: string
  status: FeedbackStatus
  created_at: Time
  updated_at: Time
  resolved_at: Time | null
  /** With open identity a volunteer is not told an id that an app made, because it opens the pilgrim’s own data */
  userId: UserId | null
  display_name: string | null
  screenshot_url: string | null
  device_info: string | null
  user_agent: string | null
  contact: string | null
  admin_note: string | null
}

export interface FeedbackRequest {
  user_id?: UserId | null | undefined
  /** A random id that the client gives this report. Sent again with it, a report is stored once */
  report_id?: string | null | undefined
  category: string
  description: string
  /** URL from the answer of feedback-upload */
  screenshot_url?: string | null | undefined
  /** Text, or an object that is stored as JSON. `place` in it, `{lat, lng, accuracy, at}`, is where the report was written; the console shows it. Operators only */
  device_info?: string | Record<string, unknown> | null | undefined
  user_agent?: string | null | undefined
  contact?: string | null | undefined
}

export type FeedbackStatus = 'new' | 'triaging' | 'fixing' | 'fixed' | 'wontfix'

export interface FeedbackUpdate {
  status?: FeedbackStatus | null | undefined
  /** An empty note clears it */
  admin_note?: string | null | undefined
  /** What the operator saw before the change. If somebody has changed it since, the answer is 409 and nothing changes */
  seen?: {
    status?: FeedbackStatus | undefined
    admin_note?: string | null | undefined
  } | undefined
}

/** Time of the first point inside the event’s area; null without any */
export type FirstSeen = Time

export interface Flushed {
  /** Whether all points that were pending at the call are stored; false: the flush continues */
  finished: boolean
  stored: number
  duplicates: number
  dead_letters: number
}

export interface GpsPoint {
  lat: Latitude
  lng: Longitude
  timestamp?: SentTime | null | undefined
  /** metres */
  accuracy?: Measure | null | undefined
  /** metres */
  altitude?: Measure | null | undefined
  /** km/h as measured by the phone; stored only, because the mode follows from the segment’s speed */
  speed?: Measure | null | undefined
  /** walk, car, scooter, bike, bus, mrt, train or hsr; not case-sensitive */
  mode?: Mode | null | undefined
  /** Any label; truncated to 64 characters */
  source?: Source | null | undefined
}

export interface Health {
  status: 'ok' | 'error' | 'ended'
  db: 'ok' | 'error'
  kv: 'ok' | 'error'
  objects: 'ok' | 'error'
  last_flush: Time | null
  /** Pilgrims with pending points */
  buffer_size: number
}

export interface HealthAnswer {
  status: 'ok' | 'error' | 'ended'
  db: 'ok' | 'error'
  kv: 'ok' | 'error'
  objects: 'ok' | 'error'
  last_flush: Time | null
  /** Pilgrims with pending points */
  buffer_size: number
  ok: boolean
  data: Health
}

export type HttpsUrl = string

export interface IncidentCause {
  key: 'database' | 'flush' | 'disk' | 'dead-letters' | 'lost' | 'clock' | 'slots' | 'kv' | 'objects' | 'service'
  /** true: data are at risk; false: a warning */
  failure: boolean
  /** What is wrong, as the owner’s alert says it */
  text: {
    "zh-Hant": string
    en: string
  }
  what_to_do: {
    "zh-Hant": string
    en: string
  }
}

export interface Index {
  /** Name of the event */
  name: string
  /** The page that documents this API */
  docs: string
  /** The OpenAPI document */
  openapi: string
}

export interface IngestAnswer {
  result: 'ok'
}

export type Instant = string

export type Key = string

export type Language = 'zh-Hant' | 'zh-Hans' | 'en' | 'ja'

export interface LastHour {
  /** null: there was no flush yet, or the database does not answer */
  walking: {
    /** Pilgrims whose latest stored point is not older than 60 minutes at `as_of` */
    pilgrims: number
    /** Those among them with a check-in of these 60 minutes */
    checked_in: number
    /** Pilgrims who take part and whose latest stored point is 3 to 24 hours old at `as_of` */
    silent: number
    /** Time of the last flush */
    as_of: Time
  } | null
  /** null: Redis has not answered since the process began */
  received: Received | null
}

/** Time of the latest point inside the event’s area; null without any */
export type LastSeen = Time

export type Latitude = number

export interface Ledger {
  /** All points that were ever received: the sum of the other counters */
  received: number
  /** Rows in the table of points */
  stored: number
  /** Already in the buffer or in the table */
  duplicate: number
  /** Rejected points by reason, including dead letters dropped by an operator */
  rejected: Record<string, number>
  /** In the buffer; the next flush writes them to the database */
  pending: number
  /** In the journals; journal recovery brings them to the buffer */
  journaled: number
  /** Refused by the database; list, requeue or drop them at admin/dead-letters */
  dead_letter: number
  /** Points of erased pilgrims */
  erased: number
  /** Accepted, but no longer in any store */
  lost: number
  /** Moving between two of these stores right now; 0 when idle */
  in_flight: number
  /** The last 100 losses */
  losses: {
    noticed_at: Time
    partition: number
    points: number
  }[]
  as_of: Time
}

/** Number of the day’s points that are left out of the sum, by reason; pending points included */
export interface LeftOut {
  "too-soon": number
  "too-near": number
  "too-fast": number
  "same-instant": number
  rough: number
  outside: number
}

export type LeftOutReason = 'unreachable' | 'withdrawn' | 'no_line_id'

export interface LeftOutRecipient {
  userId: string
  display_name: string | null
  /** Why LINE does not reach this person */
  reason: LeftOutReason
  /** Number of devices that get the message by Web Push all the same */
  devices: number
}

export interface LineDelivery {
  events: unknown[]
  [name: string]: unknown
}

export interface LineUsage {
  quota: {
    type: 'none' | 'limited' | null
    value: number | null
  }
  consumption: {
    total_usage: number | null
  }
  remaining: number | null
  usage_percent: number | null
  /** Number of followers that LINE can reach */
  followers: number | null
  configured: boolean
}

export interface ListAuditAnswer {
  items: AuditEntry[]
  next_cursor: string | null
}

export interface ListDeadLettersAnswer {
  items: DeadLetter[]
  next_cursor: string | null
}

export type ListFeedbackAnswer = {
  items: FeedbackItem[]
  next_cursor: string | null
  counts: BoardCounts
} | {
  items: BoardItem[]
  next_cursor: string | null
}

export interface ListLeftOutAnswer {
  items: LeftOutRecipient[]
  next_cursor: string | null
}

export interface ListMessagesAnswer {
  items: SentMessage[]
  next_cursor: string | null
}

export interface ListRolesAnswer {
  items: RoleAssignment[]
  next_cursor: string | null
}

export interface ListSharesAnswer {
  items: Share[]
}

export interface ListTokensAnswer {
  items: TokenInUse[]
  as_of: Time
}

export interface ListUserMessagesAnswer {
  items: UserMessage[]
}

export interface ListUsersAnswer {
  items: UserRow[]
  next_cursor: string | null
  pending: PendingPoints
}

export interface LiveMap {
  points: LivePosition[]
  generated_at: Time
}

export interface LivePosition {
  /** Changes every hour, because the pilgrim’s id is never public. Without a token it belongs to the place, so it stays when a pilgrim moves on */
  id: string
  /** Without a token: centre of the smallest cell (zoom 10 to 18) that enough pilgrims share */
  lat: Latitude
  lng: Longitude
  /** Without a token: a whole minute, the same for all pilgrims of a cell; each of them was seen then or later */
  recorded_at: Time
  /** With a token only. With open identity a volunteer is not told an id that an app made, because it opens the pilgrim’s own data */
  userId?: UserId
  /** With a token only */
  display_name?: string | null
}

export type Longitude = number

/** [latitude, longitude, zoom, pilgrims]: centre of the cell in 1e-5 degrees; zoom gives its width (0.2° at 6, half as wide at each further zoom); pilgrims: rounded to one of about ten steps per factor of ten. In a delta 0 means that the cell is not on the map any more */
export type MapCellEntry = [number, number, number, number]

export interface MapPlace {
  lat: Latitude
  lng: Longitude
  /** Distance from the start of the route; null without a route */
  route_km: number | null
  /** Index in the route’s stations of the nearest station along the route; null without stations */
  station: number | null
}

export interface MapStation {
  name: string
  /** Names in other languages, by language: zh-Hant, zh-Hans, en, ja */
  names: Record<string, string>
  lat: Latitude
  lng: Longitude
  /** Distance from the start of the route */
  route_km: number
}

export interface MapTotals {
  /** Time of the last flush */
  as_of: Time | null
  /** Pilgrims in the totals, as in the report of carbon: with a counted point or a report above zero, including erased ones */
  pilgrims: number
  /** Kilometres of all pilgrims together, on foot and by vehicle, rounded down */
  km: number
  /** Compared with the same distance by bus, rounded */
  carbon_saved_kg: number
  /** Number of pilgrims with a counted point of each level, level 1 first */
  levels: number[]
}

export type Measure = number

export interface MenuDeployment {
  /** True without LINE credentials */
  skipped: boolean
  menus: {
    language: Language
    menu_id: string
    changed: boolean
  }[]
}

export interface MenuStatus {
  configured: boolean
  menus: {
    language: Language
    menu_id: string | null
    digest: string | null
    deployed_at: Time | null
    /** Whether the deployed menu is the one of this release */
    current: boolean
  }[]
}

export type Mode = string

export interface NewTracker {
  id: string
  label: string | null
  /** With open identity, of whole hours */
  created_at: Time
  /** When points of this tracker were last taken, up to a minute too early, with open identity of whole hours; null: not in the last three days; absent: not known at the moment */
  last_used_at?: Time | null
  /** Secret, and shown only in this answer */
  key: string
  apps: {
    owntracks: AppSetUp
    overland: AppSetUp
    traccar: AppSetUp
    osmand: AppSetUp
    gpslogger: AppSetUp
  }
}

export interface NotificationSlot {
  id: string
  enabled: boolean
  /** Hour of the day in the event’s time zone */
  hour: number
  /** null: every day of the event */
  dates: string[] | null
  audience: 'all' | 'participants' | 'volunteers' | 'managers' | 'owners' | 'completed'
  text: Texts
}

export interface NotificationSlotInput {
  id: string
  enabled?: boolean | undefined
  /** Hour of the day in the event’s time zone */
  hour: number
  /** null: every day of the event */
  dates?: string[] | null | undefined
  audience: 'all' | 'participants' | 'volunteers' | 'managers' | 'owners' | 'completed'
  text: TextsInput
}

export interface Notifications {
  slots: NotificationSlot[]
  /** Whether these are the unedited defaults */
  defaults: boolean
  changed_at: Time | null
  changed_by: string | null
}

export interface OverlandBatch {
  locations: {
    geometry: {
      /** longitude, latitude */
      coordinates: number[]
      [name: string]: unknown
    }
    properties: {
      /** ISO 8601 */
      timestamp?: string | undefined
      /** metres */
      altitude?: number | undefined
      /** m/s; negative is unknown */
      speed?: number | undefined
      /** metres; negative is unknown */
      horizontal_accuracy?: number | undefined
      [name: string]: unknown
    }
    [name: string]: unknown
  }[]
  [name: string]: unknown
}

export interface OwnErasureRequest {
  user_id: UserId
  /** true: the pilgrim was asked and wants it; nothing can be restored afterwards */
  confirm: true
}

export interface OwnExportRequest {
  user_id: UserId
  format?: 'json' | 'gpx' | undefined
}

export type OwnTracksAnswer = unknown[]

export interface OwnTracksMessage {
  /** location; other messages are not stored */
  _type?: string | undefined
  lat?: number | undefined
  lon?: number | undefined
  /** Time of the fix, epoch seconds */
  tst?: number | undefined
  /** metres */
  acc?: number | undefined
  /** metres */
  alt?: number | undefined
  /** km/h; 0 is unknown */
  vel?: number | undefined
  /** p: a ping with an old place, which is not stored */
  t?: string | undefined
  [name: string]: unknown
}

export interface OwnWalk {
  userId: UserId
  as_of: Time
  pending: PendingPoints
  /** Days with a point in the event’s area, ascending, in the event’s time zone */
  days: {
    day: Day
    km: number
    checkins: number
    /** Of the recorded way, without self-reported kilometres */
    carbon_kg: number
  }[]
  /** The day that the fields below describe; null without any day */
  day: Day | null
  /** The places between which the distance is counted, in order of time */
  line: {
    t: Time
    lat: number
    lng: number
  }[]
  /** The day’s counted segments in order of time, joined while the mode is the same */
  stretches: {
    from: Time
    to: Time
    /** Mode that the carbon was computed with */
    mode: string
    /** The phone named no mode, so the speed decided: above 15 km/h counts as a bus */
    inferred: boolean
    km: number
    /** Mean speed of the counted segments */
    speed_kmh: number
    carbon_kg: number
  }[]
  /** The day’s first 2000 check-ins; with in_range false they are outside of the event’s area and do not count */
  checkins: {
    t: Time
    lat: number
    lng: number
    in_range: boolean
  }[]
}

export interface OwnWalkRequest {
  user_id: UserId
  /** A day of the event’s time zone; by default the last one with a point */
  day?: Day | null | undefined
}

export interface Part {
  name: 'tracking' | 'survey-profile' | 'feedback-media' | 'admin' | 'line-bot' | 'scheduler' | 'db' | 'kv' | 'objects'
  kind: 'service' | 'store'
  /** ok; degraded: a process of the service has not reported for 20 s, and another has; error: a store does not answer; silent: no process of the service has reported for 20 s; unknown: reports cannot be read */
  state: PartState
  /** Latest report of any process of the service; for a store, when it answered */
  seen_at: Time | null
  /** Processes of the service; null for a store, and while reports cannot be read */
  processes: {
    /** Reported in the last 20 s */
    running: number
    /** Did not, and was not stopped. After an hour it counts as removed */
    silent: number
  } | null
}

export type PartState = 'ok' | 'degraded' | 'error' | 'silent' | 'unknown'

export type ParticipantStatus = 'active' | 'completed' | 'withdrawn'

export interface ParticipantStatusAnswer {
  userId: UserId
  participant_status: ParticipantStatus
}

export interface ParticipantStatusRequest {
  user_id: UserId
  status: ParticipantStatus
}

/** Number of points in the buffer, which are included in this answer; null: the buffer is unavailable, and its points are missing */
export type PendingPoints = number | null

export type Phone = string | null

export interface PhoneRequest {
  user_id: UserId
  phone: Phone
}

export interface PhotoCount {
  userId: UserId
  photo_count: number
}

export type PointOutcome = 'first' | 'counted' | 'too-soon' | 'too-near' | 'too-fast' | 'same-instant' | 'rough' | 'outside'

export type PointRejection = 'not-an-object' | 'no-timestamp' | 'invalid-timestamp' | 'in-the-future' | 'too-old' | 'in-seconds' | 'out-of-bounds' | 'invalid-position' | 'invalid-field' | 'not-a-list' | 'too-many' | 'no-room'

export interface PrivacyAnswer {
  userId: UserId
  privacy_agreed: boolean
  privacy_agreed_at: Time | null
  version: string | null
}

export interface PrivacyRequest {
  user_id: UserId
  agreed?: boolean | null | undefined
  version?: string | null | undefined
}

export interface Profile {
  userId: UserId
  display_name: string | null
  picture_url: string | null
  level: number
  level_name: {
    zh: string
    en: string
  }
  icon: string
  /** Others get it rounded down while the event runs: whole kilometres below 10, whole fives above */
  km: number
  checkins: number
  /** What is still needed for the next level; null at level 9 */
  next_level: {
    level: number
    km_needed: number
    checkins_needed: number
  } | null
  carbon_kg: number
  /** Compared with the same distance by bus */
  carbon_saved_kg: number
  /** Masked except for the last two digits; others get no digit */
  phone: string | null
  survey_completed: 0 | 1
  privacy_agreed: boolean
  privacy_agreed_at: Time | null
  /** Version of the privacy notice that the last consent or its withdrawal named */
  privacy_version: string | null
  participant_status: ParticipantStatus
  achievement_card: 'locked' | 'unlocked'
  photo_count: number
  /** Time of the first point inside the event’s area; null without any; only the day, in the event’s time zone, unless the caller is an operator or the pilgrim with a verified ID token */
  first_seen: FirstSeen | Day | null
  /** Time of the latest point inside the event’s area; null without any; only the day, in the event’s time zone, unless the caller is an operator or the pilgrim with a verified ID token */
  last_seen: LastSeen | Day | null
  /** null: the buffer is unavailable, and its points are missing. Otherwise absent: the figures include them, and their number is not public because it shows who is walking now */
  pending?: null
}

export interface PushAnswer {
  /** Id of the push, for push/{id}; null for a dry run */
  id: string | null
  recipients: number
  /** Number of messages that count towards the monthly quota */
  cost: number
  /** Before this push; null: unlimited, or LINE is not configured */
  quota_remaining: number | null
  left_out: ExcludedRecipients
  /** Number of devices that get it by Web Push; they cost nothing */
  devices: number
  /** null: the buffer is unavailable, and participants who are known only by their pending points are missing; absent otherwise */
  pending?: null
}

export interface PushDevice {
  id: string
  /** Host name of the browser’s push service */
  push_service: string
  created_at: Time
}

export interface PushDeviceList {
  /** Oldest first */
  items: PushDevice[]
}

export interface PushProgress {
  id: string
  cause: Cause
  audience: Record<string, unknown>
  /** skipped: LINE is not configured */
  state: 'sending' | 'sent' | 'skipped'
  recipients: number
  sent: number
  waiting: number
  failed: number
  skipped: number
  /** Number of calls to LINE so far */
  attempts: number
  left_out: ExcludedRecipients
  /** Devices, beside the recipients of LINE */
  web_push: WebPushProgress
  /** The most frequent errors, each with up to 20 people */
  faults: {
    detail: string
    recipients: number
    people: {
      userId: string
      display_name: string | null
    }[]
  }[]
  created_at: Time
  created_by: string | null
  completed_at: Time | null
}

export interface PushRequest {
  audience?: Audience | null | undefined
  /** For inactive: hours without a point; 24 unless given */
  hours?: number | null | undefined
  user_ids?: UserId[] | null | undefined
  text?: string | null | undefined
  /** Sends text and image as a card with this title */
  title?: string | null | undefined
  /** JPEG or PNG of at most 1 MB; LINE does not show other images. Only screenshots and cards of this service are checked; the URL is never fetched */
  image_url?: HttpsUrl | null | undefined
  /** Sends nothing; returns the number of recipients and the cost */
  dry_run?: boolean | null | undefined
  /** Sends even if it exceeds the monthly quota */
  force?: boolean | null | undefined
}

export interface PushSubscriptionRequest {
  user_id: UserId
  /** Address at the browser’s push service; others than the known ones get 400 */
  endpoint: HttpsUrl
  keys: {
    p256dh: string
    auth: string
  }
}

export interface ReadBoardAnswer {
  items: BoardItem[]
  next_cursor: string | null
  counts: BoardCounts
}

export type ReadEventMapAnswer = EventMap | EventMapDelta

export type ReadOpenApiAnswer = Record<string, unknown>

export interface ReceiveWebhookAnswer {
  /** Number of new events; repeated deliveries are not counted */
  received: number
}

export interface Received {
  /** 60 minutes before `through`, or later: when this process of the service began to count */
  since: Time
  /** At most ten seconds ago, while Redis answers */
  through: Time
  /** Check-ins and track points that were received since then, of any time */
  points: number
  /** Check-ins among them */
  checkins: number
  /** [points, check-ins] of each ten seconds from `since` to `through`, oldest first */
  steps: [number, number][]
}

export interface Replayed {
  id: number
  /** replayed: back in the buffer; refused: already refused again; erased: dropped because the pilgrim was erased */
  outcome: 'replayed' | 'refused' | 'erased'
}

export interface RevokeShareAnswer {
  id: string
  revoked: true
}

export interface RevokeSharesOfUserAnswer {
  /** Number of links that have ended */
  revoked: number
}

export interface RevokeTrackerAnswer {
  id: string
}

export interface RevokeTrackerOfUserAnswer {
  id: string
}

export type Role = 'owner' | 'manager' | 'volunteer'

export interface RoleAssignment {
  userId: UserId
  display_name: string | null
  role: Role
  assigned_by: string
  assigned_at: Time
}

export interface Screenshot {
  filename: string
  url: string
}

export interface ScreenshotUpload {
  /** Base64, or a data URL */
  image: string
}

export interface SentMessage {
  id: string
  cause: Cause
  audience: Record<string, unknown>
  /** skipped: LINE is not configured */
  state: 'sending' | 'sent' | 'skipped'
  recipients: number
  sent: number
  waiting: number
  failed: number
  skipped: number
  /** Number of calls to LINE so far */
  attempts: number
  left_out: ExcludedRecipients
  /** Devices, beside the recipients of LINE */
  web_push: WebPushProgress
  created_at: Time
  created_by: string | null
  completed_at: Time | null
  /** The beginning of the message; null if it has no text */
  text: string | null
}

export type SentTime = number | string

export interface SetNotificationsRequest {
  slots: NotificationSlotInput[]
}

export interface SetPalanquinAnswer {
  userId: UserId
  palanquin: boolean
}

export interface SetPalanquinRequest {
  palanquin: boolean
}

export interface SetParticipantRequest {
  status: ParticipantStatus
}

export interface SetPhoneAnswer {
  userId: UserId
  phone: string | null
}

export interface SetStatusRequest {
  status: 'paused' | 'active'
  /** Error message that pilgrims get. If absent: removed when the status changes, unchanged when it does not. Empty: removed */
  message?: string | null | undefined
}

export interface Share {
  id: string
  /** Address of the page. It contains no user id */
  url: string
  /** Address of the card, a PNG */
  image_url: string
  /** Until then the page shows where the pilgrim is; null: it does not */
  live_until: Time | null
  /** Whether page and card show the display name */
  show_name: boolean
  created_at: Time
  /** From then on the link is gone (410) */
  expires_at: Time
  /** How often the page was opened in a browser: the previews of chats are not counted, nor who comes back within ten minutes. Some seconds behind */
  views: number
  /** When it was last opened, to the minute; null: never */
  last_viewed_at: Time | null
}

export interface Snapshot {
  at: Time
  /** Whether all events since Last-Event-ID were sent before this snapshot */
  resumed: boolean
  status: StreamStatus | null
  ending: Ending | null
  counts: StreamCounts | null
  incident: StreamIncident | null
}

export type Source = string

export interface StationEstimate {
  /** Index in the route’s stations */
  station: number
  /** null: the front has passed it */
  front_at: Time | null
  /** Of the palanquin, where one is named */
  middle_at: Time
  /** speed: the middle keeps the speed of the last hour, at most 12 hours ahead; mean: it goes on as fast as on the whole walk until now, rests included, at most 3 days ahead; plan: the time in the file of the route */
  by: 'speed' | 'mean' | 'plan'
}

export interface StreamAlert {
  state: 'opened' | 'changed' | 'recovered'
  incident: StreamIncident
}

export interface StreamCells {
  at: Time
  /** The requested zoom, or the next coarser one with at most 2,000 cells */
  zoom: number
  cells: {
    /** zoom/x/y */
    cell: string
    /** west, south, east, north */
    bounds: [number, number, number, number]
    /** Number of pilgrims with a new latest position in this cell */
    pilgrims: number
  }[]
}

export interface StreamCounts {
  /** Check-ins and track points */
  points: number
  checkins: number
  /** Points that were already known */
  duplicates: number
  at: Time
  /** Length of the period of these counts, about one second; all replicas together */
  seconds: number
  /** Totals since Redis was last empty */
  totals: {
    /** Check-ins and track points */
    points: number
    checkins: number
    /** Points that were already known */
    duplicates: number
  }
}

export interface StreamIncident {
  id: string
  opened_at: Time
  /** true: data are at risk; false: a warning */
  failure: boolean
  /** Number of alerts sent to the owner */
  alerts: number
}

export interface StreamStatus {
  status: ActivityStatus
  message: string | null
  changed_at: Time
  changed_by: string | null
}

export interface SubmitAnswer {
  userId: UserId
  submitted_at: Time
  /** Number of stored answers */
  answers: number
  /** 1 for the first submission */
  revision: number
  /** Result of gps_points; null if none were sent */
  track: TrackSyncAnswer | {
    refused: string
  } | null
  /** Result of phone; a survey never deletes a stored number */
  phone: 'stored' | 'invalid' | 'absent'
  /** Names of ignored fields: unknown names, second answers to a question, and new names once an event has 1,000; the first 100 */
  ignored: string[]
}

export interface SubmitFeedbackAnswer {
  id: number
  status: FeedbackStatus
}

export interface Survey {
  user_id: UserId
  /** Answers by question */
  survey: Answers
  /** Track points, as in track/sync */
  gps_points?: TrackPoint[] | null | undefined
  /** As in user/phone; an invalid number does not fail the request */
  phone?: string | null | undefined
  /** The display name */
  line_display_name?: string | null | undefined
}

export interface SurveyRow {
  userId: UserId
  display_name: string | null
  answers: Record<string, Answer>
  revision: number
  submitted_at: Time
}

export interface Surveys {
  items: SurveyRow[]
  next_cursor: string | null
  /** Number of surveys */
  total: number
  /** Number of surveys that answer each question (q1 to q10) and each of the 50 most common names with a suffix */
  responses: Record<string, number>
  /** For each of these, the counts of the 100 most common answers; texts longer than 100 characters are not counted */
  counts: Record<string, Record<string, number>>
}

export interface Texts {
  "zh-Hant": string
  "zh-Hans"?: string
  en?: string
  ja?: string
}

export interface TextsInput {
  "zh-Hant": string
  "zh-Hans"?: string | undefined
  en?: string | undefined
  ja?: string | undefined
}

export type Time = string

export interface Timeline {
  time_zone: string
  days: {
    points: number
    checkins: number
    pilgrims: number
    km: number
    carbon_kg: number
    day: Day
  }[]
  hours: {
    points: number
    checkins: number
    pilgrims: number
    km: number
    carbon_kg: number
    hour: Time
  }[]
  entries: TimelineEntry[]
  as_of: Time | null
}

export interface TimelineEntry {
  at: Time
  kind: 'started' | 'paused' | 'resumed' | 'ended' | 'push'
  by: string | null
  message: string | null
}

export interface TokenInUse {
  name: string
  role: Role
  /** Identifies the token in the audit log; the token cannot be derived from it */
  fingerprint: string
  /** To the minute; null: not used, or not known */
  last_used: Time | null
}

export interface TraccarLocation {
  location: {
    /** ISO 8601 */
    timestamp: string
    coords: {
      latitude?: number | undefined
      longitude?: number | undefined
      /** metres */
      accuracy?: number | undefined
      /** metres */
      altitude?: number | undefined
      /** m/s; −1 is unknown */
      speed?: number | undefined
      [name: string]: unknown
    }
    [name: string]: unknown
  }
  [name: string]: unknown
}

export interface TraccarParameters {
  /** degrees */
  lat?: string | undefined
  /** degrees */
  lon?: string | undefined
  /** Epoch seconds or milliseconds, or ISO 8601 */
  timestamp?: string | undefined
  /** metres; 0 and below is unknown */
  accuracy?: string | undefined
  /** metres */
  altitude?: string | undefined
  /** knots; below 0 is unknown */
  speed?: string | undefined
  /** The same in m/s */
  speed_ms?: string | undefined
  [name: string]: unknown
}

export interface TrackBatch {
  user_id: UserId
  /** In order of time, oldest first */
  points: TrackPoint[]
}

export type TrackPoint = GpsPoint & {
  timestamp: SentTime
}

export interface TrackSyncAnswer {
  accepted: number
  duplicates: number
  rejected: {
    index: number
    reason: PointRejection
  }[]
  /** The phone may delete this batch’s points up to this time, and the rejected points */
  durable_through: Time | null
}

export interface Tracker {
  id: string
  label: string | null
  /** With open identity, of whole hours */
  created_at: Time
  /** When points of this tracker were last taken, up to a minute too early, with open identity of whole hours; null: not in the last three days; absent: not known at the moment */
  last_used_at?: Time | null
}

export interface TrackerList {
  /** Oldest first */
  items: Tracker[]
}

export interface TrackerParameters {
  /** degrees */
  lat?: string | undefined
  /** degrees */
  lon?: string | undefined
  /** Epoch seconds or milliseconds, or ISO 8601 */
  timestamp?: string | undefined
  /** metres; 0 and below is unknown */
  accuracy?: string | undefined
  /** metres */
  altitude?: string | undefined
  /** m/s; below 0 is unknown */
  speed?: string | undefined
  /** The same in m/s */
  speed_ms?: string | undefined
  [name: string]: unknown
}

export interface TrackerRequest {
  user_id: UserId
  /** A name for the pilgrim’s own list, such as “old phone”; at most 64 characters */
  label?: string | null | undefined
}

export interface UnsubscribeFromPushAnswer {
  id: string
}

export interface UploadScreenshotForm {
  /** The picture */
  file: string
}

export interface UserDetail {
  userId: UserId
  display_name: string | null
  picture_url: string | null
  level: number
  level_name: {
    zh: string
    en: string
  }
  icon: string
  /** Others get it rounded down while the event runs: whole kilometres below 10, whole fives above */
  km: number
  checkins: number
  /** What is still needed for the next level; null at level 9 */
  next_level: {
    level: number
    km_needed: number
    checkins_needed: number
  } | null
  carbon_kg: number
  /** Compared with the same distance by bus */
  carbon_saved_kg: number
  /** Unmasked, as the pilgrim wrote it */
  phone: string | null
  survey_completed: 0 | 1
  privacy_agreed: boolean
  privacy_agreed_at: Time | null
  privacy_version: string | null
  participant_status: ParticipantStatus
  achievement_card: 'locked' | 'unlocked'
  photo_count: number
  first_seen: FirstSeen | null
  last_seen: LastSeen | null
  pending: PendingPoints
  /** BCP 47, such as zh-TW */
  language: string | null
  /** This pilgrim’s device is the palanquin, whose place is public */
  palanquin: boolean
  /** Role in the event; determines the audiences of messages, not access */
  role: Role | null
  /** Name of the token */
  role_assigned_by: string | null
  role_assigned_at: Time | null
  /** Whether LINE can deliver a message: the id is a LINE user id, and the pilgrim follows the account */
  reachable: boolean
  /** Time of the last follow, unfollow or failed delivery; null if LINE has reported none */
  reachable_changed_at: Time | null
  /** Consent was withdrawn: the pilgrim is not on the live map until they consent again */
  consent_withdrawn: boolean
  /** The last 10 consents and withdrawals, newest first */
  consents: {
    agreed: boolean
    version: string | null
    at: Time
  }[]
  /** The latest submission */
  survey: {
    revision: number
    submitted_at: Time
    answers: Record<string, Answer>
  } | null
  /** Self-reported numbers of water bottles, recycled bottles and hotel nights */
  consumption: Record<string, number>
  /** Self-reported kilometres by mode */
  transport: Record<string, number>
  /** Number of points in the database that are inside the event’s area */
  stored_points: number
  /** The latest day with points, and how many of them are not in the sum; null: there are no points */
  latest_day: DaySummary | null
  /** The last 10 check-ins by their own time, newest first */
  recent_checkins: {
    /** Time of the check-in */
    recorded_at: Time
    received_at: Time
    lat: Latitude
    lng: Longitude
    mode: string | null
    /** false: outside the event’s area, stored but not counted */
    in_range: boolean
    /** In the buffer, not yet in the database */
    pending: boolean
  }[]
  /** The last 10 feedback items, newest first */
  recent_feedback: {
    id: number
    category: string
    status: string
    created_at: Time
  }[]
  /** Number of devices that get the event’s messages by Web Push */
  push_devices: number
  /** The pilgrim’s tracker apps, oldest first, without their keys */
  trackers: Tracker[]
  /** The pilgrim’s links, newest first, without their addresses, which are the pilgrim’s to give */
  shares: {
    made_by: 'pilgrim' | 'bot'
    show_name: boolean
    live_until: Time | null
    created_at: Time
    expires_at: Time
  }[]
  /** The last 10 texts of operators that contain the pilgrim’s name, newest first. An erasure leaves them as they are */
  named_in: {
    /** A message, a note beside feedback, or the audit log */
    kind: 'message' | 'note' | 'log'
    text: string
    at: Time
  }[]
  /** Time of the first contact; null for a pilgrim who is in the buffer only */
  created_at: Time | null
  /** Time of the last change of the profile */
  updated_at: Time | null
}

export interface UserExport {
  userId: UserId
  exported_at: Time
  /** Stored points; kind c is a check-in, t a track point */
  gps_points: Record<string, unknown>[]
  /** Points that are in the buffer and not yet in the database, with the same columns; null: the buffer is unavailable, and these points are missing */
  pending: Record<string, unknown>[] | null
  [name: string]: unknown
}

export type UserId = string

export interface UserMessage {
  id: string
  cause: Cause
  state: 'waiting' | 'sent' | 'failed' | 'skipped'
  /** The beginning of the message; null if it has no text */
  text: string | null
  /** Why it failed or waits */
  detail: string | null
  created_at: Time
  created_by: string | null
  settled_at: Time | null
}

export interface UserPoint {
  kind: 'checkin' | 'track'
  /** Time at which the point counts */
  recorded_at: Time
  received_at: Time
  lat: Latitude
  lng: Longitude
  accuracy: number | null
  mode: string | null
  source: string | null
  clock_corrected: boolean
  /** In the buffer, not yet in the database */
  pending: boolean
  /** counted: ends a segment of the sum; first: the way begins here. Left out: too-soon (less than 30 s after the anchor), too-near (less than 10 m from it), too-fast (more than 300 km/h from it), same-instant (another point of this instant counts), rough (less exact than 100 m), outside (of the event’s area) */
  outcome: PointOutcome
  /** Length of the segment that ends here; 0 if the point is left out */
  km: number
}

export interface UserPoints {
  items: UserPoint[]
  next_cursor: string | null
  /** The day of these points, in the event’s time zone; null: there are none */
  day: Day | null
  /** Days with points inside the area, latest first. Of a day whose points all wait in the buffer: how many, and 0 km */
  days: {
    day: Day
    points: number
    km: number
  }[]
  /** The day’s way through its counted points, at most 500 positions */
  way: [Longitude, Latitude][]
  /** Number of points on all pages of this query */
  total: number
  left_out: LeftOut
  /** Whether the day has more than 100000 points, of which the first were read */
  truncated: boolean
  pending: PendingPoints
}

export interface UserRow {
  userId: UserId
  display_name: string | null
  km: number
  checkins: number
  level: number
  carbon_kg: number
  role: Role | null
  participant_status: ParticipantStatus
  survey_completed: 0 | 1
  last_seen: LastSeen | null
  pending: PendingPoints
}

export type UserSort = 'userId' | 'km' | 'checkins' | 'last_seen'

export interface UserSyncRequest {
  user_id: UserId
  display_name?: string | null | undefined
  /** An https:// address */
  picture_url?: string | null | undefined
  /** BCP 47, such as zh-TW */
  language?: string | null | undefined
  /** Numbers of water bottles, recycled bottles and hotel nights; each one replaces its stored value */
  consumption?: {
    water?: number | null | undefined
    recycle?: number | null | undefined
    hotel?: number | null | undefined
  } | null | undefined
  /** Self-reported kilometres by mode; an unknown mode counts as bus. At most 5,000 a mode, with what earlier calls reported */
  transport?: Record<string, number> | null | undefined
}

export interface ViewShareAnswer {
  /** false: more links are opened at this moment than are counted */
  counted: boolean
}

export interface WebPushProgress {
  /** Taken by the push service of the browser, which delivers within a day or never */
  sent: number
  waiting: number
  /** Refused for good, or the device was gone */
  failed: number
}

/** Every operation: what it takes, and what it answers. */
export interface Operations {
  /** Assigns, changes or (null) removes a role; callers cannot grant a role above their own */
  assignRole: {
    input: AssignRoleRequest
    data: AssignRoleAnswer
  }
  /** Changes what a link shows */
  changeShare: {
    input: {
      id: string
    } & Caller<ChangeShareRequest>
    data: Share
  }
  /** Accepts a GPS check-in; answers when it is durable; the next flush writes it to the database */
  checkIn: {
    input: Caller<CheckIn>
    data: CheckInAnswer
  }
  /** Number of photos that a pilgrim has sent to the bot */
  countPhotos: {
    input: {
      user_id?: UserId | undefined
    }
    data: PhotoCount
  }
  /** Makes a link that a pilgrim can pass on; withdrawal, a consent taken back and an erasure end it */
  createShare: {
    input: Caller<CreateShareRequest>
    data: Share
  }
  /** Makes a key for a tracker app, with set-up links; a pilgrim has at most 10 at a time */
  createTracker: {
    input: Caller<TrackerRequest>
    data: NewTracker
  }
  /** Deploys the rich menu of each language; unchanged menus are skipped */
  deployMenus: {
    input: Nothing
    data: MenuDeployment
  }
  /** Draws a pilgrim’s share card, unless the stored one is current */
  drawCard: {
    input: Caller<DrawCardRequest>
    data: CardAnswer
  }
  /** Deletes a dead letter permanently; the ledger counts it as rejected */
  dropDeadLetter: {
    input: {
      id: number
    }
    data: DropDeadLetterAnswer
  }
  /** Ends the event permanently: final flush, achievement cards, summary; idempotent */
  endActivity: {
    input: Nothing
    data: Activity
  }
  /** Erases the calling pilgrim; the event’s totals keep their contribution, without the person. With EVENT_IDENTITY=line the ID token proves who calls. With open identity only an id that an app made from 128 random bits is accepted, because other ids may be known to others */
  eraseOwnData: {
    input: Caller<OwnErasureRequest>
    data: Erasure
  }
  /** Erases one pilgrim; the event’s totals keep their contribution, without the person */
  eraseUser: {
    input: {
      userId: UserId
    }
    data: Erasure
  }
  /** All data of the calling pilgrim as a file: JSON, or the points as GPX. With EVENT_IDENTITY=line the ID token proves who calls. With open identity only an id that an app made from 128 random bits is accepted, because other ids may be known to others */
  exportOwnData: {
    input: Caller<OwnExportRequest>
    data: UserExport
  }
  /** All data of one pilgrim as a file: JSON, or the points as GPX */
  exportUser: {
    input: {
      userId: UserId
      format?: 'json' | 'gpx' | undefined
    }
    data: UserExport
  }
  /** Flushes the buffer now; waits up to 20 s for the result */
  forceFlush: {
    input: Nothing
    data: Flushed
  }
  /** Takes a position of GPSLogger’s custom URL, in the query or as a form */
  ingestGpslogger: {
    input: {
      /** The tracker’s key */
      key: string
      /** degrees */
      lat?: string | number | undefined
      /** degrees */
      lon?: string | number | undefined
      /** Epoch seconds or milliseconds, or ISO 8601 */
      timestamp?: string | number | undefined
      /** metres; 0 and below is unknown */
      accuracy?: string | number | undefined
      /** metres */
      altitude?: string | number | undefined
      /** m/s; below 0 is unknown */
      speed?: string | number | undefined
      /** The same in m/s */
      speed_ms?: string | number | undefined
    } & RawBody
    data: IngestAnswer
  }
  /** The same by GET, which is GPSLogger’s default */
  ingestGpsloggerQuery: {
    input: {
      /** The tracker’s key */
      key: string
      /** degrees */
      lat?: string | number | undefined
      /** degrees */
      lon?: string | number | undefined
      /** Epoch seconds or milliseconds, or ISO 8601 */
      timestamp?: string | number | undefined
      /** metres; 0 and below is unknown */
      accuracy?: string | number | undefined
      /** metres */
      altitude?: string | number | undefined
      /** m/s; below 0 is unknown */
      speed?: string | number | undefined
      /** The same in m/s */
      speed_ms?: string | number | undefined
    }
    data: IngestAnswer
  }
  /** Takes a position of OsmAnd’s online tracking */
  ingestOsmand: {
    input: {
      /** The tracker’s key */
      key: string
      /** degrees */
      lat?: string | number | undefined
      /** degrees */
      lon?: string | number | undefined
      /** Epoch seconds or milliseconds, or ISO 8601 */
      timestamp?: string | number | undefined
      /** metres; 0 and below is unknown */
      accuracy?: string | number | undefined
      /** metres */
      altitude?: string | number | undefined
      /** m/s; below 0 is unknown */
      speed?: string | number | undefined
      /** The same in m/s */
      speed_ms?: string | number | undefined
    }
    data: IngestAnswer
  }
  /** Takes a batch of Overland; success means durable, or never to be sent again */
  ingestOverland: {
    input: {
      /** The tracker’s key */
      key: string
    } & OverlandBatch
    data: IngestAnswer
  }
  /** Takes a message of OwnTracks (HTTP mode); success means durable, or never to be sent again */
  ingestOwntracks: {
    input: {
      /** The tracker’s key */
      key: string
    } & OwnTracksMessage
    data: OwnTracksAnswer
  }
  /** Takes a position of Traccar Client: in the query (8), as JSON (9) or as a form (10) */
  ingestTraccar: {
    input: {
      /** The tracker’s key */
      key: string
      /** degrees */
      lat?: string | number | undefined
      /** degrees */
      lon?: string | number | undefined
      /** Epoch seconds or milliseconds, or ISO 8601 */
      timestamp?: string | number | undefined
      /** metres; 0 and below is unknown */
      accuracy?: string | number | undefined
      /** metres */
      altitude?: string | number | undefined
      /** knots; below 0 is unknown */
      speed?: string | number | undefined
      /** The same in m/s */
      speed_ms?: string | number | undefined
    } & TraccarLocation
    data: IngestAnswer
  }
  /** The same by GET, as old versions of Traccar Client send it */
  ingestTraccarQuery: {
    input: {
      /** The tracker’s key */
      key: string
      /** degrees */
      lat?: string | number | undefined
      /** degrees */
      lon?: string | number | undefined
      /** Epoch seconds or milliseconds, or ISO 8601 */
      timestamp?: string | number | undefined
      /** metres; 0 and below is unknown */
      accuracy?: string | number | undefined
      /** metres */
      altitude?: string | number | undefined
      /** knots; below 0 is unknown */
      speed?: string | number | undefined
      /** The same in m/s */
      speed_ms?: string | number | undefined
    }
    data: IngestAnswer
  }
  /** Every admin write, and every look at or export of pilgrims’ data, newest first */
  listAudit: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
      /** Exactly this action, such as set-status */
      action?: string | number | undefined
      token_name?: string | number | undefined
      since?: Instant | undefined
      /** Entries before this time */
      until?: Instant | undefined
      /** Part of the details, such as a user id, or of the pilgrim’s name */
      search?: string | number | undefined
    }
    data: ListAuditAnswer
  }
  /** Points that the database refused, newest first */
  listDeadLetters: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
    }
    data: ListDeadLettersAnswer
  }
  /** Feedback, newest first: all fields with a token, the public board without one */
  listFeedback: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
      status?: FeedbackStatus | undefined
      category?: string | number | undefined
      /** Reports with these words in their text, their category or the operators’ note. With a token only */
      search?: string | number | undefined
    }
    data: ListFeedbackAnswer
  }
  /** Who of an audience gets no LINE message, as of now: first who blocked or left the account, then who paused, then who does not use LINE */
  listLeftOut: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
      /** Id of a message, whose audience it is */
      message?: string | number | undefined
      audience?: Audience | undefined
      /** For inactive: hours without a point; 24 unless given */
      hours?: number | undefined
    }
    data: ListLeftOutAnswer
  }
  /** Every message that was sent or is being sent, newest first */
  listMessages: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
      cause?: Cause | undefined
    }
    data: ListMessagesAnswer
  }
  /** The devices of a pilgrim that get the event’s messages by Web Push */
  listPushSubscriptions: {
    input: {
      user_id?: UserId | undefined
    }
    data: PushDeviceList
  }
  /** Role assignments */
  listRoles: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
    }
    data: ListRolesAnswer
  }
  /** The links of a pilgrim that work, newest first */
  listShares: {
    input: {
      /** May be sent as the header X-Line-User-Id instead */
      user_id?: UserId | undefined
    }
    data: ListSharesAnswer
  }
  /** All survey submissions with counts per question; CSV with Accept: text/csv */
  listSurveys: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
    }
    data: Surveys
  }
  /** Names of the configured admin tokens and when each was last used; never the tokens */
  listTokens: {
    input: Nothing
    data: ListTokensAnswer
  }
  /** The trackers of a pilgrim, without their keys */
  listTrackers: {
    input: {
      user_id?: UserId | undefined
    }
    data: TrackerList
  }
  /** Messages to one pilgrim among the latest 100 of the event, newest first */
  listUserMessages: {
    input: {
      userId: UserId
    }
    data: ListUserMessagesAnswer
  }
  /** One day of a pilgrim’s points, earliest first, with what each adds to the sum or why it is left out; the first page is written to the audit log */
  listUserPoints: {
    input: {
      userId: UserId
      limit?: number | undefined
      cursor?: string | null | undefined
      /** Default: the latest day with a point */
      day?: Day | undefined
      /** left-out: only points that are not in the sum */
      only?: 'left-out' | undefined
    }
    data: UserPoints
  }
  /** All pilgrims with their statistics */
  listUsers: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
      /** While more than 200 pilgrims have pending points, or the buffer is unavailable, the order goes by the figures of the last flush */
      sort?: UserSort | undefined
      /** Default: asc for userId, desc for figures */
      order?: 'asc' | 'desc' | undefined
      /** Part of a user id or a display name */
      search?: string | number | undefined
      /** Only pilgrims who take part and whose latest point is older than this many hours. With sort=last_seen only */
      silent_hours?: number | undefined
      /** Only pilgrims who have a tracker, or a link that they passed on and that works */
      with_links?: 'true' | undefined
    }
    data: ListUsersAnswer
  }
  /** The profile that GPSLogger’s set-up link loads: custom URL, 30 s, 20 m */
  loadGpsloggerProfile: {
    input: {
      /** The tracker’s key */
      key: string
    }
    data: string
  }
  /** What ending the event would do now; changes nothing. A dry run of push to all returns the recipients of the summary */
  previewEnd: {
    input: Nothing
    data: EndPreview
  }
  /** Where this API is documented */
  readApiIndex: {
    input: Nothing
    data: Index
  }
  /** The public board: reports and their status, newest first */
  readBoard: {
    input: {
      limit?: number | undefined
      cursor?: string | null | undefined
      status?: FeedbackStatus | undefined
      category?: string | number | undefined
      /** Reports with these words in their text, their category or the operators’ note. With a token only */
      search?: string | number | undefined
    }
    data: ReadBoardAnswer
  }
  /** Carbon footprint of the event: total, by mode, by day, and self-reported consumption */
  readCarbon: {
    input: Nothing
    data: Carbon
  }
  /** The current share card, redrawn when its content has changed. The file is <userId>.png */
  readCard: {
    input: {
      file: string
    }
    data: Blob
  }
  /** GeoJSON of grid cells with their numbers of points and pilgrims; front, middle and tail of the walk */
  readClusters: {
    input: {
      /** Zoom of the cells: 0.2° wide at 6, half as wide at each further zoom up to 18 */
      zoom?: number | undefined
      /** west,south,east,north: cells inside it or on its edge */
      bbox?: BoundingBox | undefined
      /** Counts points and latest positions from the start of this hour on */
      since?: Instant | undefined
      /** Counts only up to the start of this hour: users are those whose latest position of all is in this time */
      until?: Instant | undefined
      /** Omits cells with fewer pilgrims, for public maps */
      k?: number | undefined
    }
    data: Clusters
  }
  /** Health of each part, what is wrong and what to do about it, and the latest backup */
  readCondition: {
    input: Nothing
    data: Condition
  }
  /** One point that the database refused */
  readDeadLetter: {
    input: {
      id: number
    }
    data: DeadLetter
  }
  /** The script of the page. With its version as v, caches may keep it for ever */
  readDocsScript: {
    input: {
      /** Version of the script */
      v?: string | number | undefined
    }
    data: string
  }
  /** What an app needs at its start: the event’s name, status and message, and how pilgrims are identified */
  readEventConfig: {
    input: Nothing
    data: EventConfig
  }
  /** All that a follower of the event needs, made every ten seconds; caches may keep it. It shows crowds, and of single pilgrims the palanquin alone */
  readEventMap: {
    input: {
      /** Version of an earlier answer: returns what has changed, or the whole map if the version is too old */
      since?: string | number | undefined
    }
    data: ReadEventMapAnswer
  }
  /** Health report, inside the envelope and at the top level; 503 while db or kv has an error */
  readHealth: {
    input: Nothing
    data: HealthAnswer
  }
  /** Where this API is documented */
  readIndex: {
    input: Nothing
    data: Index
  }
  /** The last 60 minutes: how many pilgrims walk, and the check-ins and points that were received */
  readLastHour: {
    input: Nothing
    data: LastHour
  }
  /** Counters of all points ever received, by what happened to them */
  readLedger: {
    input: Nothing
    data: Ledger
  }
  /** Use of the monthly message quota */
  readLineUsage: {
    input: Nothing
    data: LineUsage
  }
  /** Latest position of each pilgrim, at most five seconds old */
  readMap: {
    input: {
      limit?: number | undefined
      /** Without it: a day ago; without a token not earlier */
      since?: Instant | undefined
      bbox?: BoundingBox | undefined
    }
    data: LiveMap
  }
  /** Rich menu of each language */
  readMenus: {
    input: Nothing
    data: MenuStatus
  }
  /** Scheduled notifications */
  readNotifications: {
    input: Nothing
    data: Notifications
  }
  /** This API as an OpenAPI 3.1 document */
  readOpenApi: {
    input: Nothing
    data: ReadOpenApiAnswer
  }
  /** The pilgrim’s own way: all days, and one day’s line, check-ins and carbon with its reasons. With EVENT_IDENTITY=line the ID token proves who calls. With open identity only an id that an app made from 128 random bits is accepted, because other ids may be known to others */
  readOwnWalk: {
    input: Caller<OwnWalkRequest>
    data: OwnWalk
  }
  /** Profile and statistics of a pilgrim, including pending points */
  readProfile: {
    input: {
      userId: UserId
    }
    data: Profile
  }
  /** Progress of a message */
  readPush: {
    input: {
      id: string
    }
    data: PushProgress
  }
  /** Role of the caller’s token */
  readRole: {
    input: Nothing
    data: CallerRole
  }
  /** The route and its stations. With the version of the map as v, caches may keep it for ever */
  readRoute: {
    input: {
      /** Version of the route */
      v?: string | number | undefined
    }
    data: EventRoute
  }
  /** An uploaded screenshot; the file is <name>.png */
  readScreenshot: {
    input: {
      file: string
    }
    data: Blob
  }
  /** Activity status, and progress of the end of the event */
  readStatus: {
    input: Nothing
    data: Activity
  }
  /** Figures by day and hour in the event’s time zone, by the points’ own time */
  readTimeline: {
    input: Nothing
    data: Timeline
  }
  /** All data of one pilgrim, with the unmasked phone number; each call is written to the audit log */
  readUser: {
    input: {
      userId: UserId
    }
    data: UserDetail
  }
  /** Receives webhook events from the LINE platform; authenticated by the signature of the raw body */
  receiveWebhook: {
    input: LineDelivery
    data: ReceiveWebhookAnswer
  }
  /** Requeues a dead letter into the buffer; if the database refuses it again, it returns with the new reason */
  requeueDeadLetter: {
    input: {
      id: number
    }
    data: Replayed
  }
  /** Revokes a link at once; it can not be restored */
  revokeShare: {
    input: {
      id: string
      /** May be sent as the header X-Line-User-Id instead */
      user_id?: UserId | undefined
    }
    data: RevokeShareAnswer
  }
  /** Ends all links that a pilgrim or the bot has made to the pilgrim’s page */
  revokeSharesOfUser: {
    input: {
      userId: UserId
    }
    data: RevokeSharesOfUserAnswer
  }
  /** Revokes a tracker: its key is refused from the answer on, by every replica */
  revokeTracker: {
    input: {
      id: string
      user_id?: UserId | undefined
    }
    data: RevokeTrackerAnswer
  }
  /** Revokes a pilgrim’s tracker, such as that of a lost phone: its key is refused from the answer on */
  revokeTrackerOfUser: {
    input: {
      userId: UserId
      id: string
    }
    data: RevokeTrackerOfUserAnswer
  }
  /** Queues a message to an audience; it is sent in the background */
  sendPush: {
    input: PushRequest
    data: PushAnswer
  }
  /** Replaces the scheduled notifications */
  setNotifications: {
    input: SetNotificationsRequest
    data: Notifications
  }
  /** Names the pilgrim whose device is the palanquin, instead of an earlier one, or takes the name back. Its place and time are public and exact */
  setPalanquin: {
    input: {
      userId: UserId
    } & SetPalanquinRequest
    data: SetPalanquinAnswer
  }
  /** Sets the participant status to active, completed or withdrawn; a pilgrim cannot leave completed */
  setParticipantStatus: {
    input: Caller<ParticipantStatusRequest>
    data: ParticipantStatusAnswer
  }
  /** Sets or clears the phone number */
  setPhone: {
    input: Caller<PhoneRequest>
    data: SetPhoneAnswer
  }
  /** Records privacy consent or its withdrawal */
  setPrivacy: {
    input: Caller<PrivacyRequest>
    data: PrivacyAnswer
  }
  /** Pauses or resumes the event; applies to the next request on every replica. Repeating the current status changes only the message */
  setStatus: {
    input: SetStatusRequest
    data: Activity
  }
  /** Sets any participant status of a pilgrim */
  setUserStatus: {
    input: {
      userId: UserId
    } & SetParticipantRequest
    data: ParticipantStatusAnswer
  }
  /** This API as a page: search, examples, and a form to try each request on this server */
  showDocs: {
    input: Nothing
    data: string
  }
  /** The page of a link, for everybody who has it; with .png at the end its card. A link that is revoked, expired or unknown gets 410 */
  showShare: {
    input: {
      file: string
      /** zh-Hant, zh-Hans, en or ja; for any other value Accept-Language decides */
      lang?: string | number | undefined
    }
    data: Blob
  }
  /** Submits feedback; a user id is optional */
  submitFeedback: {
    input: Caller<FeedbackRequest>
    data: SubmitFeedbackAnswer
  }
  /** Stores survey answers Q1 to Q10; a new submission replaces the previous one, which stays in the history */
  submitSurvey: {
    input: Caller<Survey>
    data: SubmitAnswer
  }
  /** Stores survey answers Q1 to Q10; a new submission replaces the previous one, which stays in the history */
  submitSurveyAlias: {
    input: Caller<Survey>
    data: SubmitAnswer
  }
  /** Sends the event’s messages to this device by Web Push. Safe to repeat: one device has one subscription. A pilgrim has at most 10; one more replaces the oldest */
  subscribeToPush: {
    input: Caller<PushSubscriptionRequest>
    data: PushDevice
  }
  /** Updates profile data and self-reported figures; returns the whole profile */
  syncProfile: {
    input: Caller<UserSyncRequest>
    data: Profile
  }
  /** Accepts a batch of GPS track points; the answer says which points the phone may delete */
  syncTrack: {
    input: Caller<TrackBatch>
    data: TrackSyncAnswer
  }
  /** Ends the messages to a device */
  unsubscribeFromPush: {
    input: {
      id: string
      user_id?: UserId | undefined
    }
    data: UnsubscribeFromPushAnswer
  }
  /** Changes the status or note of an item; fixed sets resolved_at, any other status clears it */
  updateFeedback: {
    input: {
      id: number
    } & FeedbackUpdate
    data: FeedbackItem
  }
  /** Uploads a screenshot (PNG, JPEG or WebP) as raw image, multipart/form-data (field file), or JSON {image: base64 or data URL} */
  uploadScreenshot: {
    input: RawBody
    data: Screenshot
  }
  /** Counts that the page of a link was opened. The page sends it itself, and it carries nothing of the reader; a link that is unknown or has ended counts nothing */
  viewShare: {
    input: {
      id: string
    }
    data: ViewShareAnswer
  }
}

/** The data of the events of the operators' stream, by name. */
export interface StreamEvents {
  snapshot: Snapshot
  status: StreamStatus
  ending: Ending
  counts: StreamCounts
  cells: StreamCells
  alert: StreamAlert
}

/** How each operation is called: method, path with ~ for /api/event, and flags (see shared/service/openapi/write-client.ts). */
export const OPERATIONS = {
  assignRole: 'POST ~/admin/roles a',
  changeShare: 'PATCH ~/shares/{id} ub',
  checkIn: 'POST ~/checkin ub',
  countPhotos: 'GET ~/photos/count uq',
  createShare: 'POST ~/shares ub',
  createTracker: 'POST ~/trackers ub',
  deployMenus: 'POST ~/admin/richmenu a',
  drawCard: 'POST ~/og-image aub',
  dropDeadLetter: 'DELETE ~/admin/dead-letters/{id} a',
  endActivity: 'POST ~/admin/end-activity a',
  eraseOwnData: 'POST ~/me/erase ub',
  eraseUser: 'DELETE ~/admin/users/{userId} a',
  exportOwnData: 'POST ~/me/export ubj',
  exportUser: 'GET ~/admin/users/{userId}/export aj',
  forceFlush: 'POST ~/admin/flush a',
  ingestGpslogger: 'POST ~/ingest/{key}/gpslogger rj',
  ingestGpsloggerQuery: 'GET ~/ingest/{key}/gpslogger j',
  ingestOsmand: 'GET ~/ingest/{key}/osmand j',
  ingestOverland: 'POST ~/ingest/{key}/overland j',
  ingestOwntracks: 'POST ~/ingest/{key}/owntracks j',
  ingestTraccar: 'POST ~/ingest/{key}/traccar j',
  ingestTraccarQuery: 'GET ~/ingest/{key}/traccar j',
  listAudit: 'GET ~/admin/audit a',
  listDeadLetters: 'GET ~/admin/dead-letters a',
  listFeedback: 'GET ~/feedback a',
  listLeftOut: 'GET ~/push/left-out a',
  listMessages: 'GET ~/push a',
  listPushSubscriptions: 'GET ~/push-subscriptions uq',
  listRoles: 'GET ~/admin/roles a',
  listShares: 'GET ~/shares uq',
  listSurveys: 'GET ~/admin/surveys a',
  listTokens: 'GET ~/admin/tokens a',
  listTrackers: 'GET ~/trackers uq',
  listUserMessages: 'GET ~/admin/users/{userId}/messages a',
  listUserPoints: 'GET ~/admin/users/{userId}/points a',
  listUsers: 'GET ~/admin/users a',
  loadGpsloggerProfile: 'GET ~/ingest/{key}/gpslogger.properties t',
  openStream: 'GET ~/admin/stream at',
  previewEnd: 'GET ~/admin/end-activity a',
  readApiIndex: 'GET /api',
  readBoard: 'GET ~/feedback/status',
  readCarbon: 'GET ~/admin/carbon a',
  readCard: 'GET ~/og/{file} o',
  readClusters: 'GET ~/admin/clusters a',
  readCondition: 'GET ~/admin/condition a',
  readDeadLetter: 'GET ~/admin/dead-letters/{id} a',
  readDocsScript: 'GET ~/docs/rapidoc.js t',
  readEventConfig: 'GET ~/config',
  readEventMap: 'GET ~/map',
  readHealth: 'GET /health j',
  readIndex: 'GET ~',
  readLastHour: 'GET ~/admin/last-hour a',
  readLedger: 'GET ~/admin/ledger a',
  readLineUsage: 'GET ~/line-usage a',
  readMap: 'GET ~/data a',
  readMenus: 'GET ~/admin/richmenu a',
  readNotifications: 'GET ~/admin/notifications a',
  readOpenApi: 'GET ~/openapi.json j',
  readOwnWalk: 'POST ~/me/walk ub',
  readProfile: 'GET ~/user/{userId} au',
  readPush: 'GET ~/push/{id} a',
  readRole: 'GET ~/auth/role a',
  readRoute: 'GET ~/route',
  readScreenshot: 'GET ~/feedback-image/{file} o',
  readStatus: 'GET ~/admin/status a',
  readTimeline: 'GET ~/admin/timeline a',
  readUser: 'GET ~/admin/users/{userId} a',
  receiveWebhook: 'POST ~/webhook',
  requeueDeadLetter: 'POST ~/admin/dead-letters/{id}/replay a',
  revokeShare: 'DELETE ~/shares/{id} uq',
  revokeSharesOfUser: 'DELETE ~/admin/users/{userId}/shares a',
  revokeTracker: 'DELETE ~/trackers/{id} uq',
  revokeTrackerOfUser: 'DELETE ~/admin/users/{userId}/trackers/{id} a',
  sendPush: 'POST ~/push a',
  setNotifications: 'PUT ~/admin/notifications a',
  setPalanquin: 'PUT ~/admin/users/{userId}/palanquin a',
  setParticipantStatus: 'POST ~/participant-status ub',
  setPhone: 'POST ~/user/phone ub',
  setPrivacy: 'POST ~/privacy ub',
  setStatus: 'PUT ~/admin/status a',
  setUserStatus: 'PUT ~/admin/users/{userId}/status a',
  showDocs: 'GET ~/docs t',
  showShare: 'GET /s/{file} o',
  submitFeedback: 'POST ~/feedback ub',
  submitSurvey: 'POST ~/submit ub',
  submitSurveyAlias: 'POST ~/survey ub',
  subscribeToPush: 'POST ~/push-subscriptions ub',
  syncProfile: 'POST ~/user/sync ub',
  syncTrack: 'POST ~/track/sync ub',
  unsubscribeFromPush: 'DELETE ~/push-subscriptions/{id} uq',
  updateFeedback: 'PATCH ~/feedback/{id} a',
  uploadScreenshot: 'POST ~/feedback-upload uhr',
  viewShare: 'POST ~/shares/{id}/views',
} as const

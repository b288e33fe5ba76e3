/**
 * Requests of tracker apps for a position, written as in their sources. Each body has the app's own fields,
 * units and marks for unknown values.
 */
import type { TrackerApp } from '#shared/contracts/trackers.ts'

/** A position. Times are whole seconds, because most apps send no fractions. */
export interface Fix {
  readonly lat: number
  readonly lng: number
  /** Epoch milliseconds. */
  readonly ms: number
  /** m/s; null: unknown to the phone. */
  readonly speedMs: number | null
}

/** A request to `/api/event/ingest/{key}/{app}`. */
export interface Sent {
  readonly app: TrackerApp
  readonly method: 'GET' | 'POST'
  readonly query?: string
  readonly type?: string
  readonly body?: string
}

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
export const seconds = ({ ms }: Fix): number => ms / 1_000
export const iso = ({ ms }: Fix): string => new Date(ms).toISOString()
export const post = (app: TrackerApp, value: unknown, type = JSON_TYPE): Sent => ({
  app,
  method: 'POST',
  type,
  body: JSON.stringify(value),
})

const OWNTRACKS = { batt: 74, bs: 1, tid: 'AB', topic: 'owntracks/user/device' }

/** owntracks/ios 2026-08-19, Owntracks model: zero values are omitted, `topic` is added for HTTP. */
export const ownTracksIos = (fix: Fix): Sent =>
  post('owntracks', {
    _type: 'location',
    acc: 8,
    alt: 12,
    ...OWNTRACKS,
    BSSID: 'b0:f2:8:45:94:33',
    cog: 12,
    conn: 'm',
    created_at: seconds(fix) + 2,
    lat: fix.lat,
    lon: fix.lng,
    m: 2,
    p: 100.507,
    tst: seconds(fix),
    vac: 4,
    ...(fix.speedMs ? { vel: Math.round(fix.speedMs * 3.6) } : {}),
  })

/** owntracks/android 2026-06-14, model/messages/MessageLocation.kt: `vel` is 0 when it is unknown. */
export const ownTracksAndroid = (fix: Fix): Sent =>
  post('owntracks', {
    _type: 'location',
    _id: '3f1c2a9e',
    acc: 12,
    alt: 12,
    ...OWNTRACKS,
    cog: 90,
    conn: 'w',
    created_at: seconds(fix) + 1,
    inregions: [],
    lat: fix.lat,
    lon: fix.lng,
    m: 2,
    motionactivities: ['walking'],
    source: 'fused',
    t: 't',
    tst: seconds(fix),
    vac: 3,
    vel: Math.round((fix.speedMs ?? 0) * 3.6),
  })

/** aaronpk/Overland-iOS 2024-10-24, GLManager.m `currentDictionaryFromLocation:`; −1 is unknown. */
export const overlandFeature = (fix: Fix) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [fix.lng, fix.lat] },
  properties: {
    timestamp: iso(fix).replace('.000Z', 'Z'),
    altitude: 12,
    speed: fix.speedMs === null ? -1 : Math.round(fix.speedMs),
    course: -1,
    horizontal_accuracy: 6,
    vertical_accuracy: -1,
    speed_accuracy: -1,
    course_accuracy: -1,
    motion: ['walking'],
    battery_state: 'unplugged',
    battery_level: 0.74,
    wifi: '',
    device_id: '2f6d1c90',
    pauses: false,
    activity: 'other_navigation',
    desired_accuracy: -1,
    tracking_mode: 1,
    locations_in_payload: 1,
  },
})
export const overland = (...fixes: readonly Fix[]): Sent =>
  post('overland', { locations: fixes.map(overlandFeature) })

/** Overland's records without a position: a visit, a pause, the end of a trip (GLManager.m). */
export const overlandRecords = (fix: Fix) => [
  {
    type: 'Feature',
    geometry: overlandFeature(fix).geometry,
    properties: {
      timestamp: iso(fix),
      action: 'visit',
      arrival_date: iso(fix),
      departure_date: null,
      horizontal_accuracy: 30,
    },
  },
  {
    type: 'Feature',
    geometry: overlandFeature(fix).geometry,
    properties: { timestamp: iso(fix), action: 'paused_location_updates' },
  },
  {
    type: 'Feature',
    geometry: overlandFeature(fix).geometry,
    properties: {
      timestamp: iso(fix),
      type: 'trip',
      mode: 'walk',
      start: iso(fix),
      end: iso(fix),
      distance: 900,
    },
  },
]

/** traccar/traccar-client-android 2025-06-07, ProtocolFormatter.kt: all in the query, an empty body, knots. */
export const traccar8 = (fix: Fix): Sent => ({
  app: 'traccar',
  method: 'POST',
  query: new URLSearchParams({
    id: '84013772',
    timestamp: String(seconds(fix)),
    lat: String(fix.lat),
    lon: String(fix.lng),
    speed: String((fix.speedMs ?? 0) * 1.943844),
    bearing: '0.0',
    altitude: '12.0',
    // GPS fixes have no accuracy in this version.
    accuracy: '0.0',
    batt: '74.0',
  }).toString(),
})

/** traccar/traccar-client 23558b0, lib/preferences.dart `_locationTemplate`: JSON, m/s, −1 is unknown. */
export const traccar9 = (fix: Fix, event = 'motionchange'): Sent =>
  post('traccar', {
    location: {
      timestamp: iso(fix),
      coords: {
        latitude: fix.lat,
        longitude: fix.lng,
        accuracy: 7.3,
        speed: fix.speedMs ?? -1,
        heading: -1,
        altitude: 12.4,
      },
      is_moving: true,
      odometer: 1204.7,
      event,
      battery: { level: 0.74, is_charging: false },
      activity: { type: 'walking' },
      extras: event === 'heartbeat' ? { heartbeat: true } : {},
      _: `&id=84013772&lat=${fix.lat}&lon=${fix.lng}&timestamp=${iso(fix)}&`,
    },
    device_id: '84013772',
  })

const flat10 = (fix: Fix) => ({
  id: '84013772',
  lat: fix.lat,
  lon: fix.lng,
  timestamp: seconds(fix),
  accuracy: 5.2,
  altitude: 12.4,
  ...(fix.speedMs === null ? {} : { speed: Number((fix.speedMs * 1.943844).toFixed(2)) }),
  bearing: 12.1,
  batt: 74,
  charge: false,
})

/** traccar_client_sdk 0.0.12, HttpUploader.kt: a form, knots with two digits. */
export const traccar10 = (fix: Fix): Sent => ({
  app: 'traccar',
  method: 'POST',
  type: FORM_TYPE,
  body: new URLSearchParams(
    Object.entries(flat10(fix)).map(([name, value]) => [name, String(value)]),
  ).toString(),
})

/** The same with `uploadJson`: a list of the same objects. */
export const traccar10Json = (...fixes: readonly Fix[]): Sent => post('traccar', fixes.map(flat10))

/** traccar_client_sdk: a heartbeat while the phone has no position (traccar-client#197). */
export const traccar10Heartbeat = (fix: Fix): Sent => ({
  app: 'traccar',
  method: 'POST',
  type: FORM_TYPE,
  body: `id=84013772&timestamp=${seconds(fix)}&batt=74&charge=false`,
})

/** osmandapp/OsmAnd, monitoring/live/LiveSender.java, with this service's template: ms, m/s. */
export const osmAnd = (fix: Fix): Sent => ({
  app: 'osmand',
  method: 'GET',
  query: `lat=${fix.lat}&lon=${fix.lng}&timestamp=${fix.ms}&altitude=12.4&speed_ms=${fix.speedMs ?? 0}`,
})

/** mendhak/gpslogger 2026-07-18, CustomUrlManager.java, with this service's profile: a form, seconds, m/s. */
export const gpsLogger = (fix: Fix): Sent => ({
  app: 'gpslogger',
  method: 'POST',
  type: FORM_TYPE,
  body: `lat=${fix.lat}&lon=${fix.lng}&timestamp=${seconds(fix)}&accuracy=6.0&altitude=12.4&speed_ms=${fix.speedMs ?? 0}`,
})

/** The same with the app's placeholder %ALL in the query. */
export const gpsLoggerAll = (fix: Fix): Sent => ({
  app: 'gpslogger',
  method: 'GET',
  query:
    `lat=${fix.lat}&lon=${fix.lng}&sat=11&desc=&alt=12.4&acc=6.0&dir=12.0&prov=gps` +
    `&spd_kph=${(fix.speedMs ?? 0) * 3.6}&spd=${fix.speedMs ?? 0}&timestamp=${seconds(fix)}` +
    `&time=${encodeURIComponent(iso(fix))}&date=2026-04-12&batt=74.0&ischarging=false&aid=0&ser=0&act=` +
    `&filename=20260412&profile=gpslogger&hdop=0.9&vdop=&pdop=&dist=900&`,
})

/** All forms of a single position, by app version. */
export const FORMS: Readonly<Record<string, (fix: Fix) => Sent>> = {
  'OwnTracks, iOS': ownTracksIos,
  'OwnTracks, Android': ownTracksAndroid,
  Overland: overland,
  'Traccar Client 8': traccar8,
  'Traccar Client 9': traccar9,
  'Traccar Client 10': traccar10,
  'Traccar Client 10, JSON': traccar10Json,
  OsmAnd: osmAnd,
  GPSLogger: gpsLogger,
  'GPSLogger, %ALL': gpsLoggerAll,
}

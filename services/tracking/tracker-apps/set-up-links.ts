/** The setup of each tracker app: the address, the app's own setup link, and its QR code. */
import encodeQr from 'qr'
import { ROUGH_M } from '#shared/core/rules/geo.ts'
import type { AppSetUp, NewTracker, TrackerApp } from '#shared/contracts/trackers.ts'

/** Settings that suit a walk: a point about every half minute or 20 m, by GPS. */
const INTERVAL_S = 30
const DISTANCE_M = 20

/** The quiet zone that readers of QR codes need, in modules. */
const QUIET_ZONE = 4

/** A device's name in an app: the beginning of the tracker's id, because an app may show or send it. */
const deviceOf = (id: string): string => id.slice(0, 8)

export const ingestUrl = (publicUrl: string, key: string, app: TrackerApp): string =>
  `${publicUrl}/api/event/ingest/${key}/${app}`

/**
 * Settings by name as in owntracks/booklet, docs/tech/json.md. Mode 3 is HTTP. Monitoring 2 is "move": on Android it
 * has high accuracy and its own interval; without the pegged interval it sends up to a point a second.
 */
function ownTracksLink(url: string, id: string): string {
  const configuration = {
    _type: 'configuration',
    mode: 3,
    url,
    auth: false,
    deviceId: deviceOf(id),
    tid: deviceOf(id).slice(0, 2),
    monitoring: 2,
    locatorInterval: INTERVAL_S,
    locatorDisplacement: DISTANCE_M,
    ignoreInaccurateLocations: ROUGH_M,
    moveModeLocatorInterval: INTERVAL_S,
    pegLocatorFastestIntervalToInterval: true,
  }
  const inline = Buffer.from(JSON.stringify(configuration)).toString('base64')
  return `owntracks:///config?inline=${encodeURIComponent(inline)}`
}

/** aaronpk/Overland-iOS, SceneDelegate.m. The app has no link for intervals: it records what iOS reports. */
const overlandLink = (url: string, id: string): string =>
  `overland://setup?url=${encodeURIComponent(url)}&device_id=${deviceOf(id)}&unique_id=no`

/** traccar/traccar-client, lib/configuration_service.dart. */
const traccarLink = (url: string, id: string): string =>
  `org.traccar.client://config?url=${encodeURIComponent(url)}&id=${deviceOf(id)}` +
  `&interval=${INTERVAL_S}&distance=${DISTANCE_M}&accuracy=high&buffer=true`

/** mendhak/gpslogger, ProfileLinkReceiverActivity.java: the rest is the URL of a profile. */
const gpsLoggerLink = (url: string): string => `gpslogger://properties/${url}.properties`

/**
 * OsmAnd fills in the numbers (LiveMonitoringHelper.java): 0 latitude, 1 longitude, 2 time, 3 accuracy in metres
 * (called hdop), 4 altitude, 5 speed in m/s.
 */
const osmAndUrl = (url: string): string =>
  `${url}?lat={0}&lon={1}&timestamp={2}&accuracy={3}&altitude={4}&speed_ms={5}`

const setUp = (url: string, link: string | null): AppSetUp => ({
  url,
  link,
  qr: encodeQr(link ?? url, 'svg', { border: QUIET_ZONE }),
})

export function appsOf(publicUrl: string, id: string, key: string): NewTracker['apps'] {
  const url = (app: TrackerApp) => ingestUrl(publicUrl, key, app)
  return {
    owntracks: setUp(url('owntracks'), ownTracksLink(url('owntracks'), id)),
    overland: setUp(url('overland'), overlandLink(url('overland'), id)),
    traccar: setUp(url('traccar'), traccarLink(url('traccar'), id)),
    osmand: setUp(osmAndUrl(url('osmand')), null),
    gpslogger: setUp(url('gpslogger'), gpsLoggerLink(url('gpslogger'))),
  }
}

/**
 * A profile of GPSLogger: the names of mendhak/gpslogger, PreferenceNames.java. The app reads it as Java properties.
 * @param url the address that it sends to
 */
export const gpsLoggerProfile = (url: string): string =>
  [
    'log_customurl_enabled=true',
    `log_customurl_url=${url}`,
    'log_customurl_method=POST',
    'log_customurl_headers=Content-Type: application/x-www-form-urlencoded',
    'log_customurl_body=lat=%LAT&lon=%LON&timestamp=%TIMESTAMP&accuracy=%ACC&altitude=%ALT&speed_ms=%SPD',
    'log_customurl_discard_offline_locations_enabled=false',
    `time_before_logging=${INTERVAL_S}`,
    `distance_before_logging=${DISTANCE_M}`,
    'accuracy_before_logging=60',
    '',
  ].join('\n')

/** Parses the requests of tracker apps into points in the units of the contract. */
import { gunzipSync, inflateSync } from 'node:zlib'
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import { INGEST_BYTES, type IngestRejection } from '#shared/contracts/ingest.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { parseJson } from '#shared/service/http/body.ts'
import { invalid, Refusal } from '#shared/runtime/refusal.ts'
import { isSos } from './read-alarm.ts'
import {
  fieldsOf,
  isHeartbeat,
  isObject,
  isTime,
  numberOf,
  type Parameters,
  type SentFields,
  splitLocation,
  timeOf,
  valueOf,
} from './sent-fields.ts'

/** The content of an app's request. */
export interface Received {
  /** Points for `acceptTrack`, which validates each. */
  readonly points: readonly unknown[]
  /** Why other points are rejected, one reason for each. */
  readonly refused: readonly IngestRejection[]
  /** Whether a point without a time counts at its receipt. */
  readonly atReceipt?: boolean
  /** The point of each SOS; null for one without a readable place. */
  readonly sos?: readonly unknown[]
}

/** A message without any point, such as a low-battery notice. */
export const NO_POINT: Received = { points: [], refused: [] }
export const UNREADABLE: Received = { points: [], refused: ['unreadable'] }

/** Apps that drop a point within minutes, whatever the answer. */
export const IS_FORGETFUL: ReadonlySet<TrackerApp> = new Set(['gpslogger'])

const MOST = 1e9

/** A measurement; null when it is missing, not a number, or below `least`. */
function measured(value: unknown, least = -MOST): number | null {
  const number = numberOf(value)
  return number !== null && number >= least && number <= MOST ? number : null
}

/** Metres; 0 and below mean unknown. */
const accuracyOf = (value: unknown): number | null => measured(value, Number.MIN_VALUE)

const KMH_OF = { kmh: 1, knots: 1.852, metresASecond: 3.6 } as const
export type SpeedUnit = keyof typeof KMH_OF

/** km/h with two digits; below 0 is unknown. */
function speedOf(value: unknown, unit: SpeedUnit): number | null {
  const speed = measured(value, 0)
  return speed === null ? null : Math.round(speed * KMH_OF[unit] * 100) / 100
}

/** Degrees: digits become a number, and anything else is rejected later. */
const degrees = (value: unknown): unknown => measured(value) ?? value

const refusedAs = (reason: IngestRejection): Received => ({ points: [], refused: [reason] })

function together(all: readonly Received[]): Received {
  const sos = all.flatMap((one) => one.sos ?? [])
  return {
    points: all.flatMap(({ points }) => points),
    refused: all.flatMap(({ refused }) => refused),
    ...(sos.length > 0 && { sos }),
  }
}

/** Received points, marked as an SOS if the sent data contain one. */
function marked(received: Received, sent: unknown, depth?: number): Received {
  if (received.sos !== undefined || !isSos(sent, depth)) return received
  return { ...received, sos: [received.points.at(-1) ?? null] }
}

const tooMany = (advice: string) =>
  new Refusal(413, 'too-large', `The body has more than ${MAX_POINTS} positions: ${advice}.`)

const isNumber = (value: unknown): boolean => numberOf(value) !== null
const isFalse = (value: unknown): boolean =>
  value === false || value === 0 || (typeof value === 'string' && /^(false|0|no)$/i.test(value.trim()))

/** How an endpoint resolves what the table of names leaves open. */
interface Entrance {
  readonly app: TrackerApp
  /** Unit of the parameter `speed`: knots for Traccar, m/s for the other apps. */
  readonly unit: SpeedUnit
}

function speedIn(fields: SentFields, unit: SpeedUnit): number | null {
  return (
    speedOf(valueOf(fields, 'speedMs', isNumber), 'metresASecond') ??
    speedOf(valueOf(fields, 'speedKmh', isNumber), 'kmh') ??
    speedOf(valueOf(fields, 'speed', isNumber), unit)
  )
}

/**
 * Overland has a mode "Owntracks" whose times are seconds since 2001 (GLManager.m, timeIntervalSinceReferenceDate). As
 * seconds since 1970 they would be before September 2001.
 */
const REFERENCE_DATE_S = 978_307_200
const LEAST_S = 1e9

function timestampIn(app: TrackerApp, fields: SentFields): unknown {
  const timestamp = valueOf(fields, 'timestamp', isTime)
  const seconds = numberOf(timestamp)
  return app === 'owntracks' && seconds !== null && seconds < LEAST_S ? seconds + REFERENCE_DATE_S : timestamp
}

/** A point of the contract, which is validated later. */
function pointOf({ app, unit }: Entrance, fields: SentFields, lat: unknown, lng: unknown): Received {
  const speed = speedIn(fields, unit)
  // OsmAnd calls its accuracy in metres hdop (LiveMonitoringHelper.java); elsewhere hdop is a factor.
  const hdop = app === 'osmand' ? fields.get('hdop') : undefined
  const point = {
    lat: degrees(lat),
    lng: degrees(lng),
    timestamp: timeOf(timestampIn(app, fields)),
    accuracy: accuracyOf(valueOf(fields, 'accuracy', isNumber) ?? hdop),
    altitude: measured(valueOf(fields, 'altitude', isNumber)),
    // OwnTracks writes 0 for an unknown speed.
    speed: app === 'owntracks' && speed === 0 ? null : speed,
    source: app,
  }
  // A device without a fix sends exactly 0,0.
  return point.lat === 0 && point.lng === 0 ? refusedAs('invalid-position') : { points: [point], refused: [] }
}

/** One position by the table of names, or the reason why there is none. */
function readPosition(entrance: Entrance, sent: Parameters): Received {
  const fields = fieldsOf(sent)
  const location = fields.get('location')
  const [lat, lng] =
    typeof location === 'string'
      ? splitLocation(location)
      : [valueOf(fields, 'lat', isNumber), valueOf(fields, 'lng', isNumber)]
  if (lat === undefined && lng === undefined) return isHeartbeat(sent) ? NO_POINT : UNREADABLE
  if (lat === undefined || lng === undefined) return UNREADABLE
  // The time of a ping of OwnTracks is the time of sending, but its place may be hours old.
  const isPing = fields.get('type') === 'location' && fields.get('t') === 'p'
  return isPing || isFalse(fields.get('valid')) ? refusedAs('old-place') : pointOf(entrance, fields, lat, lng)
}

/** An object with a position. */
const readItem = (entrance: Entrance, item: unknown): Received => marked(readUnmarked(entrance, item), item)

/**
 * A position by its shape: that of Traccar Client 9 (flutter_background_geolocation: m/s, −1 for unknown) has `coords`,
 * one forwarded by Traccar's server has `position`.
 */
function readUnmarked(entrance: Entrance, item: unknown): Received {
  if (!isObject(item)) return UNREADABLE
  if (isOtherMessage(item)) return NO_POINT
  const { location, position, coords, ...rest } = item
  if (Array.isArray(location)) return together(location.map((one) => readItem(entrance, one)))
  if (isObject(location)) return readUnmarked(entrance, { ...rest, coords, ...location })
  if (isObject(position)) return readUnmarked(entrance, { ...rest, ...position })
  if (isObject(coords)) return readPosition({ ...entrance, unit: 'metresASecond' }, { ...rest, ...coords })
  // A heartbeat of Traccar Client 9 has everything but coordinates.
  if ('coords' in item && coords === null) return NO_POINT
  return isObject(item.geometry) ? readFeature(entrance, item) : readPosition(entrance, item)
}

const positionsIn = (item: unknown): number =>
  isObject(item) && Array.isArray(item.location) ? item.location.length : 1

/** Messages of OwnTracks other than positions (owntracks/booklet, docs/tech/json.md). */
const OTHER_MESSAGES = new Set(
  'beacon card cmd configuration dump lwt request status steps transition waypoint waypoints'.split(' '),
)
const isOtherMessage = ({ _type: type }: Parameters): boolean =>
  typeof type === 'string' && OTHER_MESSAGES.has(type)

function readJson(entrance: Entrance, value: unknown, query: Parameters): Received {
  if (isObject(value)) {
    const features = value.locations ?? value.features
    if (features !== undefined) return readFeatures(entrance, features)
  }
  const items: readonly unknown[] = Array.isArray(value)
    ? value
    : [isObject(value) ? { ...query, ...value } : value]
  if (items.reduce<number>((sum, item) => sum + positionsIn(item), 0) > MAX_POINTS)
    throw tooMany('send fewer at a time')
  return items.length === 0 ? UNREADABLE : together(items.map((item) => readItem(entrance, item)))
}

/** Visits, pauses and the like of Overland have an action; a finished trip has a type. */
const isPosition = (feature: unknown): boolean =>
  !isObject(feature) ||
  !isObject(feature.properties) ||
  ((feature.properties.action ?? null) === null && feature.properties.type !== 'trip')

/**
 * A GeoJSON feature of Overland (aaronpk/Overland-iOS, README.md and GLManager.m). The app always sends an accuracy:
 * without one, the place is old and iOS returned it with the current time.
 */
function readFeature(entrance: Entrance, feature: unknown): Received {
  if (!isObject(feature)) return { points: [feature], refused: [] }
  const fields = fieldsOf(isObject(feature.properties) ? feature.properties : {})
  const hasTime = valueOf(fields, 'timestamp', isTime) !== undefined
  const isOld = hasTime && accuracyOf(valueOf(fields, 'accuracy', isNumber)) === null
  if (entrance.app === 'overland' && isOld) return refusedAs('old-place')
  const { coordinates } = isObject(feature.geometry) ? feature.geometry : {}
  const [lng, lat] = Array.isArray(coordinates) ? (coordinates as unknown[]) : []
  return pointOf({ ...entrance, unit: 'metresASecond' }, fields, lat, lng)
}

/** The field `current` of an Overland batch is ignored: the same point follows in a later batch. */
function readFeatures(entrance: Entrance, features: unknown): Received {
  if (!Array.isArray(features)) return UNREADABLE
  if (features.length > MAX_POINTS) throw tooMany('choose a smaller batch size')
  return together(
    features.filter(isPosition).map((feature) => marked(readFeature(entrance, feature), feature)),
  )
}

/** A form is one position, about 300 bytes. Parsing a megabyte of names would take a quarter of a second. */
const MOST_FORM_BYTES = 16_384
const UTF8 = new TextDecoder()

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
/** The header of a zlib stream (RFC 1950), which HTTP calls deflate. Two letters of a form can look the same. */
const isZlib = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x78 && bytes.length > 2 && ((bytes[0] << 8) | bytes[1]!) % 31 === 0

/** @throws Refusal 413 when the unpacked body would be too large, 400 when it is damaged */
function unpacked(bytes: Uint8Array): Uint8Array {
  const isPacked = isGzip(bytes)
  if (!isPacked && !isZlib(bytes)) return bytes
  try {
    return (isPacked ? gunzipSync : inflateSync)(bytes, { maxOutputLength: INGEST_BYTES })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new Refusal(
        413,
        'too-large',
        `The body is larger than ${INGEST_BYTES} bytes: send fewer at a time.`,
      )
    if (!isPacked) return bytes
    throw invalid('body: is damaged')
  }
}

/** A body in UTF-16 begins with a byte-order mark. @returns the same text in UTF-8 */
function inUtf8(bytes: Uint8Array): Uint8Array {
  const label = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-16be'
  if (label === 'utf-16be' && !(bytes[0] === 0xfe && bytes[1] === 0xff)) return bytes
  return Buffer.from(new TextDecoder(label).decode(bytes))
}

/** Whether a body begins like JSON, after a byte-order mark and blanks. */
const isJson = (bytes: Uint8Array): boolean => /^\ufeff?\s*[[{]/.test(UTF8.decode(bytes.subarray(0, 64)))

/** Numbers that some programs write and JSON does not allow. They are searched only if JSON does not parse. */
const NO_NUMBERS = /([:[,]\s*)[-+]?(?:NaN|Infinity)\b/g

/** JSON in which a measurement may be NaN, as Python writes it. @throws Refusal 400 */
function readableJson(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    const text = UTF8.decode(bytes)
    const without = text.replaceAll(NO_NUMBERS, '$1null')
    if (without === text) throw error
    return parseJson(Buffer.from(without))
  }
}

/** The fields of a form, including a multipart one (RFC 7578), as Shortcuts on an iPhone sends it. */
function readForm(text: string): Parameters {
  if (!text.startsWith('--')) return Object.fromEntries(new URLSearchParams(text))
  const [boundary = ''] = text.split(/\r?\n/, 1)
  const parts = text.split(boundary).map((part): [string, string] => {
    const [head = '', ...value] = part.split(/\r?\n\r?\n/)
    return [/name="([^"]*)"/.exec(head)?.[1] ?? '', value.join('\n')]
  })
  return Object.fromEntries(parts.filter(([name]) => name !== ''))
}

/** Depth of the search for an SOS outside the items: in the query, the message, and their nested objects. */
const ENVELOPE = 3

/**
 * Reads a request: its query, a form or JSON. The body has precedence over the query.
 * @throws Refusal 400 for a body that begins like JSON but is invalid, 413 for more positions than an app sends
 */
function readSent(entrance: Entrance, query: Parameters, packed: Uint8Array): Received {
  const bytes = inUtf8(unpacked(packed))
  if (isJson(bytes)) {
    const value = readableJson(bytes)
    // The items of a list are already marked.
    return marked(readJson(entrance, value, query), [value, query], ENVELOPE)
  }
  if (bytes.length > MOST_FORM_BYTES) return UNREADABLE
  const text = UTF8.decode(bytes).trim()
  const form = readForm(text)
  // A body without any known field: another kind of form, or another encoding.
  if (text !== '' && fieldsOf(form).size === 0) return UNREADABLE
  const sent = { ...query, ...form }
  const received = marked(isOtherMessage(sent) ? NO_POINT : readPosition(entrance, sent), sent)
  return received.points.length > 0 ? { ...received, atReceipt: true } : received
}

/** Requests of Traccar Client, OsmAnd and GPSLogger. @throws Refusal as `readSent` */
export const readRequest = (
  app: TrackerApp,
  unit: SpeedUnit,
  query: Parameters,
  bytes: Uint8Array,
): Received => readSent({ app, unit }, query, bytes)

/** OwnTracks over HTTP: a JSON message, or its fields in the query or a form. @throws Refusal as `readSent` */
export const readOwnTracks = (bytes: Uint8Array, query: Parameters = {}): Received =>
  readSent({ app: 'owntracks', unit: 'kmh' }, query, bytes)

/** Overland: a batch of GeoJSON features. @throws Refusal as `readSent` */
export const readOverland = (bytes: Uint8Array, query: Parameters = {}): Received =>
  readSent({ app: 'overland', unit: 'metresASecond' }, query, bytes)

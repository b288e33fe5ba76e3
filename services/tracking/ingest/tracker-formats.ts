/** What tracker apps send, read into points in the units of the contract. */
import type { GpsPoint } from '#shared/contracts/gps-points.ts'
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import type { IngestRejection } from '#shared/contracts/ingest.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { parseJson } from '#shared/service/http/body.ts'
import { Refusal } from '#shared/runtime/refusal.ts'

/** What a request of an app contains. */
export interface Received {
  /** Points for `acceptTrack`, which validates each. */
  readonly points: readonly unknown[]
  /** Why other points are not taken, one reason for each. */
  readonly refused: readonly IngestRejection[]
}

/** A message without any point, such as the notice that the battery is low. */
export const NO_POINT: Received = { points: [], refused: [] }
export const UNREADABLE: Received = { points: [], refused: ['unreadable'] }

const MOST = 1e9

/** A measurement, as a number or in digits; null when it is missing, not a number, or below `least`. */
function measured(value: unknown, least = -MOST): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= least && number <= MOST ? number : null
}

/** Metres; 0 and below mean unknown. */
const accuracyOf = (value: unknown): number | null => measured(value, Number.MIN_VALUE)

const KMH_OF = { kmh: 1, knots: 1.852, metresASecond: 3.6 } as const
type SpeedUnit = keyof typeof KMH_OF

/** km/h with two digits; below 0 is unknown. */
function speedOf(value: unknown, unit: SpeedUnit): number | null {
  const given = measured(value, 0)
  return given === null ? null : Math.round(given * KMH_OF[unit] * 100) / 100
}

/** Degrees: a number stays what it is, digits become a number, and anything else is rejected later. */
const degrees = (value: unknown): unknown => measured(value) ?? value

/** Largest number that is read as epoch seconds; a larger one is milliseconds. (Traccar, OsmAndProtocolDecoder.java) */
const MOST_SECONDS = 2 ** 31 - 1
const DIGITS = /^\d+(\.\d+)?$/
const DATE_AND_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/** A time in the contract's form: epoch seconds become milliseconds, `YYYY-MM-DD HH:MM:SS` is UTC. */
function timeOf(value: unknown): unknown {
  if (typeof value === 'number') return value <= MOST_SECONDS ? value * 1_000 : value
  if (typeof value !== 'string') return value
  if (DIGITS.test(value)) return timeOf(Number(value))
  return DATE_AND_TIME.test(value) ? `${value.replace(' ', 'T')}Z` : value
}

type Fields = Record<Exclude<keyof GpsPoint, 'mode' | 'source'>, unknown>

/** A point of the contract, from what an app has sent. @param fields `speed` in km/h */
const sentPoint = (source: TrackerApp, fields: Fields) => ({
  lat: degrees(fields.lat),
  lng: degrees(fields.lng),
  timestamp: timeOf(fields.timestamp),
  accuracy: accuracyOf(fields.accuracy),
  altitude: measured(fields.altitude),
  speed: fields.speed,
  source,
})

const refusedAs = (reason: IngestRejection): Received => ({ points: [], refused: [reason] })

function onePoint(source: TrackerApp, fields: Fields): Received {
  const point = sentPoint(source, fields)
  // A device without a fix sends exactly 0,0.
  return point.lat === 0 && point.lng === 0 ? refusedAs('invalid-position') : { points: [point], refused: [] }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const tooMany = (advice: string) =>
  new Refusal(413, 'too-large', `The body has more than ${MAX_POINTS} positions: ${advice}.`)

// The parameters that Traccar Client, OsmAnd and GPSLogger send in the query, in a form or as JSON
// (traccar/traccar, OsmAndProtocolDecoder.java).

type Parameters = Readonly<Record<string, unknown>>

/** A form is one position, about 300 bytes. To take a megabyte of names apart would cost a quarter of a second. */
const MOST_FORM_BYTES = 16_384
const UTF8 = new TextDecoder()
const JSON_STARTS = new Set(['{'.charCodeAt(0), '['.charCodeAt(0)])

const isFalse = (value: unknown): boolean => value === false || value === 'false' || value === '0'

const together = (all: readonly Received[]): Received => ({
  points: all.flatMap(({ points }) => points),
  refused: all.flatMap(({ refused }) => refused),
})

/** @param unit of the parameter `speed`; Traccar's is knots, the other apps fill in m/s */
function readParameters(app: TrackerApp, unit: SpeedUnit, given: Parameters): Received {
  const [latitude, longitude] =
    typeof given.location === 'string' ? given.location.split(',') : [given.lat, given.lon ?? given.lng]
  // A heartbeat, or a notice of the phone without a position.
  if ((latitude ?? null) === null && (longitude ?? null) === null) return NO_POINT
  if (isFalse(given.valid)) return refusedAs('old-place')
  const speed =
    speedOf(given.speed_ms ?? given.spd, 'metresASecond') ??
    speedOf(given.spd_kph, 'kmh') ??
    speedOf(given.speed, unit)
  return onePoint(app, {
    lat: latitude,
    lng: longitude,
    timestamp: given.timestamp ?? given.time,
    accuracy: given.accuracy ?? given.acc,
    altitude: given.altitude ?? given.alt,
    speed,
  })
}

/** A position of Traccar Client 9 (flutter_background_geolocation): m/s, and −1 for unknown. */
function readLocation(app: TrackerApp, location: unknown): Received {
  if (!isObject(location)) return UNREADABLE
  if ((location.coords ?? null) === null) return NO_POINT
  const coords = isObject(location.coords) ? location.coords : {}
  return onePoint(app, {
    lat: coords.latitude,
    lng: coords.longitude,
    timestamp: location.timestamp,
    accuracy: coords.accuracy,
    altitude: coords.altitude,
    speed: speedOf(coords.speed, 'metresASecond'),
  })
}

const positionsIn = (item: unknown): number =>
  isObject(item) && Array.isArray(item.location) ? item.location.length : 1

function readJson(app: TrackerApp, unit: SpeedUnit, value: unknown): Received {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (items.reduce<number>((sum, item) => sum + positionsIn(item), 0) > MAX_POINTS)
    throw tooMany('send fewer at a time')
  return together(
    items.map((item): Received => {
      if (!isObject(item)) return UNREADABLE
      const { location } = item
      if (Array.isArray(location)) return together(location.map((one) => readLocation(app, one)))
      return isObject(location) ? readLocation(app, location) : readParameters(app, unit, item)
    }),
  )
}

/**
 * Reads the parameters of a request. Those of a form have precedence over the query.
 * @throws Refusal 400 for a body that begins like JSON and is none, 413 for more positions than an app sends
 */
export function readRequest(
  app: TrackerApp,
  unit: SpeedUnit,
  query: Parameters,
  bytes: Uint8Array,
): Received {
  if (JSON_STARTS.has(bytes[0]!)) return readJson(app, unit, parseJson(bytes))
  if (bytes.length > MOST_FORM_BYTES) return UNREADABLE
  const form = bytes.length === 0 ? {} : Object.fromEntries(new URLSearchParams(UTF8.decode(bytes)))
  return readParameters(app, unit, { ...query, ...form })
}

// OwnTracks over HTTP: one JSON message per request (owntracks/booklet, docs/tech/json.md and http.md).

/**
 * Overland has a mode "Owntracks" whose times are seconds since 2001 (GLManager.m, timeIntervalSinceReferenceDate).
 * As seconds since 1970 they would lie before September 2001.
 */
const REFERENCE_DATE_S = 978_307_200
const LEAST_S = 1e9

/** @throws Refusal 400 for a body that is not JSON */
export function readOwnTracks(bytes: Uint8Array): Received {
  // A friend who was deleted in the app arrives as an empty message.
  if (bytes.length === 0) return NO_POINT
  const message = parseJson(bytes)
  if (!isObject(message)) return UNREADABLE
  const { _type: type } = message
  if (type === 'encrypted') return UNREADABLE
  if (type !== 'location') return NO_POINT
  // The time of a ping is the time of sending, but its place may be hours old.
  if (message.t === 'p') return refusedAs('old-place')
  const speed = speedOf(message.vel, 'kmh')
  const { tst } = message
  return onePoint('owntracks', {
    lat: message.lat,
    lng: message.lon,
    timestamp: typeof tst === 'number' && tst < LEAST_S ? tst + REFERENCE_DATE_S : tst,
    accuracy: message.acc,
    altitude: message.alt,
    speed: speed === 0 ? null : speed,
  })
}

// Overland: a batch of GeoJSON features (aaronpk/Overland-iOS, README.md and GLManager.m).

/** Visits, pauses and the like have an action; a finished trip has a type. */
const isPosition = (properties: unknown): boolean =>
  !isObject(properties) || ((properties.action ?? null) === null && properties.type !== 'trip')

function readFeature(feature: unknown): Received {
  if (!isObject(feature)) return { points: [feature], refused: [] }
  const geometry = isObject(feature.geometry) ? feature.geometry : {}
  const properties = isObject(feature.properties) ? feature.properties : {}
  const [lng, lat] = Array.isArray(geometry.coordinates) ? (geometry.coordinates as unknown[]) : []
  // The app always sends an accuracy. A place without one is an old place that iOS returned with the present time.
  const hasTime = (properties.timestamp ?? null) !== null
  if (hasTime && accuracyOf(properties.horizontal_accuracy) === null) return refusedAs('old-place')
  return onePoint('overland', {
    lat,
    lng,
    timestamp: properties.timestamp,
    accuracy: properties.horizontal_accuracy,
    altitude: properties.altitude,
    speed: speedOf(properties.speed, 'metresASecond'),
  })
}

/**
 * The field `current` is not read: the same point follows in a later batch.
 * @throws Refusal 400 for a body that is not JSON, 413 for a batch that is larger than the app makes them
 */
export function readOverland(bytes: Uint8Array): Received {
  if (bytes.length === 0) return NO_POINT
  const batch = parseJson(bytes)
  if (!isObject(batch)) return UNREADABLE
  const features = batch.locations ?? []
  if (!Array.isArray(features)) return UNREADABLE
  if (features.length > MAX_POINTS) throw tooMany('choose a smaller batch size')
  const positions = features.filter((feature) => !isObject(feature) || isPosition(feature.properties))
  return together(positions.map(readFeature))
}

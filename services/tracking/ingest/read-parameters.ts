/**
 * The parameters that Traccar Client, OsmAnd and GPSLogger send in the query, in a form or as JSON
 * (traccar/traccar, OsmAndProtocolDecoder.java).
 */
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { parseJson } from '#shared/http/body.ts'
import { Refusal } from '#shared/http/errors.ts'
import {
  accuracyOf,
  degrees,
  isObject,
  measured,
  NO_POINT,
  type Received,
  sentPoint,
  type SpeedUnit,
  speedOf,
  timeOf,
  UNREADABLE,
} from './sent-point.ts'

type Parameters = Readonly<Record<string, unknown>>

/** A form is one position, about 300 bytes. To take a megabyte of names apart would cost a quarter of a second. */
const MOST_FORM_BYTES = 16_384
const UTF8 = new TextDecoder()
const JSON_STARTS = new Set(['{'.charCodeAt(0), '['.charCodeAt(0)])

const isFalse = (value: unknown): boolean => value === false || value === 'false' || value === '0'

/** Merges what several requests of an app contain. */
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
  if (isFalse(given.valid)) return { points: [], refused: ['old-place'] }
  const speed =
    speedOf(given.speed_ms ?? given.spd, 'metresASecond') ??
    speedOf(given.spd_kph, 'kmh') ??
    speedOf(given.speed, unit)
  return {
    points: [
      sentPoint(app, {
        lat: degrees(latitude),
        lng: degrees(longitude),
        timestamp: timeOf(given.timestamp ?? given.time),
        accuracy: accuracyOf(given.accuracy ?? given.acc),
        altitude: measured(given.altitude ?? given.alt),
        speed,
      }),
    ],
    refused: [],
  }
}

/** A position of Traccar Client 9 (flutter_background_geolocation): m/s, and −1 for unknown. */
function readLocation(app: TrackerApp, location: unknown): Received {
  if (!isObject(location)) return UNREADABLE
  if ((location.coords ?? null) === null) return NO_POINT
  const coords = isObject(location.coords) ? location.coords : {}
  return {
    points: [
      sentPoint(app, {
        lat: degrees(coords.latitude),
        lng: degrees(coords.longitude),
        timestamp: timeOf(location.timestamp),
        accuracy: accuracyOf(coords.accuracy),
        altitude: measured(coords.altitude),
        speed: speedOf(coords.speed, 'metresASecond'),
      }),
    ],
    refused: [],
  }
}

const positionsIn = (item: unknown): number =>
  isObject(item) && Array.isArray(item.location) ? item.location.length : 1

function readJson(app: TrackerApp, unit: SpeedUnit, value: unknown): Received {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (items.reduce<number>((sum, item) => sum + positionsIn(item), 0) > MAX_POINTS)
    throw new Refusal(
      413,
      'too-large',
      `The body has more than ${MAX_POINTS} positions: send fewer at a time.`,
    )
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

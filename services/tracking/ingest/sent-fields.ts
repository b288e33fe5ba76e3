/** The table of names under which tracker apps and forwarders send a field, and of the formats of its value. */

/** Named values of a request: the query, the form or the JSON object. */
export type Parameters = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Names in lower case without `_`, `-` and blanks. The first readable one counts. */
const NAMES = {
  lat: ['lat', 'latitude'],
  lng: ['lon', 'lng', 'long', 'longitude'],
  timestamp: ['timestamp', 'tst', 'fixtime', 'time', 'datetime', 'timestampms', 'recordedat', 'devicetime'],
  accuracy: ['accuracy', 'acc', 'horizontalaccuracy', 'hacc'],
  altitude: ['altitude', 'alt', 'ele', 'elevation'],
  speed: ['speed'],
  speedMs: ['speedms', 'spd', 'speedmps'],
  speedKmh: ['spdkph', 'speedkph', 'speedkmh', 'vel', 'velocity'],
} as const
export type FieldName = keyof typeof NAMES

/** Fields of a heartbeat. A request with any other field was meant to contain a position. */
const HEARTBEAT = new Set(
  [
    'id deviceid device uniqueid uid user userid u d tid topic key name',
    'batt battery bat batterylevel batterystate batteryhealth batteryvoltage batterytemp bs',
    'charge charging ischarging imei',
    'notificationtoken driveruniqueid location position coords event type alarm',
    ...NAMES.timestamp,
  ].flatMap((names) => names.split(' ')),
)

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s]/g, '')

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')

/** The fields with a value, by plain name. */
export type SentFields = ReadonlyMap<string, unknown>

export function fieldsOf(sent: Parameters): SentFields {
  const fields = new Map<string, unknown>()
  for (const [name, value] of Object.entries(sent)) if (!isAbsent(value)) fields.set(plainName(name), value)
  return fields
}

/**
 * The value of a field.
 * @param isReadable the first value that this accepts counts, else the first value
 */
export function valueOf(
  fields: SentFields,
  name: FieldName,
  isReadable: (value: unknown) => boolean,
): unknown {
  const values = NAMES[name].flatMap((one) => (fields.has(one) ? [fields.get(one)] : []))
  return values.find(isReadable) ?? values[0]
}

/** Whether a message without a place is only a heartbeat: sender, battery and time. */
export function isHeartbeat(sent: Parameters): boolean {
  const names = Object.keys(sent).map(plainName)
  // An empty place is a position that could not be read.
  if ([...NAMES.lat, ...NAMES.lng].some((name) => names.includes(name))) return false
  const fields = fieldsOf(sent)
  return fields.get('type') !== 'location' && [...fields.keys()].every((name) => HEARTBEAT.has(name))
}

const DECIMAL_COMMA = /^[+-]?\d+,\d+$/

/** A number, also as text and with a decimal comma; null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (text === '') return null
  const number = Number(DECIMAL_COMMA.test(text) ? text.replace(',', '.') : text)
  return Number.isFinite(number) ? number : null
}

/** `latitude,longitude` in one text, also with decimal commas, or separated by blanks or a semicolon. */
export function splitLocation(location: string): readonly [unknown, unknown] {
  const pair = location
    .trim()
    .split(/\s*;\s*|,\s+|\s+/)
    .filter((part) => part !== '')
  if (pair.length === 2) return [pair[0], pair[1]]
  const parts = location.trim().split(',')
  return parts.length === 4 ? [parts.slice(0, 2).join('.'), parts.slice(2).join('.')] : [parts[0], parts[1]]
}

/** Largest number that is read as epoch seconds. (Traccar, OsmAndProtocolDecoder.java) */
const MOST_SECONDS = 2 ** 31 - 1
/** Larger numbers are microseconds: as milliseconds they would be after the year 5000. */
const MOST_MS = 1e14
/** Larger numbers are nanoseconds. */
const MOST_US = 1e17

function epochMs(value: number): number {
  if (value <= MOST_SECONDS) return value * 1_000
  if (value <= MOST_MS) return value
  return value <= MOST_US ? value / 1_000 : value / 1e6
}

/**
 * A date and a time, with a zone or in UTC. If a `+` was decoded as a blank, the zone begins with one. Without a zone,
 * date and time must be separated by a blank, as Traccar reads it.
 */
const DATE_AND_TIME =
  /^(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)(?: ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)| (\d\d(?::?\d\d)?))?$/i

/** Whether a value looks like a time of day and date. */
export const isTime = (value: unknown): boolean =>
  numberOf(value) !== null || (typeof value === 'string' && /^\s*\d{4}[-:]\d\d[-:]\d\d/.test(value))

/** A time in the contract's form: epoch milliseconds, or ISO 8601 with a zone. Anything else is returned unchanged. */
export function timeOf(value: unknown): unknown {
  const number = numberOf(value)
  if (number !== null) return epochMs(number)
  if (typeof value !== 'string') return value
  const match = DATE_AND_TIME.exec(value.trim())
  if (match === null) return value.trim()
  const [, date = '', between, time = '', zone, plus] = match
  if (plus !== undefined) return `${date}T${time}+${plus}`
  if (zone === undefined && between !== ' ') return value.trim()
  return `${date}T${time}${zone === undefined || /^[a-z]/i.test(zone) ? 'Z' : zone}`
}

/**
 * Fast validation of the most common requests: several times faster than the schema, which validates all others.
 * Every request that passes here also passes the schema, with the same value (a test compares them).
 */
import {
  cutText,
  normalizeMode,
  isStorableText,
  isUserId,
  MAX_MODE,
  MAX_POINTS,
  MAX_SOURCE,
} from './fields.ts'
import type { CheckInRequest, GpsPoint, TrackSyncRequest } from './gps-points.ts'

type Absent = null | undefined

const isAbsent = (value: unknown): value is Absent => value === undefined || value === null
const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && value >= -most && value <= most
const isMeasure = (value: unknown): value is number | Absent => isAbsent(value) || isWithin(value, 1e9)
const isTime = (value: unknown): value is number | string | Absent =>
  isAbsent(value) ||
  (typeof value === 'string' ? value.length <= 64 : typeof value === 'number' && Number.isFinite(value))

/** A normalized mode or label; false if the schema has to validate it. */
function quickText(
  value: unknown,
  normalize: (text: string) => string,
  most: number,
): string | Absent | false {
  if (isAbsent(value)) return value
  if (typeof value !== 'string') return false
  const text = normalize(value)
  return text.length <= most && isStorableText(text) && text
}
const cutSource = (source: string): string => cutText(source, MAX_SOURCE)

/** A valid point without alias names; null for anything else. */
export function fastGpsPoint(value: unknown): Required<GpsPoint> | null {
  if (typeof value !== 'object' || value === null) return null
  const fields = value as Record<string, unknown>
  if (!isAbsent(fields.latitude) || !isAbsent(fields.lon)) return null
  if (!isAbsent(fields.longitude) || !isAbsent(fields.datetime)) return null
  const { lat, lng, timestamp, accuracy, altitude, speed } = fields
  if (!isWithin(lat, 90) || !isWithin(lng, 180) || !isTime(timestamp)) return null
  if (!isMeasure(accuracy) || !isMeasure(altitude) || !isMeasure(speed)) return null
  const mode = quickText(fields.mode, normalizeMode, MAX_MODE)
  const source = quickText(fields.source, cutSource, MAX_SOURCE)
  if (mode === false || source === false) return null
  // The schema reads an empty mode as absent.
  return { lat, lng, timestamp, accuracy, altitude, speed, mode: mode === '' ? null : mode, source }
}

/** A valid check-in without alias names; null for anything else. */
export function fastCheckIn(value: unknown): CheckInRequest | null {
  const point = fastGpsPoint(value)
  if (point === null) return null
  const { user_id, track_points } = value as Record<string, unknown>
  if (typeof user_id !== 'string' || !isUserId(user_id)) return null
  return Object.assign(point, { user_id, track_points })
}

/** A valid batch of points that are not yet validated; null for anything else. */
export function fastTrackSync(value: unknown): TrackSyncRequest | null {
  if (typeof value !== 'object' || value === null) return null
  const { user_id, points } = value as Record<string, unknown>
  if (typeof user_id !== 'string' || !isUserId(user_id)) return null
  if (!Array.isArray(points) || points.length === 0 || points.length > MAX_POINTS) return null
  return { user_id, points: points as unknown[] }
}

/**
 * The plain form of what phones send most, checked by hand: several times faster than the contract, which is asked
 * about everything else. What passes here passes there, as the same value (a test compares them).
 */
import { isStorableText, isUserId, MAX_POINTS } from './fields.ts'
import type { CheckInRequest, GpsPoint, TrackSyncRequest } from './tracking.ts'

type Absent = null | undefined

const isAbsent = (value: unknown): value is Absent => value === undefined || value === null
const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && value >= -most && value <= most
const isMeasure = (value: unknown): value is number | Absent => isAbsent(value) || isWithin(value, 1e9)
const isText = (value: unknown, most: number): value is string | Absent =>
  isAbsent(value) || (typeof value === 'string' && value.length <= most && isStorableText(value))
const isTime = (value: unknown): value is number | string | Absent =>
  isAbsent(value) ||
  (typeof value === 'string' ? value.length <= 64 : typeof value === 'number' && Number.isFinite(value))

/** A point under its own names; null for anything else. */
export function quickGpsPoint(value: unknown): GpsPoint | null {
  if (typeof value !== 'object' || value === null) return null
  const fields = value as Record<string, unknown>
  if (!isAbsent(fields.latitude) || !isAbsent(fields.lon)) return null
  if (!isAbsent(fields.longitude) || !isAbsent(fields.datetime)) return null
  const { lat, lng, timestamp, accuracy, altitude, speed, mode, source } = fields
  if (!isWithin(lat, 90) || !isWithin(lng, 180) || !isTime(timestamp)) return null
  if (!isMeasure(accuracy) || !isMeasure(altitude) || !isMeasure(speed)) return null
  if (!isText(mode, 32) || !isText(source, 64)) return null
  return { lat, lng, timestamp, accuracy, altitude, speed, mode, source }
}

/** A check-in under its own names; null for anything else. */
export function quickCheckIn(value: unknown): CheckInRequest | null {
  const point = quickGpsPoint(value)
  if (point === null) return null
  const { user_id, track_points } = value as Record<string, unknown>
  if (typeof user_id !== 'string' || !isUserId(user_id)) return null
  return Object.assign(point, { user_id, track_points })
}

/** A batch; null for anything else. */
export function quickTrackSync(value: unknown): TrackSyncRequest | null {
  if (typeof value !== 'object' || value === null) return null
  const { user_id, points } = value as Record<string, unknown>
  if (typeof user_id !== 'string' || !isUserId(user_id)) return null
  if (!Array.isArray(points) || points.length === 0 || points.length > MAX_POINTS) return null
  return { user_id, points: points as unknown[] }
}

/** Turns a request into points: validates them and decides at which time each of them counts. */
import {
  fastGpsPoint,
  GpsPoint,
  normalizePointAliases,
  SENT_TIME_RULE,
} from '#shared/contracts/gps-points.ts'
import type { PointRejection } from '#shared/contracts/tracking.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { isPlace, isRough } from '#shared/core/rules/geo.ts'
import { looksLikeSeconds, parseSentTime } from '#shared/core/rules/sent-time.ts'
import type { InArea } from '#shared/runtime/config/setting-values.ts'
import { invalid } from '#shared/runtime/refusal.ts'
import { type Position, rankOf } from '#shared/stores/kv/kv.ts'
import type { FullDaysOf } from './full-days.ts'
import type { Point } from './point.ts'

const SECONDS_RULE = 'looks like seconds: send milliseconds'

export interface AcceptRules {
  readonly calendar: Calendar
  readonly area: InArea
  readonly maxAgeMs: number
  /**
   * Points from before this time belong to a cleared rehearsal, epoch milliseconds; null: none was cleared, or the
   * database has not answered yet. The flush then drops what was accepted.
   */
  readonly clearedMs: () => number | null
  /** Days for which no more track points are accepted; default: none. */
  readonly fullDaysOf?: FullDaysOf
}

/** A check-in up to this far in the future (a wrong clock) is accepted and counts at the time of receipt. */
const CHECKIN_AHEAD_MS = 24 * 3_600_000
/** A track point may be this far in the future, because clocks differ. */
export const TRACK_AHEAD_MS = 5 * 60_000

function pointOf(
  given: GpsPoint,
  kind: 'c' | 't',
  sentMs: number,
  recordedMs: number,
  receivedMs: number,
  area: InArea,
): Point {
  const { lat, lng } = given
  return {
    kind,
    sentMs,
    recordedMs,
    receivedMs,
    lat,
    lng,
    accuracy: given.accuracy ?? null,
    altitude: given.altitude ?? null,
    speed: given.speed ?? null,
    mode: given.mode ?? null,
    source: given.source ?? null,
    inRange: area(lat, lng),
  }
}

/**
 * Validates a check-in. Without a timestamp, or with one up to 24 h in the future, it counts at the time of receipt.
 * @throws Refusal 400 for a timestamp that is invalid, further in the future, older than `maxAgeMs`, or of a cleared
 *   rehearsal
 */
export function acceptCheckIn(
  given: GpsPoint,
  receivedMs: number,
  { calendar, area, maxAgeMs, clearedMs }: AcceptRules,
): Point {
  if (given.timestamp === undefined || given.timestamp === null)
    return pointOf(given, 'c', receivedMs, receivedMs, receivedMs, area)
  const sentMs = parseSentTime(given.timestamp, calendar)
  if (sentMs === null)
    throw invalid(`timestamp: ${looksLikeSeconds(given.timestamp) ? SECONDS_RULE : SENT_TIME_RULE}`)
  if (sentMs > receivedMs + CHECKIN_AHEAD_MS)
    throw invalid('timestamp: lies more than 24 hours ahead; set the phone’s clock and check in again')
  if (sentMs < receivedMs - maxAgeMs) {
    if (looksLikeSeconds(given.timestamp)) throw invalid(`timestamp: ${SECONDS_RULE}`)
    throw invalid(`timestamp: is older than ${maxAgeMs / 86_400_000} days and is not accepted any more`)
  }
  if (isOfCleared(sentMs, receivedMs, clearedMs()))
    throw invalid('timestamp: is of the rehearsal, whose check-ins were deleted')
  return pointOf(given, 'c', sentMs, Math.min(sentMs, receivedMs), receivedMs, area)
}

/**
 * Whether a point belongs to a cleared rehearsal. A clearing time in the future comes from a wrong clock and is
 * ignored; the flush compares it with the clock of Postgres.
 */
const isOfCleared = (sentMs: number, nowMs: number, clearedMs: number | null): boolean =>
  clearedMs !== null && clearedMs <= nowMs && sentMs < clearedMs

interface AcceptedTrack {
  readonly points: readonly Point[]
  /** Points of full days. They are rejected, but still update the pilgrim's position. */
  readonly ofFullDays: readonly Point[]
  readonly rejected: readonly { readonly index: number; readonly reason: PointRejection }[]
}

/**
 * Validates a track. Each invalid point is reported by its index and rejects no other point.
 * @param fullDays the pilgrim's
 */
export function acceptTrack(
  given: readonly unknown[],
  receivedMs: number,
  rules: AcceptRules,
  fullDays?: ReadonlySet<string>,
): AcceptedTrack {
  const points: Point[] = []
  const ofFullDays: Point[] = []
  const rejected: { index: number; reason: PointRejection }[] = []
  for (const [index, value] of given.entries()) {
    const point = acceptTrackPoint(value, receivedMs, rules)
    if (typeof point === 'string') rejected.push({ index, reason: point })
    else if (fullDays?.has(rules.calendar.day(point.recordedMs))) {
      ofFullDays.push(point)
      rejected.push({ index, reason: 'full-day' })
    } else points.push(point)
  }
  return { points, ofFullDays, rejected }
}

function acceptTrackPoint(
  value: unknown,
  receivedMs: number,
  { calendar, area, maxAgeMs, clearedMs }: AcceptRules,
): Point | PointRejection {
  const given = fastGpsPoint(value) ?? checkGpsPoint(value)
  if (typeof given === 'string') return given
  if (given.timestamp === undefined || given.timestamp === null) return 'no-timestamp'
  const sentMs = parseSentTime(given.timestamp, calendar)
  if (sentMs === null) return looksLikeSeconds(given.timestamp) ? 'in-seconds' : 'invalid-timestamp'
  if (sentMs > receivedMs + TRACK_AHEAD_MS) return 'in-the-future'
  if (sentMs < receivedMs - maxAgeMs) return looksLikeSeconds(given.timestamp) ? 'in-seconds' : 'too-old'
  if (isOfCleared(sentMs, receivedMs, clearedMs())) return 'too-old'
  return pointOf(given, 't', sentMs, sentMs, receivedMs, area)
}

/** A point by its contract, or the reason why it is rejected. */
function checkGpsPoint(value: unknown): GpsPoint | PointRejection {
  const folded = normalizePointAliases(value)
  if (typeof folded !== 'object' || folded === null || Array.isArray(folded)) return 'not-an-object'
  // Checked before other faults, because a missing time is the most frequent fault of phones.
  if (((folded as GpsPoint).timestamp ?? null) === null) return 'no-timestamp'
  const parsed = GpsPoint.safeParse(folded)
  return parsed.success ? parsed.data : faultOf(parsed.error.issues[0]!)
}

function faultOf({
  path,
  code,
}: {
  readonly path: readonly PropertyKey[]
  readonly code?: string
}): PointRejection {
  switch (path[0]) {
    case undefined:
      return 'not-an-object'
    case 'timestamp':
      return 'invalid-timestamp'
    case 'lat':
    case 'lng':
      return code === 'too_big' || code === 'too_small' ? 'out-of-bounds' : 'invalid-position'
    default:
      return 'invalid-field'
  }
}

/**
 * The point to show on the map (the first one of an instant); null when none is a place inside the area. A point in the
 * future counts at its receipt: otherwise it would stay on the map until that time, whatever the pilgrim's device
 * reports later.
 */
export function latestPosition(points: readonly Point[]): Position | null {
  let latest: Position | null = null
  let receivedMs = Infinity
  for (const point of points) {
    if (!point.inRange || !isPlace(point)) continue
    const { recordedMs: t, lat, lng } = point
    const position = { t, lat, lng, ...(isRough(point) && { rough: true }) }
    if (latest !== null && rankOf(position) <= rankOf(latest)) continue
    latest = position
    receivedMs = point.receivedMs
  }
  return latest && { ...latest, t: Math.min(latest.t, receivedMs) }
}

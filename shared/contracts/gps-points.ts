/** GPS points as clients send them: a check-in, and a batch of track points. */
import { z } from 'zod'
import {
  cutText,
  EXAMPLE_DAY,
  isStorableText,
  isUserId,
  MAX_MODE,
  MAX_POINTS,
  MAX_SOURCE,
  Measure,
  Mode,
  normalizeMode,
  Place,
  Source,
  UserId,
} from './fields.ts'

export const SENT_TIME_RULE = 'must be ISO 8601 with a zone, epoch milliseconds, or YYYY:MM:DD HH:MM:SS'

/** A timestamp in a request: ISO 8601 with zone, epoch milliseconds, or EXIF `YYYY:MM:DD HH:MM:SS`. */
export const SentTime = z
  .union([z.number(), z.string().max(64, { error: SENT_TIME_RULE })], {
    error: SENT_TIME_RULE,
  })
  .meta({ examples: [`${EXAMPLE_DAY}T01:30:00.000Z`] })

/**
 * Further measurements of a point. Each has a column of its name, so a new one needs a migration; append it, because
 * the buffer packs them in this order.
 */
const MEASURED = {
  accuracy: Measure.nullish()
    .meta({ examples: [8] })
    .describe('metres'),
  altitude: Measure.nullish().describe('metres'),
  speed: Measure.nullish().describe(
    'km/h as measured by the phone; stored only, because the mode follows from the segment’s speed',
  ),
  mode: Mode.nullish().describe('walk, car, scooter, bike, bus, mrt, train or hsr; not case-sensitive'),
  source: Source.nullish().describe(`Any label; truncated to ${MAX_SOURCE} characters`),
}
export type Measurement = keyof typeof MEASURED
export const MEASUREMENTS = Object.keys(MEASURED) as Measurement[]
/** Whether a measurement is a number; the others are texts. */
export const isNumeric = (name: Measurement): boolean => MEASURED[name].safeParse(0).success

/** A GPS point in a request, after `normalizePointAliases` has renamed its aliases. */
export const GpsPoint = z.object({
  ...Place,
  timestamp: SentTime.nullish(),
  ...MEASURED,
})
export type GpsPoint = z.infer<typeof GpsPoint>

/** A track point: only its own time identifies it. */
export const TrackPoint = z.intersection(GpsPoint, z.object({ timestamp: SentTime }))

const POINT_ALIASES = [
  ['latitude', 'lat'],
  ['lon', 'lng'],
  ['longitude', 'lng'],
  ['datetime', 'timestamp'],
] as const
type Aliased = Partial<Record<(typeof POINT_ALIASES)[number][number], unknown>>

/** Renames `lon`, `latitude`, `longitude` and `datetime` if the standard name is absent. */
export function normalizePointAliases(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent
  let folded: Aliased | null = null
  for (const [alias, name] of POINT_ALIASES) {
    const given = (sent as Aliased)[alias]
    if (given === undefined || given === null) continue
    folded ??= { ...sent }
    folded[name] ??= given
  }
  return folded ?? sent
}

/** Each point is validated later: an invalid one is reported by its index and does not fail the others. */
const Points = z.array(z.unknown()).max(MAX_POINTS)

export const CheckInRequest = z.preprocess(
  normalizePointAliases,
  GpsPoint.extend({
    user_id: UserId,
    track_points: z
      .unknown()
      .optional()
      .describe(
        'A list of at most 1,000 track points, as in track/sync; invalid ones do not fail the check-in',
      ),
  }),
)
export type CheckInRequest = z.infer<typeof CheckInRequest>

export const TrackSyncRequest = z.object({ user_id: UserId, points: Points.min(1) })
export type TrackSyncRequest = z.infer<typeof TrackSyncRequest>

/** Maximum number of track points accepted with a check-in. The phone sends the rest of a longer list by track/sync. */
export const MAX_ATTACHED = 1_000

/** A check-in as clients should send it. `CheckInRequest` accepts more: aliases, and invalid track points. */
export const CheckIn = GpsPoint.extend({
  user_id: UserId,
  track_points: z
    .array(TrackPoint)
    .max(MAX_ATTACHED)
    .nullish()
    .describe('Track points, as in track/sync; invalid ones do not fail the check-in'),
})

/** A batch of track points as clients should send it. An invalid point is rejected by its index. */
export const TrackBatch = z.object({
  user_id: UserId,
  points: z.array(TrackPoint).min(1).max(MAX_POINTS).describe('In order of time, oldest first'),
})

// Fast validation of the most common requests: several times faster than the schema, which validates all others. Every
// request that passes here also passes the schema, with the same value (a test compares them).

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

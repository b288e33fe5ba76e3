/** GPS points as clients send them: a check-in, and a batch of track points. */
import { z } from 'zod'
import { Latitude, Longitude, MAX_POINTS, MAX_SOURCE, Measure, Mode, Source, UserId } from './fields.ts'

/** The error message for any other form. */
export const SENT_TIME_RULE = 'must be ISO 8601 with a zone, epoch milliseconds, or YYYY:MM:DD HH:MM:SS'

/** A timestamp in a request: ISO 8601 with zone, epoch milliseconds, or EXIF `YYYY:MM:DD HH:MM:SS`. */
export const SentTime = z.union([z.number(), z.string().max(64, { error: SENT_TIME_RULE })], {
  error: SENT_TIME_RULE,
})
export type SentTime = z.infer<typeof SentTime>

/** A GPS point in a request, after `foldPointAliases` has renamed its aliases. */
export const GpsPoint = z.object({
  lat: Latitude,
  lng: Longitude,
  timestamp: SentTime.nullish(),
  accuracy: Measure.nullish().describe('metres'),
  altitude: Measure.nullish().describe('metres'),
  speed: Measure.nullish().describe(
    'km/h as measured by the phone; stored only, because the mode follows from the segment’s speed',
  ),
  mode: Mode.nullish().describe('walk, car, scooter, bike, bus, mrt, train or hsr; not case-sensitive'),
  source: Source.nullish().describe(`Any label; truncated to ${MAX_SOURCE} characters`),
})
export type GpsPoint = z.infer<typeof GpsPoint>

const POINT_ALIASES: Record<string, 'lat' | 'lng' | 'timestamp'> = {
  latitude: 'lat',
  lon: 'lng',
  longitude: 'lng',
  datetime: 'timestamp',
}

/** Renames `lon`, `latitude`, `longitude` and `datetime` if the standard name is absent. */
export function normalizePointAliases(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  let folded: Record<string, unknown> | null = null
  for (const alias in POINT_ALIASES) {
    const given = (value as Record<string, unknown>)[alias]
    if (given === undefined || given === null) continue
    folded ??= { ...value }
    folded[POINT_ALIASES[alias]!] ??= given
  }
  return folded ?? value
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

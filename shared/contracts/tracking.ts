/** Check-ins, tracks and the live map. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import {
  fastCheckIn,
  fastTrackSync,
  CheckIn,
  CheckInRequest,
  TrackBatch,
  TrackSyncRequest,
} from './gps-points.ts'
import { HIDDEN_ID, Instant, Latitude, Longitude, Time, UserId, exampleText, wholeNumber } from './fields.ts'

const endpoint = endpointsOf('tracking')

/** Why a track point was rejected. The last three apply only to the track points of a check-in. */
export const PointRejection = z.enum([
  'not-an-object',
  'no-timestamp',
  'invalid-timestamp',
  'in-the-future',
  'too-old',
  'in-seconds',
  'out-of-bounds',
  'invalid-position',
  'invalid-field',
  'full-day',
  'not-a-list',
  'too-many',
  'no-room',
])
export type PointRejection = z.infer<typeof PointRejection>

export const TrackSyncAnswer = z.object({
  accepted: z.int(),
  duplicates: z.int(),
  rejected: z.array(z.object({ index: z.int(), reason: PointRejection })),
  durable_through: Time.nullable().describe(
    'The phone may delete this batch’s points up to this time, and the rejected points',
  ),
})
export type TrackSyncAnswer = z.infer<typeof TrackSyncAnswer>

export const AttachedAnswer = z.object({
  ...TrackSyncAnswer.shape,
  durable_through: TrackSyncAnswer.shape.durable_through.describe(
    'The phone may delete these points up to this time, and the rejected points, except those with the reasons ' +
      'too-many and no-room: send these with track/sync',
  ),
})
export type AttachedAnswer = z.infer<typeof AttachedAnswer>

export const CheckInAnswer = z.object({
  userId: UserId,
  recorded_at: Time,
  duplicate: z.boolean(),
  pending: z.int().describe('This pilgrim’s points in the buffer'),
  in_range: z.boolean().describe('false: outside the event’s area, stored but not counted'),
  clock_corrected: z
    .boolean()
    .describe('true: the timestamp is ahead of the server’s clock, so the check-in has its time of receipt'),
  track: AttachedAnswer.optional().describe('Result of track_points; absent if none were sent'),
})
export type CheckInAnswer = z.infer<typeof CheckInAnswer>

const coordinates = (value: string): number[] => value.split(',').map((part) => Number(part.trim() || NaN))

/** Degrees. */
export const BoundingBox = z
  .string()
  .transform(coordinates)
  .refine(
    (box) =>
      box.length === 4 &&
      box.every(Number.isFinite) &&
      Math.abs(box[0]!) <= 180 &&
      Math.abs(box[2]!) <= 180 &&
      Math.abs(box[1]!) <= 90 &&
      Math.abs(box[3]!) <= 90 &&
      box[0]! <= box[2]! &&
      box[1]! <= box[3]!,
    { error: 'must be west,south,east,north in degrees, with west ≤ east and south ≤ north' },
  )
  .transform((box) => box as [west: number, south: number, east: number, north: number])
export type BoundingBox = z.infer<typeof BoundingBox>

export const DataQuery = z.object({
  limit: wholeNumber(1, 5_000).default(1_000),
  since: Instant.optional().describe(
    'Without it: a day ago; without a token not earlier. Positions are kept for two days',
  ),
  bbox: BoundingBox.optional().meta({ examples: ['120,23,121,25'] }),
})
export type DataQuery = z.infer<typeof DataQuery>

export const LivePosition = z.object({
  id: exampleText('c4n8w1').describe(
    'Changes every hour, because the pilgrim’s id is never public. Without a token it belongs to the place, so it stays when a pilgrim moves on',
  ),
  lat: Latitude.describe(
    'Without a token: centre of the smallest cell (zoom 10 to 18) that enough pilgrims share',
  ),
  lng: Longitude,
  recorded_at: Time.describe(
    'Without a token: a whole minute, the same for all of a cell, who were seen then or later',
  ),
  userId: UserId.optional().describe(`With a token only. ${HIDDEN_ID}`),
  display_name: z.string().nullish().describe('With a token only'),
})
export type LivePosition = z.infer<typeof LivePosition>

export const LiveMap = z.object({ points: z.array(LivePosition), generated_at: Time })
export type LiveMap = z.infer<typeof LiveMap>

const shownTrack = ({
  accepted,
  duplicates,
  rejected,
  durable_through,
}: TrackSyncAnswer): TrackSyncAnswer => ({
  accepted,
  duplicates,
  rejected: rejected.map(({ index, reason }) => ({ index, reason })),
  durable_through,
})

export const checkInEndpoint = endpoint('POST /api/event/checkin', {
  id: 'checkIn',
  summary: 'Accepts a GPS check-in; answers when it is durable; the next flush writes it to the database',
  limit: 'checkin',
  success: 202,
  caller: 'body',
  body: CheckInRequest,
  sent: { 'application/json': CheckIn },
  data: CheckInAnswer,
  fastBody: fastCheckIn,
  fastData: ({ userId, recorded_at, duplicate, pending, in_range, clock_corrected, track }) => ({
    userId,
    recorded_at,
    duplicate,
    pending,
    in_range,
    clock_corrected,
    ...(track === undefined ? {} : { track: shownTrack(track) }),
  }),
  errors: ['paused', 'ended', 'erased', 'buffer-full'],
})

export const trackSyncEndpoint = endpoint('POST /api/event/track/sync', {
  id: 'syncTrack',
  summary: 'Accepts a batch of GPS track points; the answer says which points the phone may delete',
  limit: 'sync',
  caller: 'body',
  body: TrackSyncRequest,
  sent: { 'application/json': TrackBatch },
  data: TrackSyncAnswer,
  fastBody: fastTrackSync,
  fastData: shownTrack,
  errors: ['paused', 'ended', 'erased', 'buffer-full'],
})

export const dataEndpoint = endpoint('GET /api/event/data', {
  id: 'readMap',
  summary: 'Latest position of each pilgrim, at most five seconds old',
  access: 'optional',
  limit: null,
  query: DataQuery,
  data: LiveMap,
  cacheMs: 1_000,
})

/** Stored data of one pilgrim over time: points with their effect on the sum, and messages. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Day, Latitude, Longitude, page, PageQuery, Time, UserId, Place, OfUser } from './fields.ts'
import { Cause } from './messages.ts'
import { PendingPoints } from './profile.ts'

const endpoint = endpointsOf('admin')

export const MAX_WAY = 500

/** Maximum number of points of a day in an answer. Phones record at most one per second. */
export const MAX_POINTS_A_DAY = 100_000

export const LEFT_OUT = ['too-soon', 'too-near', 'too-fast', 'same-instant', 'rough', 'outside'] as const

export const PointOutcome = z.enum(['first', 'counted', ...LEFT_OUT])

export const LeftOut = z
  .object({
    'too-soon': z.int(),
    'too-near': z.int(),
    'too-fast': z.int(),
    'same-instant': z.int(),
    rough: z.int(),
    outside: z.int(),
  } satisfies Record<(typeof LEFT_OUT)[number], z.ZodType>)
  .describe('Number of the day’s points that are left out of the sum, by reason; pending points included')
export type LeftOut = z.infer<typeof LeftOut>

export const DaySummary = z.object({
  day: Day,
  points: z.int().describe('Number of points of the day, also outside the area; pending points included'),
  left_out: LeftOut,
  last: z
    .object({ ...Place, recorded_at: Time })
    .nullable()
    .describe('The latest point of the day inside the area; null: there is none, or not all were read'),
  recorded_km: z
    .record(z.string(), z.number())
    .describe('Kilometres of the day by mode, pending points included'),
  truncated: z
    .boolean()
    .describe(`Whether the day has more than ${MAX_POINTS_A_DAY} points, of which the first were read`),
})

export type DaySummary = z.infer<typeof DaySummary>

export const UserPoint = z.object({
  kind: z.enum(['checkin', 'track']),
  recorded_at: Time.describe('Time at which the point counts'),
  received_at: Time,
  ...Place,
  accuracy: z.number().nullable(),
  mode: z.string().nullable(),
  source: z.string().nullable(),
  clock_corrected: z.boolean(),
  pending: z.boolean().describe('In the buffer, not yet in the database'),
  outcome: PointOutcome.describe(
    'counted: ends a segment of the sum; first: the way begins here. Left out: too-soon (less than 30 s after the anchor), too-near (less than 10 m from it), too-fast (more than 300 km/h from it), same-instant (another point of this instant counts), rough (accuracy 100 m or worse, or exactly 0,0), outside (of the event’s area)',
  ),
  km: z.number().describe('Length of the segment that ends here; 0 if the point is left out'),
})
export type UserPoint = z.infer<typeof UserPoint>

export const UserPoints = page(UserPoint).extend({
  day: Day.nullable().describe('The day of these points, in the event’s time zone; null: there are none'),
  days: z
    .array(z.object({ day: Day, points: z.int(), km: z.number() }))
    .describe('Days with points inside the area, latest first; 0 km while all of them wait in the buffer'),
  way: z
    .array(z.tuple([Longitude, Latitude]))
    .describe(`The day’s way through its counted points, at most ${MAX_WAY} positions`),
  total: z.int().describe('Number of points on all pages of this query'),
  left_out: LeftOut,
  truncated: z
    .boolean()
    .describe(`Whether the day has more than ${MAX_POINTS_A_DAY} points, of which the first were read`),
  pending: PendingPoints,
})
export type UserPoints = z.infer<typeof UserPoints>

export const UserPointsQuery = PageQuery.extend({
  day: Day.optional().describe('Default: the latest day with a point'),
  only: z.enum(['left-out']).optional().describe('left-out: only points that are not in the sum'),
})
export type UserPointsQuery = z.infer<typeof UserPointsQuery>

export const UserMessage = z.object({
  id: z.uuid(),
  cause: Cause,
  state: z.enum(['waiting', 'sent', 'failed', 'skipped']),
  text: z
    .string()
    .nullable()
    .describe('The beginning of the message; null for an emergency, and if it has no text'),
  detail: z.string().nullable().describe('Why it failed or waits'),
  created_at: Time,
  created_by: z.string().nullable(),
  settled_at: Time.nullable(),
})
export type UserMessage = z.infer<typeof UserMessage>

export const SEARCHED_MESSAGES = 100

export const userPointsEndpoint = endpoint('GET /api/event/admin/users/:userId/points', {
  id: 'listUserPoints',
  summary:
    'One day of a pilgrim’s points, earliest first, with what each adds to the sum or why it is left out; the first page is written to the audit log',
  access: 'manager',
  params: OfUser,
  query: UserPointsQuery,
  data: UserPoints,
  errors: [404],
})

export const userMessagesEndpoint = endpoint('GET /api/event/admin/users/:userId/messages', {
  id: 'listUserMessages',
  summary: `Messages to one pilgrim among the latest ${SEARCHED_MESSAGES} of the event, newest first`,
  access: 'manager',
  params: OfUser,
  data: z.object({ items: z.array(UserMessage) }),
  errors: [404],
})

export const revokeTrackerOfUserEndpoint = endpoint('DELETE /api/event/admin/users/:userId/trackers/:id', {
  id: 'revokeTrackerOfUser',
  summary: 'Revokes a pilgrim’s tracker, such as that of a lost phone: its key is refused from the answer on',
  access: 'manager',
  params: z.object({ userId: UserId, id: z.uuid({ error: 'must be the id of a tracker' }) }),
  data: z.object({ id: z.uuid() }),
  errors: [404],
  example: { params: { id: '3b8f0a1c-4a8e-4c6b-9d59-7d0f3c520b2e' } },
})

export const revokeSharesOfUserEndpoint = endpoint('DELETE /api/event/admin/users/:userId/shares', {
  id: 'revokeSharesOfUser',
  summary: 'Ends all links that a pilgrim or the bot has made to the pilgrim’s page',
  access: 'manager',
  params: OfUser,
  data: z.object({ revoked: z.int() }),
  errors: [404],
})

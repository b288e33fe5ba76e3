/** The last 60 minutes, for operators: how many walk, and what was received. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Time } from './fields.ts'

/** Length of a step. */
export const STEP_SECONDS = 10

export const Received = z.object({
  since: Time.describe(
    '60 minutes before `through`, or later: when this process of the service began to count',
  ),
  through: Time.describe('At most ten seconds ago, while Redis answers'),
  points: z.int().describe('Check-ins and track points that were received since then, of any time'),
  checkins: z.int().describe('Check-ins among them'),
  steps: z
    .array(z.tuple([z.int(), z.int()]))
    .max(3_600 / STEP_SECONDS)
    .describe('[points, check-ins] of each ten seconds from `since` to `through`, oldest first'),
})
export type Received = z.infer<typeof Received>

export const LastHour = z.object({
  walking: z
    .object({
      pilgrims: z
        .int()
        .describe('Pilgrims whose latest stored point is not older than 60 minutes at `as_of`'),
      checked_in: z.int().describe('Those among them with a check-in of these 60 minutes'),
      silent: z
        .int()
        .describe('Pilgrims who take part and whose latest stored point is 3 to 24 hours old at `as_of`'),
      as_of: Time.describe('Time of the last flush'),
    })
    .nullable()
    .describe('null: there was no flush yet, or the database does not answer'),
  received: Received.nullable().describe('null: Redis has not answered since the process began'),
})
export type LastHour = z.infer<typeof LastHour>

export const lastHourEndpoint = endpoint({
  id: 'readLastHour',
  method: 'GET',
  path: '/api/event/admin/last-hour',
  service: 'admin',
  summary: 'The last 60 minutes: how many pilgrims walk, and the check-ins and points that were received',
  access: 'volunteer',
  data: LastHour,
  cacheMs: 1_000,
})

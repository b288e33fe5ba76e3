/** What operators see and steer: roles, the activity's status, health. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { ActivityStatus, Role, text, Time } from './fields.ts'

export const CallerRole = z.object({
  role: Role,
  level: z.int().min(1).max(3),
  name: z.string().describe('Name of the token, so that people can be told apart'),
})
export type CallerRole = z.infer<typeof CallerRole>

/** How far the end of the event has come; `null` while it has not ended. */
export const Ending = z.object({
  flush: z.enum(['running', 'done']),
  cards: z.object({ done: z.int(), total: z.int().nullable() }),
  summary: z.enum(['waiting', 'sending', 'sent']),
})
export type Ending = z.infer<typeof Ending>

export const Activity = z.object({
  status: ActivityStatus,
  message: z.string().nullable().describe('What refused pilgrims read'),
  changed_at: Time.describe('When the status changed; a new message alone changes nothing else'),
  changed_by: z.string().nullable(),
  ending: Ending.nullable(),
})
export type Activity = z.infer<typeof Activity>

export const SetStatusRequest = z.object({
  status: z.enum(['paused', 'active'], { error: 'must be "paused" or "active"' }),
  message: text(500)
    .nullish()
    .describe(
      'What refused pilgrims read. With a new status an absent one is none; with the same status it stays. An empty one takes it back',
    ),
})
export type SetStatusRequest = z.infer<typeof SetStatusRequest>

const ProbeResult = z.enum(['ok', 'error'])

export const Health = z.object({
  status: z.enum(['ok', 'error', 'ended']),
  db: ProbeResult,
  kv: ProbeResult,
  objects: ProbeResult,
  last_flush: Time.nullable(),
  buffer_size: z.int().describe('Pilgrims with pending points'),
})
export type Health = z.infer<typeof Health>

/** The report inside the envelope, and flat beside it, where uptime monitors look. */
export const HealthAnswer = Health.extend({ ok: z.boolean(), data: Health })
export type HealthAnswer = z.infer<typeof HealthAnswer>

export const roleEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/auth/role',
  service: 'admin',
  summary: 'Role of the caller’s token',
  access: 'volunteer',
  data: CallerRole,
})

export const readStatusEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/status',
  service: 'admin',
  summary: 'Status of the activity, and progress of its end',
  access: 'volunteer',
  data: Activity,
  errors: [503],
})

export const setStatusEndpoint = endpoint({
  method: 'PUT',
  path: '/api/event/admin/status',
  service: 'admin',
  summary:
    'Pause or resume; holds for the very next request on every replica. The same status again changes its message at most',
  access: 'manager',
  body: SetStatusRequest,
  data: Activity,
  errors: [409, 503],
})

export const endActivityEndpoint = endpoint({
  method: 'POST',
  path: '/api/event/admin/end-activity',
  service: 'admin',
  summary: 'Ends the event for good: final flush, achievement cards, summary; asking again answers the same',
  access: 'manager',
  data: Activity,
  errors: [503],
})

export const healthEndpoint = endpoint({
  method: 'GET',
  path: '/health',
  service: 'admin',
  summary: 'Health report, inside the envelope and flat beside it; 503 while db or kv is in error',
  media: 'application/json',
  data: HealthAnswer,
  refusals: { 503: HealthAnswer },
})

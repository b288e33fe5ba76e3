/** Roles, activity status and health, for operators. */
import { z } from 'zod'
import { byLanguage } from './bot.ts'
import { endpointsOf } from './endpoint.ts'
import { ActivityStatus, Role, text, Time, exampleText } from './fields.ts'

const endpoint = endpointsOf('admin')

export const CallerRole = z.object({
  role: Role,
  level: z.int().min(1).max(3),
  name: exampleText('lin').describe('Name of the token, which identifies its holder'),
})

export const Ending = z.object({
  flush: z.enum(['running', 'done']),
  cards: z.object({ done: z.int(), total: z.int().nullable() }),
  summary: z
    .enum(['waiting', 'sending', 'sent', 'skipped'])
    .describe('skipped: it was not sent in LINE, because LINE is not configured'),
})
export type Ending = z.infer<typeof Ending>

const StatusMessage = text(500)

/** The organisers' message of a status in several languages. */
export const StatusMessages = byLanguage(StatusMessage).meta({
  examples: [{ 'zh-Hant': '雷雨將至，請就近避雨。', en: 'A storm is coming. Please find shelter.' }],
})
export type StatusMessages = z.infer<typeof StatusMessages>

/** For readers: a language without a message of its own has that of a language that its readers understand. */
export const ShownMessages = StatusMessages.nullish().describe(
  'The message for readers of each language; null: `message` is for all',
)

export const Activity = z.object({
  status: ActivityStatus,
  message: z
    .string()
    .nullable()
    .describe('What pilgrims get as the error while the event is paused or ended'),
  messages: StatusMessages.nullish().describe(
    'The message in each language that has one; null: `message` alone',
  ),
  changed_at: Time.describe('Time of the last status change; a new message alone does not change it'),
  changed_by: z.string().nullable(),
  ending: Ending.nullable(),
})
export type Activity = z.infer<typeof Activity>

export const SetStatusRequest = z.object({
  status: z.enum(['paused', 'active'], { error: 'must be "paused" or "active"' }),
  message: StatusMessage.nullish().describe(
    'What pilgrims get as the error. If absent: removed when the status changes, else unchanged. Empty: removed',
  ),
  messages: StatusMessages.nullish().describe(
    'The message in several languages, in place of `message`, which is then the one in the event’s own language',
  ),
  seen: z
    .object({
      status: ActivityStatus,
      message: StatusMessage.nullable(),
      messages: StatusMessages.nullable(),
    })
    .partial()
    .optional()
    .describe('What the operator saw before. If somebody has changed it since, the answer is 409'),
})
export type SetStatusRequest = z.infer<typeof SetStatusRequest>

/** The effect of `end-activity` at this moment. */
export const EndPreview = z.object({
  status: ActivityStatus,
  points_waiting: z.int().describe('Points in the buffer, which the final flush stores'),
  pilgrims_waiting: z.int(),
  points_journaled: z.int().describe('Points in the journals; they reach the buffer by themselves'),
  cards: z
    .object({ done: z.int(), total: z.int() })
    .describe('Cards that the end draws, and how many are up to date; points that wait may unlock more'),
  as_of: Time,
})
export type EndPreview = z.infer<typeof EndPreview>

const ProbeResult = z.enum(['ok', 'error'])

export const Health = z.object({
  status: z.enum(['ok', 'error', 'ended']),
  db: ProbeResult,
  kv: ProbeResult,
  objects: ProbeResult,
  last_flush: Time.nullable(),
  buffer_size: z.int().describe('Pilgrims with pending points'),
  certificates: z
    .record(z.string(), Time.nullable())
    .meta({ examples: [{ 'event.example': '2026-07-01T00:00:00.000Z' }] })
    .describe('When the certificate of each public host ends, read within the last hour; null: unknown'),
  last_backup: Time.nullable().describe(
    'Moment of the newest backup that can be restored, as far as is known; null: none',
  ),
  version: exampleText('1.9.0'),
  commit: exampleText('2d8a1f4c0b7e6a9d3c5f8e1b2a4d6c8e0f1a3b5c')
    .nullable()
    .describe('Commit of the code that runs; with `-dirty` where files differ from it; null: not known'),
})
export type Health = z.infer<typeof Health>

/** The report, both inside the envelope and at the top level, where uptime monitors expect it. */
export const HealthAnswer = Health.extend({ ok: z.boolean().meta({ examples: [true] }), data: Health })

export const roleEndpoint = endpoint('GET /api/event/auth/role', {
  id: 'readRole',
  summary: 'Role of the caller’s token',
  access: 'volunteer',
  data: CallerRole,
})

export const readStatusEndpoint = endpoint('GET /api/event/admin/status', {
  id: 'readStatus',
  summary: 'Activity status, and progress of the end of the event',
  access: 'volunteer',
  data: Activity,
})

export const setStatusEndpoint = endpoint('PUT /api/event/admin/status', {
  id: 'setStatus',
  summary:
    'Pauses or resumes the event; applies to the next request on every replica. Repeating the current status changes only the message',
  access: 'manager',
  body: SetStatusRequest,
  data: Activity,
  errors: ['conflict'],
})

export const endActivityEndpoint = endpoint('POST /api/event/admin/end-activity', {
  id: 'endActivity',
  summary: 'Ends the event permanently: final flush, achievement cards, summary; idempotent',
  access: 'manager',
  data: Activity,
})

export const endPreviewEndpoint = endpoint('GET /api/event/admin/end-activity', {
  id: 'previewEnd',
  summary:
    'What ending the event would do now; changes nothing. A dry run of push to all returns the recipients of the summary',
  access: 'manager',
  data: EndPreview,
})

export const healthEndpoint = endpoint('GET /health', {
  id: 'readHealth',
  summary: 'Health report, inside the envelope and at the top level; 503 while db or kv has an error',
  media: 'application/json',
  data: HealthAnswer,
  refusals: { 503: HealthAnswer },
})

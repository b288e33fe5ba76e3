/**
 * The state of the installation: its parts, the causes of an incident with what to do, the latest backup, the tokens.
 */
import { z } from 'zod'
import { endpointsOf, ServiceName } from './endpoint.ts'
import { exampleText, Role, text, Time, withoutDirections } from './fields.ts'
import { Ledger } from './ledger.ts'
import { StreamIncident } from './stream.ts'

const endpoint = endpointsOf('admin')

const Sentence = z
  .object({ 'zh-Hant': z.string(), en: z.string() })
  .meta({ examples: [{ 'zh-Hant': '資料庫沒有回應', en: 'The database does not answer' }] })

export const PartState = z.enum(['ok', 'degraded', 'error', 'silent', 'unknown'])

export const Part = z.object({
  name: z.union([ServiceName, z.enum(['db', 'kv', 'objects'])]),
  kind: z.enum(['service', 'store']),
  state: PartState.describe(
    'degraded: a process of the service has not reported for 20 s, and another has; error: a store does not answer; silent: no process has reported for 20 s; unknown: reports cannot be read',
  ),
  seen_at: Time.nullable().describe('Latest report of any process; for a store, when it answered'),
  processes: z
    .object({
      running: z.int().describe('Reported in the last 20 s'),
      silent: z.int().describe('Did not, and was not stopped. After an hour it counts as removed'),
    })
    .nullable()
    .describe('Processes of the service; null for a store, and while reports cannot be read'),
})
export type Part = z.infer<typeof Part>

const ALERTED = [
  'database',
  'flush',
  'disk',
  'dead-letters',
  'lost',
  'clock',
  'slots',
  'memory',
  'backup',
] as const

export const IncidentCause = z.object({
  key: z.enum([...ALERTED, 'kv', 'objects', 'service']),
  failure: z.boolean().describe('true: data are at risk; false: a warning'),
  text: Sentence.describe('What is wrong, as the owner’s alert says it'),
  what_to_do: Sentence,
})

/** Who would receive the alert of an SOS. */
export const EmergencyReach = z.object({
  line: z.int().describe('Owners and managers that LINE reaches'),
  web_push: z.int().describe('Their devices with notifications'),
})
export type EmergencyReach = z.infer<typeof EmergencyReach>

/** Who receives alerts, and what causes them. Contains no secret and no id. */
export const Alerting = z.object({
  channel: z.enum(['line']).nullable().describe('null: nobody gets alerts; they are recorded only'),
  line: z.boolean().describe('Whether the service has credentials of LINE'),
  recipient: z.boolean().describe('Whether EVENT_ALERT_USER_ID names who gets alerts'),
  sos: EmergencyReach.nullable().describe(
    'Whom an SOS would reach; both 0: nobody but an open console; null: it cannot be read now',
  ),
  within_s: z.int().describe('Seconds between two checks, each of which may alert'),
  repeats_min: z
    .array(z.int())
    .describe('Minutes between the alerts of an incident that goes on; the last one repeats'),
  conditions: z.array(
    z.object({
      key: z.enum([...ALERTED, 'service', 'certificate', 'quota']),
      when: Sentence,
      what_to_do: Sentence,
    }),
  ),
})
export type Alerting = z.infer<typeof Alerting>

export const Condition = z.object({
  parts: z.array(Part),
  last_flush: Time.nullable(),
  oldest_pending: Time.nullable().describe(
    'Since when points have been waiting; null: none wait, or unknown',
  ),
  ledger: Ledger.nullable().describe('As admin/ledger; null: it cannot be read now'),
  kv_memory: z.number().nullable().describe('Used memory of Redis as a fraction of its limit; null: unknown'),
  incident: StreamIncident.nullable().describe('The incident that the owner was alerted about'),
  causes: z.array(IncidentCause).describe('What is wrong now, whether or not the owner was alerted yet'),
  alerting: Alerting,
  backup_at: Time.nullable().describe(
    'The newest moment that a backup or the continuous archive can restore; null: none is known',
  ),
  backups: z
    .object({
      restorable_at: Time.nullable().describe('Moment of the newest one that can be restored; null: none'),
      checked_at: Time.nullable().describe('When one was last restored into a scratch database; null: never'),
      check_failed: z.boolean().describe('Whether the newest one could not be restored'),
      every_hours: z.number().meta({ examples: [24] }),
    })
    .nullable()
    .describe('Scheduled backups; null: there are none, or they cannot be read now'),
  as_of: Time,
})
export type Condition = z.infer<typeof Condition>

export const TokenInUse = z.object({
  name: exampleText('lin'),
  role: Role,
  fingerprint: exampleText('5e884898').describe(
    'Identifies the token in the audit log; the token cannot be derived from it',
  ),
  last_used: Time.nullable().describe('To the minute; null: not used, or not known'),
  made_at: Time.nullable().describe('null: a token of the environment, which cannot be revoked here'),
  made_by: exampleText('owner').nullable().describe('Name of the token that made it'),
})
export type TokenInUse = z.infer<typeof TokenInUse>

export const conditionEndpoint = endpoint('GET /api/event/admin/condition', {
  id: 'readCondition',
  summary: 'Health of each part, what is wrong and what to do about it, and the latest backup',
  access: 'manager',
  data: Condition,
  cacheMs: 1_000,
})

export const tokensEndpoint = endpoint('GET /api/event/admin/tokens', {
  id: 'listTokens',
  summary: 'Names of the admin tokens and when each was last used; never the tokens',
  access: 'owner',
  data: z.object({ items: z.array(TokenInUse), as_of: Time }),
})

/** Maximum number of tokens created in the console and not revoked. */
export const MAX_MADE_TOKENS = 200

export const MakeTokenRequest = z.object({
  name: text(40)
    .overwrite((name) => withoutDirections(name).trim())
    .min(1)
    .meta({ examples: ['lin'] })
    .describe('Stands in the audit log; no other token has it'),
  role: Role,
})
export type MakeTokenRequest = z.infer<typeof MakeTokenRequest>

export const MadeToken = z.object({
  name: exampleText('lin'),
  role: Role,
  fingerprint: exampleText('5e8848983a01'),
  token: exampleText('q3V8s0YtW1n6Zr4bKc7Xe2Lm9Pd5Uh-a').describe(
    'Shown this once: the service keeps its hash alone',
  ),
})
export type MadeToken = z.infer<typeof MadeToken>

export const makeTokenEndpoint = endpoint('POST /api/event/admin/tokens', {
  id: 'makeToken',
  summary: 'Makes an admin token, and shows it once',
  access: 'owner',
  body: MakeTokenRequest,
  data: MadeToken,
  errors: ['conflict'],
})

export const revokeTokenEndpoint = endpoint('DELETE /api/event/admin/tokens/:fingerprint', {
  id: 'revokeToken',
  summary: 'Revokes a token that was made in the console; every process refuses it within seconds',
  access: 'owner',
  params: z.object({
    fingerprint: z
      .string()
      .regex(/^[0-9a-f]{12}$/)
      .meta({ examples: ['5e8848983a01'] }),
  }),
  data: z.object({ revoked: z.literal(true) }),
  errors: ['not-found'],
})

// The last 60 minutes, for operators: the number of walkers, and the points received.

export const STEP_SECONDS = 10

export const Received = z.object({
  since: Time.describe(
    '60 minutes before `through`, or later: when this process of the service began to count',
  ),
  through: Time.describe('At most ten seconds ago, while Redis answers'),
  points: z.int().describe('Check-ins and track points that were received since then, of any time'),
  checkins: z.int(),
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

export const lastHourEndpoint = endpoint('GET /api/event/admin/last-hour', {
  id: 'readLastHour',
  summary: 'The last 60 minutes: how many pilgrims walk, and the check-ins and points that were received',
  access: 'volunteer',
  data: LastHour,
  cacheMs: 1_000,
})

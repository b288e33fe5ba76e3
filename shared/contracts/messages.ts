/** Outgoing LINE messages: pushes, their progress, the monthly quota, scheduled notifications. */
import { z } from 'zod'
import type { BuiltInLanguage } from './bot.ts'
import { endpointsOf } from './endpoint.ts'
import { HttpsUrl, page, PageQuery, text, Time, UserId, HoursOfQuery, exampleText } from './fields.ts'

const endpoint = endpointsOf('line-bot')

/**
 * Recipients of a message. `participants` are pilgrims who walk, including volunteers with a check-in of their own.
 * `inactive` are participants without a point for some hours.
 */
export const Audience = z.enum([
  'all',
  'participants',
  'volunteers',
  'managers',
  'owners',
  'completed',
  'inactive',
])
export type Audience = z.infer<typeof Audience>

/** An audience as the message ledger stores it. */
export interface Recipients {
  readonly audience?: Audience
  readonly hours?: number
  readonly user_ids?: readonly string[]
}

/** LINE accepts at most 5,000 characters. */
const MessageText = text(5_000)
  .refine((given) => given.trim() !== '', { error: 'must not be blank' })
  .meta({ examples: ['下午三點後有雷雨，請就近休息。'] })

export const PushRequest = z
  .object({
    audience: Audience.nullish().meta({ examples: ['all'] }),
    hours: z
      .int()
      .min(1)
      .max(8_760)
      .nullish()
      .describe('For inactive: hours without a point; 24 unless given'),
    user_ids: z.array(UserId).min(1).max(5_000).nullish(),
    text: MessageText.nullish(),
    title: text(100)
      .refine((given) => given.trim() !== '', { error: 'must not be blank' })
      .nullish()
      .describe('Sends text and image as a card with this title'),
    image_url: HttpsUrl.nullish().describe(
      'JPEG or PNG of at most 1 MB; LINE shows no others. Only screenshots and cards of this service are checked; the URL is never fetched',
    ),
    dry_run: z.boolean().nullish().describe('Sends nothing; returns the number of recipients and the cost'),
    force: z.boolean().nullish().describe('Sends even if it exceeds the monthly quota'),
    push_id: z
      .uuid()
      .nullish()
      .describe('Made by the client. Repeated with the same one, a message is sent once and answered again'),
  })
  .superRefine((given, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    const byAudience = given.audience != null
    if (byAudience === (given.user_ids != null)) refuse('audience', 'give either an audience or user_ids')
    if (given.hours != null && given.audience !== 'inactive')
      refuse('hours', 'belongs to the audience inactive')
    if (given.text == null && given.image_url == null) refuse('text', 'give a text, an image_url, or both')
    if (given.title != null && given.text == null) refuse('title', 'needs a text below it')
    if (given.title != null && (given.text?.length ?? 0) > 2_000)
      refuse('text', 'is limited to 2,000 characters under a title')
  })
export type PushRequest = z.infer<typeof PushRequest>

export const ExcludedRecipients = z.object({
  unreachable: z.int().describe('Blocked or left the LINE account'),
  withdrawn: z.int(),
  no_line_id: z.int().describe('The id is not a LINE user id'),
})
export type ExcludedRecipients = z.infer<typeof ExcludedRecipients>

export const PushAnswer = z.object({
  id: z.string().nullable().describe('Id of the push, for push/{id}; null for a dry run'),
  recipients: z.int(),
  cost: z.int().describe('Messages that count towards the monthly quota'),
  quota_remaining: z
    .int()
    .nullable()
    .describe('Before this push; null: unlimited, or LINE is not configured'),
  left_out: ExcludedRecipients,
  devices: z.int().describe('Devices that get it by Web Push; they cost nothing'),
  pending: z
    .null()
    .optional()
    .describe(
      'null: the buffer is unavailable, and who is known only by pending points is missing; absent otherwise',
    ),
})
export type PushAnswer = z.infer<typeof PushAnswer>

export const Cause = z.enum(['push', 'pause', 'summary', 'notification', 'alert', 'emergency'])
export type Cause = z.infer<typeof Cause>

export const WebPushProgress = z.object({
  sent: z.int().describe('Taken by the push service of the browser, which delivers within a day or never'),
  waiting: z.int(),
  failed: z.int().describe('Refused for good, or the device was gone'),
})
export type WebPushProgress = z.infer<typeof WebPushProgress>

const NamedPerson = z.object({
  userId: exampleText('U11111111111111111111111111111111'),
  display_name: z.string().nullable(),
})

export const PushProgress = z.object({
  id: exampleText('6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c'),
  cause: Cause,
  audience: z.record(z.string(), z.unknown()),
  state: z
    .enum(['sending', 'sent', 'skipped', 'expired'])
    .describe('skipped: LINE is not configured. expired: it came too late, and is not sent'),
  recipients: z.int(),
  sent: z.int(),
  waiting: z.int(),
  failed: z.int(),
  skipped: z.int(),
  attempts: z.int().describe('Number of calls to LINE so far'),
  left_out: ExcludedRecipients,
  web_push: WebPushProgress.describe('Devices, beside the recipients of LINE'),
  faults: z
    .array(
      z.object({
        detail: exampleText('The user has blocked the account'),
        recipients: z.int(),
        people: z.array(NamedPerson).max(20),
      }),
    )
    .describe('The most frequent errors, each with up to 20 people'),
  created_at: Time,
  created_by: z.string().nullable(),
  completed_at: Time.nullable(),
})
export type PushProgress = z.infer<typeof PushProgress>

/** A message of the ledger, without its errors: `GET push/{id}` lists them. */
export const SentMessage = PushProgress.omit({ faults: true }).extend({
  text: z
    .string()
    .nullable()
    .describe('The beginning of the message; null for an emergency, and if it has no text'),
})
export type SentMessage = z.infer<typeof SentMessage>

export const LineUsage = z.object({
  quota: z.object({ type: z.enum(['none', 'limited']).nullable(), value: z.int().nullable() }),
  consumption: z.object({ total_usage: z.int().nullable() }),
  remaining: z.int().nullable(),
  usage_percent: z.number().nullable(),
  followers: z.int().nullable().describe('Number of followers that LINE can reach'),
  configured: z.boolean(),
})
export type LineUsage = z.infer<typeof LineUsage>

const Day = z.iso.date({ error: 'must be a date such as 2026-04-12' })

/** A text per language. English replaces a missing one; a missing Chinese one or English is replaced by the first. */
export const Texts = z.object({
  'zh-Hant': MessageText,
  'zh-Hans': MessageText.optional(),
  en: MessageText.optional(),
  ja: MessageText.optional(),
} satisfies Record<BuiltInLanguage, z.ZodType>)
export type Texts = z.infer<typeof Texts>

export const NotificationSlot = z.object({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
      error: 'must have 1 to 63 lower-case letters a-z, digits and hyphens, such as morning-2',
    })
    .meta({ examples: ['morning'] }),
  enabled: z.boolean().default(true),
  hour: z.int().min(0).max(23).describe('Hour of the day in the event’s time zone'),
  dates: z.array(Day).min(1).max(366).nullable().default(null).describe('null: every day of the event'),
  audience: z.enum(['all', 'participants', 'volunteers', 'managers', 'owners', 'completed']),
  text: Texts,
})
export type NotificationSlot = z.infer<typeof NotificationSlot>

export const SetNotificationsRequest = z.object({
  slots: z
    .array(NotificationSlot)
    .max(100)
    .refine((slots) => new Set(slots.map(({ id }) => id)).size === slots.length, {
      error: 'two slots have the same id',
    }),
  seen: Time.nullable()
    .optional()
    .describe(
      '`changed_at` of what the operator saw before. If somebody has changed it since, the answer is 409',
    )
    .meta({ examples: [null] }),
})
export type SetNotificationsRequest = z.infer<typeof SetNotificationsRequest>

export const Notifications = z.object({
  slots: z.array(NotificationSlot),
  defaults: z.boolean().describe('Whether these are the unedited defaults'),
  changed_at: Time.nullable(),
  changed_by: z.string().nullable(),
})
export type Notifications = z.infer<typeof Notifications>

export const pushEndpoint = endpoint('POST /api/event/push', {
  id: 'sendPush',
  summary: 'Queues a message to an audience; it is sent in the background',
  access: 'manager',
  body: PushRequest,
  data: PushAnswer,
  errors: ['conflict'],
})

export const messagesEndpoint = endpoint('GET /api/event/push', {
  id: 'listMessages',
  summary: 'Every message that was sent or is being sent, newest first',
  access: 'manager',
  query: PageQuery.extend({ cause: Cause.optional() }),
  data: page(SentMessage),
})

export const pushProgressEndpoint = endpoint('GET /api/event/push/:id', {
  id: 'readPush',
  summary: 'Progress of a message',
  access: 'manager',
  params: z.object({ id: z.uuid() }),
  data: PushProgress,
  errors: ['not-found'],
})

export const lineUsageEndpoint = endpoint('GET /api/event/line-usage', {
  id: 'readLineUsage',
  summary: 'Use of the monthly message quota',
  access: 'volunteer',
  data: LineUsage,
})

export const notificationsEndpoint = endpoint('GET /api/event/admin/notifications', {
  id: 'readNotifications',
  summary: 'Scheduled notifications',
  access: 'manager',
  data: Notifications,
})

export const setNotificationsEndpoint = endpoint('PUT /api/event/admin/notifications', {
  id: 'setNotifications',
  summary: 'Replaces the scheduled notifications',
  access: 'owner',
  body: SetNotificationsRequest,
  data: Notifications,
  errors: ['conflict'],
})

/** Why LINE does not reach a person: the fields of {@link ExcludedRecipients}. */
export const LeftOutReason = ExcludedRecipients.keyof()
export type LeftOutReason = z.infer<typeof LeftOutReason>

export const LeftOutRecipientsQuery = PageQuery.extend({
  message: z.uuid().optional().describe('Id of a message, whose audience it is'),
  audience: Audience.optional().meta({ examples: ['participants'] }),
  hours: HoursOfQuery.optional().describe('For inactive: hours without a point; 24 unless given'),
}).superRefine((given, context) => {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message })
  if ((given.message === undefined) === (given.audience === undefined))
    refuse('audience', 'give either an audience or the id of a message')
  if (given.hours !== undefined && given.audience !== 'inactive')
    refuse('hours', 'belongs to the audience inactive')
})
export type LeftOutRecipientsQuery = z.infer<typeof LeftOutRecipientsQuery>

export const LeftOutRecipient = z.object({
  userId: exampleText('U33333333333333333333333333333333'),
  display_name: z.string().nullable(),
  reason: LeftOutReason.describe('Why LINE does not reach this person'),
  devices: z.int().describe('Devices that get the message by Web Push all the same'),
})
export type LeftOutRecipient = z.infer<typeof LeftOutRecipient>

export const leftOutRecipientsEndpoint = endpoint('GET /api/event/push/left-out', {
  id: 'listLeftOut',
  summary:
    'Who of an audience gets no LINE message, as of now: first who blocked or left the account, then who paused, then who does not use LINE',
  access: 'manager',
  query: LeftOutRecipientsQuery,
  data: page(LeftOutRecipient),
  errors: ['not-found'],
})

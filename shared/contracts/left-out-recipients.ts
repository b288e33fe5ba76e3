/** Who an audience of messages leaves out, by name. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { HoursOfQuery, page, PageQuery } from './fields.ts'
import { Audience, ExcludedRecipients } from './messages.ts'

/** Why LINE does not reach somebody: the fields of {@link ExcludedRecipients}. */
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
  userId: z.string().meta({ examples: ['U33333333333333333333333333333333'] }),
  display_name: z.string().nullable(),
  reason: LeftOutReason.describe('Why LINE does not reach this person'),
  devices: z.int().describe('Number of devices that get the message by Web Push all the same'),
})
export type LeftOutRecipient = z.infer<typeof LeftOutRecipient>

export const leftOutRecipientsEndpoint = endpoint({
  id: 'listLeftOut',
  method: 'GET',
  path: '/api/event/push/left-out',
  service: 'line-bot',
  summary:
    'Who of an audience gets no LINE message, as of now: first who blocked or left the account, then who paused, then who does not use LINE',
  access: 'manager',
  query: LeftOutRecipientsQuery,
  data: page(LeftOutRecipient),
  errors: ['not-found', 503],
})

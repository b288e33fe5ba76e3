/** Web Push: the devices on which a pilgrim’s browser shows the event’s messages. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { HttpsUrl, Time, UserId, exampleText } from './fields.ts'

const endpoint = endpointsOf('line-bot')

export const MAX_PUSH_SUBSCRIPTIONS = 10

const Id = z.uuid({
  error: 'must be the id of a subscription, as GET /api/event/push-subscriptions lists it',
})

/** Unpadded base64url, as `PushSubscription.toJSON()` writes it; other writers pad it. */
const bytes = (form: RegExp, error: string) =>
  z
    .string()
    .overwrite((given) => given.replace(/=+$/, ''))
    .regex(form, { error })

/** A device, without its keys and its address at the push service. */
export const PushDevice = z.object({
  id: Id,
  push_service: exampleText('fcm.googleapis.com').describe('Host name of the browser’s push service'),
  created_at: Time,
})
export type PushDevice = z.infer<typeof PushDevice>

export const PushSubscriptionRequest = z.object({
  user_id: UserId,
  endpoint: HttpsUrl.meta({ examples: ['https://fcm.googleapis.com/fcm/send/eXampLe0nly'] }).describe(
    'Address at the browser’s push service; others than the known ones get 400',
  ),
  keys: z.object({
    p256dh: bytes(
      /^B[A-Za-z0-9_-]{86}$/,
      'must be an uncompressed P-256 point of 65 bytes in base64url',
    ).meta({
      examples: ['BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'],
    }),
    auth: bytes(/^[A-Za-z0-9_-]{22}$/, 'must be 16 bytes in base64url').meta({
      examples: ['BTBZMqHH6r4Tts7J_aSIgg'],
    }),
  }),
})
export type PushSubscriptionRequest = z.infer<typeof PushSubscriptionRequest>

export const PushDeviceList = z.object({ items: z.array(PushDevice).describe('Oldest first') })
export type PushDeviceList = z.infer<typeof PushDeviceList>

const Owner = z.object({ user_id: UserId })

export const subscribeToPushEndpoint = endpoint('POST /api/event/push-subscriptions', {
  id: 'subscribeToPush',
  summary: `Sends the event’s messages to this device by Web Push. Safe to repeat: one device has one subscription. A pilgrim has at most ${MAX_PUSH_SUBSCRIPTIONS}; one more replaces the oldest`,
  limit: 'user-write',
  caller: 'body',
  body: PushSubscriptionRequest,
  data: PushDevice,
  errors: ['conflict', 'erased'],
})

export const listPushSubscriptionsEndpoint = endpoint('GET /api/event/push-subscriptions', {
  id: 'listPushSubscriptions',
  summary: 'The devices of a pilgrim that get the event’s messages by Web Push',
  limit: 'user-write',
  caller: 'query',
  query: Owner,
  data: PushDeviceList,
  errors: ['forbidden'],
})

export const unsubscribeFromPushEndpoint = endpoint('DELETE /api/event/push-subscriptions/:id', {
  id: 'unsubscribeFromPush',
  summary: 'Ends the messages to a device',
  limit: 'user-write',
  caller: 'query',
  params: z.object({ id: Id }),
  query: Owner,
  data: z.object({ id: Id }),
  errors: ['forbidden', 'not-found'],
})

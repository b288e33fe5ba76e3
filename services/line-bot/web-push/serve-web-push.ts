/** Web Push of the bot's service: the endpoints of pilgrims' devices, and the sender. */
import {
  listPushSubscriptionsEndpoint,
  subscribeToPushEndpoint,
  unsubscribeFromPushEndpoint,
} from '#shared/contracts/push-subscriptions.ts'
import { type Router, serve } from '#shared/service/http/router.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createSendingLoop, joinSenders, type Sender } from '../sending/sending-loop.ts'
import { listSubscriptions, subscribe, unsubscribe } from './manage-subscriptions.ts'
import { type Lane, sendDeliveries } from './send-deliveries.ts'

export function serveSubscriptions(router: Router, context: ServiceContext): void {
  serve(router, context, subscribeToPushEndpoint, ({ body }) => subscribe(context, body))
  serve(router, context, listPushSubscriptionsEndpoint, ({ query }) =>
    listSubscriptions(context, query.user_id),
  )
  serve(router, context, unsubscribeFromPushEndpoint, ({ params, query }) =>
    unsubscribe(context, query.user_id, params.id),
  )
}

/** @returns null while Web Push is off */
export function createPushSender(context: ServiceContext): Sender | null {
  const { push } = context.config
  if (push === null) return null
  // Hosts that the settings name are believed to answer; of those behind a `*.` the first answer tells.
  const answering = new Set(push.services.filter((host) => !host.startsWith('*.')))
  const send = (lane: Lane) =>
    createSendingLoop(context, async (isOpen) => {
      while (isOpen() && (await sendDeliveries(context, push, lane, answering)));
    })
  return joinSenders(send('answering'), send('silent'))
}

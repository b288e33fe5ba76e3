/** The LINE bot: it receives LINE's webhook events, answers pilgrims, and sends every message. */
import { createAlertWatch } from '#shared/service/alerts/when-to-alert.ts'
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import { deployMenuEndpoint, menuStatusEndpoint, webhookEndpoint } from '#shared/contracts/bot.ts'
import type { Payload } from '#shared/contracts/events.ts'
import {
  lineUsageEndpoint,
  messagesEndpoint,
  notificationsEndpoint,
  pushEndpoint,
  pushProgressEndpoint,
  setNotificationsEndpoint,
  leftOutRecipientsEndpoint,
} from '#shared/contracts/messages.ts'
import {
  listPushSubscriptionsEndpoint,
  subscribeToPushEndpoint,
  unsubscribeFromPushEndpoint,
} from '#shared/contracts/push-subscriptions.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { createLineClient, type Line, ownWebhookAddress } from '#shared/service/line/line-client.ts'
import { reachesNobody, readEmergencyReach, REACHES_NOBODY } from '#shared/service/alerts/emergency-reach.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { readNotifications } from '#shared/service/line/scheduled-notifications.ts'
import { notifyVolunteers, sendNotification, sendSummary } from './sending/announcements.ts'
import { handleWebhookEvent } from './webhook/handle-webhook-event.ts'
import { readUsage } from './sending/line-usage.ts'
import { listLeftOut } from './sending/list-left-out.ts'
import { listMessages, readProgress } from './sending/read-messages.ts'
import { push } from './sending/push.ts'
import { deployMenus, readMenus } from './bot/rich-menu.ts'
import { createEmergencyAlerts } from './sending/schedule-emergency-alerts.ts'
import { createSender } from './sending/send-messages.ts'
import { joinSenders } from './sending/sending-loop.ts'
import { setNotifications } from './sending/set-notifications.ts'
import { listSubscriptions, subscribe, unsubscribe } from './web-push/manage-subscriptions.ts'
import { createPushSender } from './web-push/send-deliveries.ts'
import { countSetAside, createWebhookSpool } from './webhook/store-webhook-events.ts'
import { createWebhookReceiver } from './webhook/receive-webhook.ts'

export function createLineBot(context: ServiceContext): Service {
  const { config, db } = context
  const line = createLineClient(config.line)
  const sender = joinSenders(line && createSender(context, line), createPushSender(context))
  const watch = createAlertWatch(context)
  const emergencies = createEmergencyAlerts(context, line !== null, sender.wake)
  const renderer = openRenderer({ timeoutMs: 20_000 })
  const router = createRouter(context)
  const { serve } = router
  context.metrics.gauge('event_webhook_events_set_aside', () => countSetAside(context))
  const spool = createWebhookSpool(context)

  const receiveWebhook = createWebhookReceiver(context, spool)
  serve(webhookEndpoint, ({ bytes, request }) =>
    receiveWebhook(bytes, request.headers.get('x-line-signature')),
  )
  serve(pushEndpoint, async ({ operator, body }) => {
    const answer = await push(context, line, operator, body)
    sender.wake()
    return answer
  })
  serve(messagesEndpoint, ({ query }) => listMessages(context, query))
  serve(leftOutRecipientsEndpoint, ({ query, operator }) => listLeftOut(context, query, operator))
  serve(pushProgressEndpoint, ({ params }) => readProgress(context, params.id))
  serve(menuStatusEndpoint, () => readMenus(context, line))
  serve(deployMenuEndpoint, ({ operator }) => deployMenus(context, line, renderer, operator))
  serve(lineUsageEndpoint, () => readUsage(context, line))
  serve(notificationsEndpoint, () => db.read(() => readNotifications(db)))
  serve(setNotificationsEndpoint, ({ operator, body }) => setNotifications(context, operator, body))
  serve(subscribeToPushEndpoint, ({ body, request }) => subscribe(context, body, context.addressOf(request)))
  serve(listPushSubscriptionsEndpoint, ({ query }) => listSubscriptions(context, query.user_id))
  serve(unsubscribeFromPushEndpoint, ({ params, query }) => unsubscribe(context, query.user_id, params.id))

  return {
    name: 'line-bot',
    fetch: router.app.fetch,
    async start() {
      watch.start()
      sender.start()
      emergencies.start()
      spool.draining.start()
      void warnOfNobody(context)
      await subscribeToEvents(context, line, sender.wake, emergencies.run)
      if (line !== null) {
        warnOfTwoPersons(context)
        void compareWebhook(context, line)
      }
    },
    async stop() {
      await Promise.all([
        watch.stop(),
        emergencies.stop(),
        sender.stop(),
        spool.draining.stop(),
        renderer.close(),
      ])
    },
  }
}

async function subscribeToEvents(
  context: ServiceContext,
  line: Line | null,
  wake: () => void,
  alert: () => Promise<void>,
): Promise<void> {
  const { outbox } = context
  const configured = line !== null
  await outbox.on('line-bot.answer', ({ id, payload }) =>
    handleWebhookEvent(context, line, { id, payload: payload as Payload<'event.line-bot.webhook.received'> }),
  )
  await outbox.on('line-bot.notify-volunteers', async ({ payload }) => {
    await notifyVolunteers(context, configured, payload as Payload<'event.admin.status.paused'>)
    wake()
  })
  await outbox.on('line-bot.alert-emergency', alert)
  await outbox.on('line-bot.send-notification', async ({ payload }) => {
    await sendNotification(context, configured, payload as Payload<'event.scheduler.notification.due'>)
    wake()
  })
  await outbox.on('line-bot.final-summary', async () => {
    await sendSummary(context, configured)
    wake()
  })
}

/**
 * Logs a warning if an SOS would reach nobody. Staff and devices can change later; the console shows the current reach.
 */
async function warnOfNobody(context: ServiceContext): Promise<void> {
  const reach = await readEmergencyReach(context).catch(() => null)
  if (reach !== null && reachesNobody(reach))
    context.log.warn(
      `${REACHES_NOBODY}: connect LINE or Web Push, and give the people on duty the role of owner or manager`,
    )
}

function warnOfTwoPersons({ config, log }: ServiceContext): void {
  if (config.identity === 'open')
    log.warn(
      'with EVENT_IDENTITY=open the bot cannot show the walk that the app records; line is recommended',
    )
}

/** A webhook registered at another URL is the most common reason for a silent bot. */
async function compareWebhook({ config, log }: ServiceContext, line: Line): Promise<void> {
  const expected = ownWebhookAddress(config)
  try {
    const registered = await line.webhookAddress()
    if (registered !== expected)
      log.warn('LINE delivers to a different webhook address than the one of this service', {
        registered,
        expected,
      })
  } catch (error) {
    log.warn('the webhook address could not be read from LINE', errorFields(error))
  }
}

if (import.meta.main) {
  const { runService } = await import('#shared/service/service.ts')
  await runService(createLineBot, { isBot: true })
}

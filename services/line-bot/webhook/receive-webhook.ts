/**
 * Receives webhook deliveries. The signature authenticates them. Events are stored durably before the answer and
 * handled afterwards.
 */
import { validateSignature } from '@line/bot-sdk'
import type { ServiceContext } from '#shared/service/context.ts'
import { LineDelivery, LineEvent } from '#shared/contracts/bot.ts'
import { invalid, unauthorized } from '#shared/runtime/refusal.ts'
import { parseJson } from '#shared/service/http/body.ts'
import { DEDUPLICATION_WINDOW_MS } from '#shared/service/line/line-client.ts'
import { isForBot } from './apply-webhook-event.ts'
import type { Spool } from '#shared/stores/objects/spool.ts'

type ReceiveWebhook = (bytes: Uint8Array, signature: string | null) => Promise<{ received: number }>

/**
 * Creates the receiver of deliveries. Without a channel secret (local runs) deliveries are not authenticated.
 * The receiver throws Refusal 401 for a wrong signature, 400 for an invalid body, 503 when no store is available; LINE
 * then delivers the events again.
 */
export const createWebhookReceiver =
  (context: ServiceContext, spool: Pick<Spool<LineEvent, number>, 'keep'>): ReceiveWebhook =>
  async (bytes, signature) => {
    authenticate(context, bytes, signature)
    const events = readEvents(context, bytes)
    return { received: events.length === 0 ? 0 : ((await spool.keep(events)) ?? events.length) }
  }

function authenticate({ config, log }: ServiceContext, bytes: Uint8Array, signature: string | null): void {
  const { channelSecret } = config.line
  if (channelSecret === '')
    log.warn('an unsigned webhook delivery is accepted, because LINE_CHANNEL_SECRET is not set')
  else if (signature === null || !validateSignature(Buffer.from(bytes), channelSecret, signature))
    throw unauthorized('The X-Line-Signature header does not match the body.')
}

function readEvents({ log, now }: ServiceContext, bytes: Uint8Array): LineEvent[] {
  const envelope = LineDelivery.safeParse(parseJson(bytes))
  if (!envelope.success) throw invalid('events: must be a list')
  return envelope.data.events.flatMap((given) => {
    const event = LineEvent.safeParse(given)
    if (event.success) {
      const isFresh = event.data.timestamp > now() - DEDUPLICATION_WINDOW_MS
      return isFresh && isForBot(event.data) ? [event.data] : []
    }
    log.warn('a webhook event is not valid', {
      // Deeper names and all values may be personal.
      faults: event.error.issues.map(({ code, path: [field] }) => `${String(field)}: ${code}`),
    })
    return []
  })
}

/**
 * Receives webhook deliveries. The signature authenticates them. Events are stored durably before the answer and
 * handled afterwards.
 */
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { validateSignature } from '@line/bot-sdk'
import type { ServiceContext } from '#shared/service/context.ts'
import { LineDelivery, LineEvent } from '#shared/contracts/bot.ts'
import { invalid, unauthorized, unavailable } from '#shared/runtime/refusal.ts'
import { parseJson } from '#shared/service/http/body.ts'
import { errorFields, LoggableError } from '#shared/runtime/log.ts'
import { DEDUPLICATION_WINDOW_MS } from '#shared/service/line/line-client.ts'
import { isForBot } from './apply-webhook-event.ts'
import { spoolEvents, storeWebhookEvents } from './store-webhook-events.ts'

/** LINE ignores an answer after 2 s; both stores together take less than one second. */
const STORE_MS = 450
/**
 * Maximum number of deliveries that the database is storing. A delivery that was answered from the spool still waits
 * in the database's queue; without a limit, flushes and requests would wait behind thousands of these.
 */
const MAX_STORING = 16

type ReceiveWebhook = (bytes: Uint8Array, signature: string | null) => Promise<{ received: number }>

/**
 * Creates the receiver of deliveries. Without a channel secret (local runs) deliveries are not authenticated.
 * The receiver throws Refusal 401 for a wrong signature, 400 for an invalid body, 503 when no store is available; LINE
 * then delivers the events again.
 */
export function createWebhookReceiver(context: ServiceContext): ReceiveWebhook {
  const { log } = context
  let storing = 0
  const store = (events: readonly LineEvent[]): Promise<number> => {
    if (storing >= MAX_STORING) throw new LoggableError(`${MAX_STORING} deliveries are being stored already`)
    storing++
    return withTimeout(storeWebhookEvents(context, events).finally(() => storing--))
  }
  return async (bytes, signature) => {
    authenticate(context, bytes, signature)
    const events = readEvents(context, bytes)
    if (events.length === 0) return { received: 0 }
    try {
      return { received: await store(events) }
    } catch (error) {
      log.warn('webhook events go to the spool, because the database does not accept them', {
        count: events.length,
        ...errorFields(error),
      })
    }
    try {
      await withTimeout(spoolEvents(context, events))
      return { received: events.length }
    } catch {
      throw unavailable('The events can not be stored at the moment. Please deliver them again.')
    }
  }
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
      // Deeper names and the values may be personal.
      faults: event.error.issues.map(({ code, path: [field] }) => `${String(field)}: ${code}`),
    })
    return []
  })
}

const withTimeout = <T>(work: Promise<T>): Promise<T> =>
  within(
    work,
    STORE_MS,
    rejectWith(() => new LoggableError(`not within ${STORE_MS} ms`)),
  )

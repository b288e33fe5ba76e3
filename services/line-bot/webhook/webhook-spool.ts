/** Spools webhook events to the object store while the database is down. LINE redelivers only after an error. */
import type { ServiceContext } from '#shared/service/context.ts'
import { LineEvent } from '#shared/contracts/bot.ts'
import { eachApart, type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { SPOOL } from '#shared/stores/objects/spooled-webhook-events.ts'
import { setAside } from './store-refused-event.ts'
import { storeWebhookEvents } from './store-webhook-events.ts'

const EVERY_MS = 15_000

/** Writes events to the object store. A repeated event is the same object. */
export async function spoolEvents({ objects }: ServiceContext, events: readonly LineEvent[]): Promise<void> {
  await Promise.all(
    events.map((event) =>
      objects.put(
        `${SPOOL}${event.webhookEventId.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`,
        Buffer.from(JSON.stringify(event)),
        { contentType: 'application/json' },
      ),
    ),
  )
}

/**
 * Moves spooled events to the database. Safe to repeat, because events are identified by their ids. An event that
 * can not be moved stays or is set aside, and does not block the others.
 * @throws when a store is unavailable
 */
export async function drainSpool(context: ServiceContext): Promise<void> {
  const { objects } = context
  await eachApart(context, 'spooled webhook events', objects.list(SPOOL), async (key) => {
    const object = await objects.get(key)
    if (object === null) return
    await move(context, Buffer.from(object.bytes).toString('utf8'))
    await objects.delete(key)
  })
}

async function move(context: ServiceContext, text: string): Promise<void> {
  const event = LineEvent.safeParse(parsed(text))
  await (event.success ? storeWebhookEvents(context, [event.data]) : setAside(context, text, event.error))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Drains the spool regularly. */
export const watchSpool = (context: ServiceContext): Repeated =>
  repeated(context.log, 'the spool could not be drained', EVERY_MS, () => drainSpool(context))

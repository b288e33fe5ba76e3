/** Stores webhook events in the database, each once, also when LINE delivers them again. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { LineEvent } from '#shared/contracts/bot.ts'
import type { Event } from '#shared/contracts/events.ts'
import { isDataRefused } from '#shared/stores/db/db.ts'
import { isErasedSince } from '#shared/pilgrims/person-lock.ts'
import { lineEvents } from '#shared/stores/schema/tables.ts'
import { senderOf } from './apply-webhook-event.ts'
import { setAside } from './store-refused-event.ts'

/**
 * Stores new events, each with its row in the outbox. An event that the database refuses is set aside with the
 * reason; the others are stored. Events from before the sender's erasure are not stored, also when they arrive late
 * from the spool or from LINE.
 * @returns the number of new events
 */
export async function storeWebhookEvents(
  context: ServiceContext,
  events: readonly LineEvent[],
): Promise<number> {
  try {
    return await storeTogether(context, events)
  } catch (error) {
    if (!isPoison(error)) throw error
    if (events.length > 1) return storeEach(context, events)
    await setAside(context, events[0]!, error)
    return 0
  }
}

/**
 * A permanent fault of the event: values that Postgres rejects, or nesting that is too deep. A retry can not
 * succeed.
 */
const isPoison = (error: unknown): boolean => isDataRefused(error) || error instanceof RangeError

async function storeEach(context: ServiceContext, events: readonly LineEvent[]): Promise<number> {
  let stored = 0
  for (const event of events) stored += await storeWebhookEvents(context, [event])
  return stored
}

/** Stores all events or none. */
async function storeTogether(
  { db, outbox, now }: ServiceContext,
  events: readonly LineEvent[],
): Promise<number> {
  const receivedAt = new Date(now())
  const stored = await db.orm.transaction(async (tx) => {
    const accepted: LineEvent[] = []
    for (const event of events) {
      const sender = senderOf(event)
      if (sender === null || !(await isErasedSince(tx, sender, event.timestamp))) accepted.push(event)
    }
    if (accepted.length === 0) return []
    const rows = await tx
      .insert(lineEvents)
      .values(accepted.map(({ webhookEventId }) => ({ webhookEventId, receivedAt })))
      .onConflictDoNothing()
      .returning({ id: lineEvents.webhookEventId })
    const fresh = new Set(rows.map(({ id }) => id))
    const added: Event[] = []
    for (const event of accepted)
      if (fresh.delete(event.webhookEventId))
        added.push(await outbox.add(tx, 'event.line-bot.webhook.received', storable(event)))
    return added
  })
  for (const event of stored) void outbox.ring(event)
  return stored.length
}

/** Removes NUL and lone surrogates from values, because Postgres rejects them. LINE's field names contain neither. */
const storable = (event: LineEvent): LineEvent =>
  JSON.parse(JSON.stringify(event), (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\u0000', '') : value,
  ) as LineEvent

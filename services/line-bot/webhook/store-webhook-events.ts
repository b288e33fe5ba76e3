/** Webhook events into the database, each once, whatever is delivered again. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { LineEvent } from '#shared/contracts/bot.ts'
import type { Event } from '#shared/contracts/events.ts'
import { isDataRefused } from '#shared/db/db.ts'
import { isErasedSince } from '#shared/pilgrims/person-lock.ts'
import { lineEvents } from '#shared/schema/messages.ts'
import { senderOf } from './apply-webhook-event.ts'
import { setAside } from './set-aside-event.ts'

/**
 * Stores the events that are new, each with its row in the outbox. One that the database refuses spoils none of its
 * neighbours: it is set aside with the reason. What somebody said before they were erased is not stored, however late
 * it comes: from the spool, or once more from LINE.
 * @returns how many were new
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

/** The event's own fault, which no repetition mends: values that no column takes, or nested too deep to be walked. */
const isPoison = (error: unknown): boolean => isDataRefused(error) || error instanceof RangeError

async function storeEach(context: ServiceContext, events: readonly LineEvent[]): Promise<number> {
  let stored = 0
  for (const event of events) stored += await storeWebhookEvents(context, [event])
  return stored
}

/** All of them, or none. */
async function storeTogether(
  { db, outbox, now }: ServiceContext,
  events: readonly LineEvent[],
): Promise<number> {
  const receivedAt = new Date(now())
  const stored = await db.orm.transaction(async (tx) => {
    const kept: LineEvent[] = []
    for (const event of events) {
      const sender = senderOf(event)
      if (sender === null || !(await isErasedSince(tx, sender, event.timestamp))) kept.push(event)
    }
    if (kept.length === 0) return []
    const rows = await tx
      .insert(lineEvents)
      .values(kept.map(({ webhookEventId }) => ({ webhookEventId, receivedAt })))
      .onConflictDoNothing()
      .returning({ id: lineEvents.webhookEventId })
    const fresh = new Set(rows.map(({ id }) => id))
    const added: Event[] = []
    for (const event of kept)
      if (fresh.delete(event.webhookEventId))
        added.push(await outbox.add(tx, 'event.line-bot.webhook.received', storable(event)))
    return added
  })
  for (const event of stored) void outbox.ring(event)
  return stored.length
}

/** Neither JSON columns nor text columns hold a NUL or half a character; names that do are nothing of LINE's. */
const storable = (event: LineEvent): LineEvent =>
  JSON.parse(JSON.stringify(event), (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\u0000', '') : value,
  ) as LineEvent

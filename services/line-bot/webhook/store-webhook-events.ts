/**
 * Stores webhook events: in the database, each once; as refused text, when the database rejects them; and in the object
 * store while the database is down.
 */
import { sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { LineEvent } from '#shared/contracts/bot.ts'
import { errorFields, LoggableError } from '#shared/runtime/log.ts'
import { isDataRefused } from '#shared/stores/db/db.ts'
import { lockedErasures, mayWrite } from '#shared/pilgrims/person-lock.ts'
import { createSpool, type Spool, WEBHOOK_EVENTS } from '#shared/stores/objects/spool.ts'
import { lineEvents, refusedLineEvents } from '#shared/stores/schema/tables.ts'
import { senderOf } from './apply-webhook-event.ts'

/**
 * Stores new events, each with its row in the outbox. An event that the database refuses is set aside with the reason;
 * the others are stored. Events from before the sender's erasure are not stored, even if they arrive late.
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
 * A permanent fault of the event: values that Postgres rejects, or nesting that is too deep. A retry cannot succeed.
 */
const isPoison = (error: unknown): boolean => isDataRefused(error) || error instanceof RangeError

async function storeEach(context: ServiceContext, events: readonly LineEvent[]): Promise<number> {
  let stored = 0
  for (const event of events) stored += await storeWebhookEvents(context, [event])
  return stored
}

async function storeTogether(
  { db, outbox, now }: ServiceContext,
  events: readonly LineEvent[],
): Promise<number> {
  const receivedAt = new Date(now())
  const stored = await db.transaction(async (tx) => {
    // A delivery may have hundreds of events, and the answer is due within a second.
    const senders = events.map(senderOf).filter((sender) => sender !== null)
    const erasures = await lockedErasures(tx, senders)
    const accepted = events.filter((event) => {
      const erasure = erasures.get(senderOf(event) ?? '')
      return erasure === undefined || erasure.erasedMs < event.timestamp
    })
    if (accepted.length === 0) return []
    const rows = await tx.orm
      .insert(lineEvents)
      .values(accepted.map(({ webhookEventId }) => ({ webhookEventId, receivedAt })))
      .onConflictDoNothing()
      .returning({ id: lineEvents.webhookEventId })
    const fresh = new Set(rows.map(({ id }) => id))
    const added = accepted.filter(({ webhookEventId }) => fresh.delete(webhookEventId)).map(storable)
    return added.length === 0 ? [] : outbox.addAll(tx, 'event.line-bot.webhook.received', added)
  })
  for (const event of stored) void outbox.ring(event)
  return stored.length
}

/** Removes NUL and lone surrogates from values, because Postgres rejects them. LINE's field names contain neither. */
const storable = (event: LineEvent): LineEvent =>
  JSON.parse(JSON.stringify(event), (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\u0000', '') : value,
  ) as LineEvent

/** The message of the database's error. The query's error around it would contain personal data. */
function reasonOf(error: unknown): string {
  let cause = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  if (!(cause instanceof Error)) return 'unknown'
  const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return `${cause.message}${code}`
}

/**
 * Stores a refused event as text with the reason, so that it does not block others. A repeated delivery is the same
 * row.
 */
async function setAside({ db, log, now }: ServiceContext, given: unknown, error: unknown): Promise<void> {
  const reason = reasonOf(error)
  // JSON escapes the characters that Postgres rejects.
  const event = JSON.stringify(given)
  const parsed = LineEvent.safeParse(given)
  const userId = parsed.success ? senderOf(parsed.data) : null
  await db.transaction(async (tx) => {
    if (userId !== null && !(await mayWrite(tx, userId, parsed.data!.timestamp))) return
    await tx.orm
      .insert(refusedLineEvents)
      .values({
        digest: new Bun.CryptoHasher('sha256').update(event).digest('hex'),
        userId,
        event,
        reason,
        refusedAt: new Date(now()),
      })
      .onConflictDoNothing()
  })
  log.warn('the database refused a webhook event; it is set aside', errorFields(error))
}

export async function countSetAside({ db }: ServiceContext): Promise<number> {
  const [row] = await db.orm.select({ n: sql<number>`count(*)::int` }).from(refusedLineEvents)
  return row!.n
}

/** Webhook events on their way to the database. LINE redelivers only after an error, so they are spooled. */
export const createWebhookSpool = (context: ServiceContext): Spool<LineEvent, number> =>
  createSpool(context, WEBHOOK_EVENTS, {
    store: (events) => storeWebhookEvents(context, events),
    setAside: (text) => setAside(context, text, new LoggableError('not a webhook event')),
  })

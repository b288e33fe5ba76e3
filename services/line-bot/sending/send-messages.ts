/**
 * Sends pending chunks, one call at a time. A chunk's attempt is stored before its call, and the call's retry key
 * never changes. So no message is sent twice, wherever a process is killed.
 */
import { and, asc, eq, gt, gte, ne, notExists, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Delivery, type Line, type Message, RETRY_KEY_MS } from '#shared/service/line/line-client.ts'
import { lockPersonShared } from '#shared/pilgrims/person-lock.ts'
import { messageChunks, messages, followers } from '#shared/stores/schema/tables.ts'
import { EXPIRED, isExpired } from './expiry.ts'
import {
  backoffMs,
  createSendingLoop,
  EMERGENCIES_FIRST,
  isDue,
  type Sender,
  waitOf,
} from './sending-loop.ts'
import { describeError } from '#shared/runtime/log.ts'
import { recordSummary } from '#shared/pilgrims/activity-status.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { chunk } from './plan-message.ts'

const LOCK = 'line-sender'
/** Longer than one call and its writes take. */
const LOCK_MS = 15_000

export function createSender(context: ServiceContext, line: Line): Sender {
  const { kv } = context
  const misses: Misses = { inARow: 0 }
  const drain = async (isOpen: () => boolean): Promise<void> => {
    // Without the kv two replicas may send at the same time. The retry keys prevent duplicates; only calls are
    // wasted.
    const lock = await kv.lock(LOCK, LOCK_MS).catch(() => '')
    if (lock === null) return
    try {
      while (isOpen() && (await sendNext(context, line, misses)))
        if (lock !== '' && !(await kv.renewLock(LOCK, lock, LOCK_MS).catch(() => true))) return
    } finally {
      if (lock !== '') await kv.unlock(LOCK, lock).catch(() => undefined)
    }
  }

  return createSendingLoop(context, drain)
}

/** Consecutive times that the quota could not be read, or was too small for the undecided calls. */
interface Misses {
  inARow: number
}

/** Sends the longest-overdue chunk, those of emergencies first. @returns false when none is due */
async function sendNext(context: ServiceContext, line: Line, misses: Misses): Promise<boolean> {
  const { db, now } = context
  const [row] = await db.orm
    .select({
      chunk: messageChunks,
      forced: messages.forced,
      causeKey: messages.causeKey,
      at: messages.createdAt,
    })
    .from(messageChunks)
    .innerJoin(messages, eq(messages.id, messageChunks.messageId))
    .where(and(eq(messageChunks.state, 'waiting'), isDue(messageChunks.dueAt, now())))
    .orderBy(EMERGENCIES_FIRST, asc(messageChunks.dueAt), asc(messageChunks.id))
    .limit(1)
  if (row === undefined) return false
  const { chunk, forced, causeKey, at } = row
  // Erasures remove people from chunks.
  if (chunk.recipients.length === 0)
    await recordOutcome(context, chunk, { state: 'failed', detail: 'no recipients are left' })
  else if (await isExpired(context, db, causeKey, at.getTime()))
    await recordOutcome(context, chunk, { state: 'failed', detail: EXPIRED })
  else if (chunk.triedAt !== null && now() - chunk.triedAt.getTime() > RETRY_KEY_MS)
    await recordOutcome(context, chunk, {
      state: 'failed',
      detail: ['not confirmed within a day', chunk.detail].filter((text) => text !== null).join('; '),
    })
  else if (forced || chunk.attempts > 0 || (await fits(context, line, chunk, misses)))
    await call(context, line, chunk)
  return true
}

const recordOutcome = (
  { db, now }: ServiceContext,
  chunk: Chunk,
  settlement: Parameters<typeof recordDelivery>[2],
) => db.transaction((tx) => recordDelivery(tx, chunk, settlement, new Date(now())))

/**
 * Postpones all due chunks that need the quota: each of them would ask LINE for it.
 * @param least the size from which a chunk does not fit; smaller ones are tried
 */
async function postponeUnsent(
  { db, now }: ServiceContext,
  misses: Misses,
  detail: string,
  least = 0,
): Promise<false> {
  const nowMs = now()
  await db.orm
    .update(messageChunks)
    .set({ detail, dueAt: new Date(nowMs + backoffMs(++misses.inARow)) })
    .from(messages)
    .where(
      and(
        eq(messages.id, messageChunks.messageId),
        eq(messages.forced, false),
        eq(messageChunks.state, 'waiting'),
        eq(messageChunks.attempts, 0),
        gte(messageChunks.size, least),
        isDue(messageChunks.dueAt, nowMs),
      ),
    )
  return false
}

/** Whether a chunk fits the month's quota. Otherwise it fails, or is postponed while other calls are undecided. */
async function fits(context: ServiceContext, line: Line, chunk: Chunk, misses: Misses): Promise<boolean> {
  const { db } = context
  let remaining: number
  try {
    const { limit, used } = await line.quota()
    remaining = limit === null ? Infinity : limit - used
  } catch (error) {
    return postponeUnsent(context, misses, `the quota is not known: ${describeError(error)}`)
  }
  if (remaining < chunk.size) {
    misses.inARow = 0
    await recordOutcome(context, chunk, { state: 'failed', detail: 'over the monthly quota' })
    return false
  }
  const [pending] = await db.orm
    .select({ size: sql<number>`coalesce(sum(${messageChunks.size}), 0)::int` })
    .from(messageChunks)
    .where(
      and(eq(messageChunks.state, 'waiting'), gt(messageChunks.attempts, 0), ne(messageChunks.id, chunk.id)),
    )
  if (remaining - (pending?.size ?? 0) < chunk.size)
    return postponeUnsent(context, misses, 'postponed for the quota: other calls are undecided', chunk.size)
  misses.inARow = 0
  return true
}

async function call(context: ServiceContext, line: Line, chunk: Chunk): Promise<void> {
  const { db, now } = context
  const attempts = chunk.attempts + 1
  await db.orm
    .update(messageChunks)
    .set({
      attempts,
      triedAt: chunk.triedAt ?? new Date(now()),
      dueAt: new Date(now() + backoffMs(attempts)),
    })
    .where(and(eq(messageChunks.id, chunk.id), eq(messageChunks.state, 'waiting')))
  const delivery = await line.multicast(chunk.recipients, chunk.body as Message[], chunk.retryKey)
  await record(context, { ...chunk, attempts }, delivery)
}

/** Whether LINE's error names the recipient, such as "The property, 'to', in the request body is invalid". */
const namesRecipient = (detail: string): boolean => /'to'|user ?id/i.test(detail)

async function record(context: ServiceContext, chunk: Chunk, delivery: Delivery): Promise<void> {
  const { db, now, log, metrics } = context
  metrics.count('event_line_calls_total', { outcome: delivery.outcome })
  switch (delivery.outcome) {
    case 'accepted':
      return recordOutcome(context, chunk, { state: 'sent', requestId: delivery.requestId })
    case 'over-quota':
      return recordOutcome(context, chunk, { state: 'failed', detail: delivery.detail })
    case 'later': {
      const { detail, retryAfterMs } = delivery
      await db.orm
        .update(messageChunks)
        .set({ detail, dueAt: new Date(now() + waitOf(chunk.attempts, retryAfterMs)) })
        .where(eq(messageChunks.id, chunk.id))
      return
    }
    case 'refused': {
      const { detail, brief } = delivery
      log.warn('LINE refuses a call', { message_id: chunk.messageId, recipients: chunk.size, detail: brief })
      const at = new Date(now())
      await db.transaction(async (tx) => {
        const isOne = chunk.recipients.length === 1
        if (isOne) await lockPersonShared(tx, chunk.recipients[0]!)
        const locked = await lockChunk(tx, chunk)
        if (delivery.fault === 'recipients' && !isOne) return splitChunk(tx, locked, detail, at)
        if (isOne && namesRecipient(detail))
          for (const userId of locked.recipients) await recordRefusal(tx, userId, at)
        return recordDelivery(tx, locked, { state: 'failed', detail }, at)
      })
    }
  }
}

export type Chunk = typeof messageChunks.$inferSelect

interface Outcome {
  readonly state: 'sent' | 'failed' | 'skipped'
  readonly requestId?: string | null
  readonly detail?: string
}

/** Records the outcome of a pending chunk. The last chunk completes its message. */
export async function recordDelivery(tx: Tx, chunk: Chunk, outcome: Outcome, at: Date): Promise<void> {
  const recorded = await tx.orm
    .update(messageChunks)
    .set({
      state: outcome.state,
      lineRequestId: outcome.requestId ?? null,
      detail: outcome.detail ?? chunk.detail,
      settledAt: at,
    })
    .where(and(eq(messageChunks.id, chunk.id), eq(messageChunks.state, 'waiting')))
    .returning({ id: messageChunks.id })
  if (recorded.length > 0) await completeMessage(tx, chunk.messageId, at)
}

/** Locks a chunk and rereads what erasures change, so that erased data are not stored again. */
async function lockChunk(tx: Tx, chunk: Chunk): Promise<Chunk> {
  const [row] = await tx.orm.select().from(messageChunks).where(eq(messageChunks.id, chunk.id)).for('update')
  return { ...chunk, recipients: row?.recipients ?? [], body: row?.body ?? [] }
}

/** Splits a chunk in halves, because LINE refuses a whole call for one bad id. The caller holds the chunk's lock. */
export async function splitChunk(tx: Tx, whole: Chunk, detail: string, at: Date): Promise<void> {
  const split = await tx.orm
    .update(messageChunks)
    .set({ state: 'split', detail, settledAt: at })
    .where(and(eq(messageChunks.id, whole.id), eq(messageChunks.state, 'waiting')))
    .returning({ id: messageChunks.id })
  if (split.length === 0) return
  const middle = whole.recipients.length >> 1
  const halves = [whole.recipients.slice(0, middle), whole.recipients.slice(middle)].filter(
    (half) => half.length > 0,
  )
  if (halves.length === 0) return completeMessage(tx, whole.messageId, at)
  await tx.orm
    .insert(messageChunks)
    .values(halves.map((half) => chunk(whole.messageId, half, whole.body, 'waiting', at)))
}

/** Marks a refused person as unreachable until they follow the account again. */
async function recordRefusal(tx: Tx, userId: string, at: Date): Promise<void> {
  await tx.orm
    .insert(followers)
    .values({ userId, reachable: false, changedAt: at })
    .onConflictDoUpdate({ target: followers.userId, set: { reachable: false, changedAt: at } })
}

async function completeMessage(tx: Tx, messageId: string, at: Date): Promise<void> {
  const waiting = tx.orm
    .select({ one: sql`1` })
    .from(messageChunks)
    .where(and(eq(messageChunks.messageId, messageId), eq(messageChunks.state, 'waiting')))
  const completed = await tx.orm
    .update(messages)
    .set({ state: 'sent', completedAt: at })
    .where(and(eq(messages.id, messageId), eq(messages.state, 'sending'), notExists(waiting)))
    .returning({ cause: messages.cause })
  if (completed[0]?.cause === 'summary') await recordSummary(tx, 'sent')
}

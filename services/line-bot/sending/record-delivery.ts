/** Records LINE's decision about a chunk, each once. */
import { and, eq, notExists, sql } from 'drizzle-orm'
import { recordSummary } from '#shared/pilgrims/end-progress.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { followers, messageChunks, messages } from '#shared/stores/schema/messages.ts'
import { chunk } from './plan-message.ts'

export type Chunk = typeof messageChunks.$inferSelect

export interface Outcome {
  readonly state: 'sent' | 'failed' | 'skipped'
  readonly requestId?: string | null
  readonly detail?: string
}

/** Records the outcome of a pending chunk. The last chunk completes its message. */
export async function recordDelivery(tx: Writer, held: Chunk, outcome: Outcome, at: Date): Promise<void> {
  const recorded = await tx
    .update(messageChunks)
    .set({
      state: outcome.state,
      lineRequestId: outcome.requestId ?? null,
      detail: outcome.detail ?? held.detail,
      settledAt: at,
    })
    .where(and(eq(messageChunks.id, held.id), eq(messageChunks.state, 'waiting')))
    .returning({ id: messageChunks.id })
  if (recorded.length > 0) await completeMessage(tx, held.messageId, at)
}

/** Locks a chunk and reads its recipients again, so that people erased since are not stored again. */
export async function lockChunk(tx: Writer, held: Chunk): Promise<Chunk> {
  const [row] = await tx.select().from(messageChunks).where(eq(messageChunks.id, held.id)).for('update')
  return { ...held, recipients: row?.recipients ?? [] }
}

/** Splits a chunk in halves, because LINE refuses a whole call for one bad id. The caller holds the chunk's lock. */
export async function splitChunk(tx: Writer, held: Chunk, detail: string, at: Date): Promise<void> {
  const split = await tx
    .update(messageChunks)
    .set({ state: 'split', detail, settledAt: at })
    .where(and(eq(messageChunks.id, held.id), eq(messageChunks.state, 'waiting')))
    .returning({ id: messageChunks.id })
  if (split.length === 0) return
  const middle = held.recipients.length >> 1
  const halves = [held.recipients.slice(0, middle), held.recipients.slice(middle)].filter(
    (half) => half.length > 0,
  )
  if (halves.length === 0) return completeMessage(tx, held.messageId, at)
  await tx
    .insert(messageChunks)
    .values(halves.map((half) => chunk(held.messageId, half, held.body, 'waiting', at)))
}

/** Marks a refused person as unreachable until they follow the account again. */
export async function recordRefusal(tx: Writer, userId: string, at: Date): Promise<void> {
  await tx
    .insert(followers)
    .values({ userId, reachable: false, changedAt: at })
    .onConflictDoUpdate({ target: followers.userId, set: { reachable: false, changedAt: at } })
}

async function completeMessage(tx: Writer, messageId: string, at: Date): Promise<void> {
  const waiting = tx
    .select({ one: sql`1` })
    .from(messageChunks)
    .where(and(eq(messageChunks.messageId, messageId), eq(messageChunks.state, 'waiting')))
  const completed = await tx
    .update(messages)
    .set({ state: 'sent', completedAt: at })
    .where(and(eq(messages.id, messageId), eq(messages.state, 'sending'), notExists(waiting)))
    .returning({ cause: messages.cause })
  if (completed[0]?.cause === 'summary') await recordSummary(tx, 'sent')
}

/** Creates a pilgrim's row at the first contact. */
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { lockPersonUnlessErased } from '#shared/pilgrims/person-lock.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'
import { eq } from 'drizzle-orm'

/**
 * Creates a pilgrim's row unless it exists. Must be the first statement of its transaction.
 * @param nowMs time of the request (epoch milliseconds)
 * @throws Refusal 410 when the pilgrim was erased (`lockPersonUnlessErased`)
 */
export async function ensurePilgrim(tx: Writer, userId: string, nowMs: number): Promise<void> {
  await lockPersonUnlessErased(tx, userId, nowMs)
  const at = new Date(nowMs)
  await tx.insert(pilgrims).values({ userId, createdAt: at, updatedAt: at }).onConflictDoNothing()
}

/**
 * Locks a pilgrim's row until the transaction ends: their writes that count what they have come one after the other.
 * @returns the row; undefined when there is none
 */
export async function lockPilgrim(
  tx: Writer,
  userId: string,
): Promise<typeof pilgrims.$inferSelect | undefined> {
  const [row] = await tx.select().from(pilgrims).where(eq(pilgrims.userId, userId)).for('update')
  return row
}

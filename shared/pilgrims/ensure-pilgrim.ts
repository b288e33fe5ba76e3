/** Creates a pilgrim's row at the first contact. */
import type { Writer } from '#shared/bus/outbox.ts'
import { lockPersonUnlessErased } from '#shared/pilgrims/person-lock.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/**
 * Creates a pilgrim's row unless it exists. Must be the first statement of its transaction.
 * @param nowMs time of the request (epoch milliseconds)
 * @throws Refusal 409 when the pilgrim has been erased since
 */
export async function ensurePilgrim(tx: Writer, userId: string, nowMs: number): Promise<void> {
  await lockPersonUnlessErased(tx, userId, nowMs)
  const at = new Date(nowMs)
  await tx.insert(pilgrims).values({ userId, createdAt: at, updatedAt: at }).onConflictDoNothing()
}

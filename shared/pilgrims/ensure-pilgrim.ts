/** A pilgrim's row, for whoever is the first to hear of them. */
import type { Writer } from '#shared/bus/outbox.ts'
import { holdPerson } from '#shared/pilgrims/person-lock.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/**
 * Makes a pilgrim of whom nothing else is known; one that is there stays as it is. First in its transaction.
 * @param nowMs when the request came
 * @throws Refusal 409 when the pilgrim has been erased since
 */
export async function ensurePilgrim(tx: Writer, userId: string, nowMs: number): Promise<void> {
  await holdPerson(tx, userId, nowMs)
  const at = new Date(nowMs)
  await tx.insert(pilgrims).values({ userId, createdAt: at, updatedAt: at }).onConflictDoNothing()
}

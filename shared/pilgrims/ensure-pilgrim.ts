/** A pilgrim's row, for whoever is the first to hear of them. */
import type { Writer } from '#shared/bus/outbox.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/** Makes a pilgrim of whom nothing else is known; one that is there stays as it is. */
export async function makePilgrim(tx: Writer, userId: string, nowMs: number): Promise<void> {
  const at = new Date(nowMs)
  await tx.insert(pilgrims).values({ userId, createdAt: at, updatedAt: at }).onConflictDoNothing()
}

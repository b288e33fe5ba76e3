/** Progress of the event's end: each part of it is noted by the service that does it, and read by operators. */
import { eq } from 'drizzle-orm'
import { Ending } from '#shared/contracts/operations.ts'
import type { Database } from '#shared/db/db.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { ending } from '#shared/schema/operations.ts'

/** The one row of the table. */
const ENDING_ID = 1
const POLL_MS = 250

/** Notes that the event has ended; what was noted already stays. */
export async function recordEnd(tx: Writer, endedAt: Date): Promise<void> {
  await tx.insert(ending).values({ id: ENDING_ID, endedAt }).onConflictDoNothing()
}

/** Notes that everything buffered at the end has been flushed. */
export async function recordFinalFlush(tx: Writer, flushedAt: Date): Promise<void> {
  await tx.update(ending).set({ flushedAt }).where(eq(ending.id, ENDING_ID))
}

/** Notes how many achievement cards are drawn. */
export async function recordCards(
  tx: Writer,
  { done, total }: { done: number; total: number },
): Promise<void> {
  await tx.update(ending).set({ cardsDone: done, cardsTotal: total }).where(eq(ending.id, ENDING_ID))
}

/** Notes how far the final summary is. */
export async function recordSummary(tx: Writer, summary: 'sending' | 'sent'): Promise<void> {
  await tx.update(ending).set({ summary }).where(eq(ending.id, ENDING_ID))
}

/** The progress as operators see it; null while the event has not ended. */
export async function readEndProgress(tx: Writer): Promise<Ending | null> {
  const [row] = await tx.select().from(ending).where(eq(ending.id, ENDING_ID))
  if (row === undefined) return null
  return Ending.parse({
    flush: row.flushedAt === null ? 'running' : 'done',
    cards: { done: row.cardsDone, total: row.cardsTotal },
    summary: row.summary,
  })
}

/**
 * Waits for the final flush, for so many milliseconds at most.
 * @returns whether what follows it may begin: it is through, or the event has not ended
 */
export async function waitForFinalFlush(
  db: Database,
  patienceMs: number,
  stopping: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + patienceMs
  for (;;) {
    if ((await db.read(() => readEndProgress(db.orm)))?.flush !== 'running') return true
    if (stopping.aborted || performance.now() >= until) return false
    await Bun.sleep(POLL_MS)
  }
}

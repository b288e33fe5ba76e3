/** Progress of the event's end. Each service records its own part; operators read it. */
import { eq } from 'drizzle-orm'
import { Ending } from '#shared/contracts/operations.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { ending } from '#shared/stores/schema/tables.ts'

/** Id of the table's single row. */
const ENDING_ID = 1
const POLL_MS = 250

/** Records that the event has ended; existing progress stays. */
export async function recordEnd(tx: Writer, endedAt: Date): Promise<void> {
  await tx.insert(ending).values({ id: ENDING_ID, endedAt }).onConflictDoNothing()
}

/** Records that all points that were pending at the end are flushed. */
export async function recordFinalFlush(tx: Writer, flushedAt: Date): Promise<void> {
  await tx.update(ending).set({ flushedAt }).where(eq(ending.id, ENDING_ID))
}

/** Records the number of achievement cards drawn. */
export async function recordCards(
  tx: Writer,
  { done, total }: { done: number; total: number },
): Promise<void> {
  await tx.update(ending).set({ cardsDone: done, cardsTotal: total }).where(eq(ending.id, ENDING_ID))
}

/** Records the state of the final summary. `skipped`: LINE is not configured. */
export async function recordSummary(tx: Writer, summary: 'sending' | 'sent' | 'skipped'): Promise<void> {
  await tx.update(ending).set({ summary }).where(eq(ending.id, ENDING_ID))
}

/** Reads the progress; null until the event has ended. */
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
 * Waits for the final flush, at most `timeoutMs`.
 * @returns true when the flush is done or the event has not ended; false on timeout or when the service stops
 */
export async function waitForFinalFlush(
  db: Database,
  timeoutMs: number,
  stopping: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + timeoutMs
  for (;;) {
    if ((await db.read(() => readEndProgress(db.orm)))?.flush !== 'running') return true
    if (stopping.aborted || performance.now() >= until) return false
    await Bun.sleep(POLL_MS)
  }
}

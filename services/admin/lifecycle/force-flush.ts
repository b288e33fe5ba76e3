/** The flush on demand. */
import { and, eq, gt, max, sum } from 'drizzle-orm'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Flushed } from '#shared/contracts/ledger.ts'
import { handled, flushes } from '#shared/stores/schema/tables.ts'

const TIMEOUT_MS = 20_000
const POLL_MS = 100

/**
 * Requests a flush and waits for it. A running flush is followed by another one, because it may have begun before the
 * latest points arrived. An unfinished flush continues after the timeout.
 */
export async function forceFlush({ db, outbox, now }: ServiceContext, operator: Acting): Promise<Flushed> {
  const [before] = await db.read(() => db.orm.select({ id: max(flushes.id) }).from(flushes))
  const event = await db.transaction(async (tx) => {
    await audit(tx, operator, 'flush', {}, now())
    return outbox.add(tx, 'event.admin.flush.requested', { requested_at: time(now()) })
  })
  void outbox.ring(event)
  const isHandled = and(eq(handled.eventId, event.id), eq(handled.subscriber, 'scheduler.flush'))
  const until = performance.now() + TIMEOUT_MS
  for (;;) {
    const rows = await db.read(() => db.orm.select().from(handled).where(isHandled))
    if (rows.length === 0 && performance.now() < until) {
      await Bun.sleep(POLL_MS)
      continue
    }
    const [done] = await db.read(() =>
      db.orm
        .select({
          stored: sum(flushes.stored).mapWith(Number),
          duplicates: sum(flushes.duplicates).mapWith(Number),
          dead_letters: sum(flushes.deadLetters).mapWith(Number),
        })
        .from(flushes)
        .where(gt(flushes.id, before?.id ?? 0)),
    )
    return {
      finished: rows.length > 0,
      stored: done?.stored ?? 0,
      duplicates: done?.duplicates ?? 0,
      dead_letters: done?.dead_letters ?? 0,
    }
  }
}

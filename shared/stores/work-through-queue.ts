/** Works through a queue in which one bad item never stops the others. */
import { isDatabaseUnavailable, isStatementTimeout } from '#shared/stores/db/db.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'

/** Where failures are told. */
export interface Reporting {
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Does the work for one item after the other. An item that fails is logged with its reason, counted, and left for the
 * next time.
 * @param queue its name in the log and in the metric `event_failed_items_total`
 * @throws when the database is unavailable, because all items would fail
 */
export async function eachApart<T>(
  reporting: Reporting,
  queue: string,
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  for await (const item of items)
    try {
      await work(item)
    } catch (error) {
      if (isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error
      reportFailedItem(reporting, queue, error)
    }
}

/** Logs why an item failed, and counts it. */
export function reportFailedItem({ log, metrics }: Reporting, queue: string, error: unknown): void {
  metrics.count('event_failed_items_total', { queue })
  const level = isKvUnavailable(error) ? 'warn' : 'error'
  log[level]('an item of a queue failed and is tried again later', { queue, ...errorFields(error) })
}

/** Work that a process repeats, one run at a time. */
import { isDatabaseUnavailable, isStatementTimeout } from './db/db.ts'
import { isKvUnavailable } from './kv/kv.ts'
import { ObjectsUnavailable } from './objects/objects.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'

export interface Repeated {
  /** Runs the work, or waits for the run in progress. Never rejects. */
  run(): Promise<void>
  /** Starts the repetition. @param atOnce whether the first run begins now, or after the interval */
  start(atOnce?: boolean): void
  /** Resolves when the run in progress has ended. */
  stop(): Promise<void>
}

/** Whether a store is unavailable. The next run may succeed, and alerts report the outage. */
export const isStoreUnavailable = (error: unknown): boolean =>
  isKvUnavailable(error) || isDatabaseUnavailable(error) || error instanceof ObjectsUnavailable

/** @param failure logged with an error, unless a store is unavailable */
export function repeated(log: Log, failure: string, everyMs: number, work: () => Promise<unknown>): Repeated {
  let running: Promise<void> | null = null
  let timer: Timer | undefined
  const report = (error: unknown): void => {
    if (!isStoreUnavailable(error)) log.error(failure, errorFields(error))
  }
  const run = (): Promise<void> =>
    (running ??= work()
      .then(() => undefined, report)
      .finally(() => (running = null)))
  return {
    run,
    start(atOnce = true) {
      timer = setInterval(() => void run(), everyMs)
      if (atOnce) void run()
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/** Every process sees a change in the database within this time. Reading one row by its key costs almost nothing. */
const FOLLOW_EVERY_MS = 2_000
/** How long the start waits for the database. Until it answers, the values of the environment apply. */
const FIRST_READ_MS = 2_000

/**
 * Reads a value of the database repeatedly, for the life of a process. Resolves after the first reading, or without it
 * if the database is late.
 * @param failure as in `repeated`
 */
export async function followed(
  log: Log,
  failure: string,
  refresh: () => Promise<void>,
): Promise<Pick<Repeated, 'stop'>> {
  const following = repeated(log, failure, FOLLOW_EVERY_MS, refresh)
  following.start(false)
  await Promise.race([following.run(), Bun.sleep(FIRST_READ_MS)])
  return following
}

/** Where failures are reported. */
export interface Reporting {
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Processes one item after the other. An item that fails is logged with its reason, counted, and left for the next run.
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

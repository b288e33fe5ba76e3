/** Work that a process repeats, one run at a time. */
import { isDatabaseUnavailable } from './db/db.ts'
import { isKvUnavailable } from './kv/kv.ts'
import { ObjectsUnavailable } from './objects/objects.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

export interface Repeated {
  /** Runs the work, or waits for the run under way. Never rejects. */
  run(): Promise<void>
  /** Repeats it. @param atOnce whether the first run begins now, or after the interval */
  start(atOnce?: boolean): void
  /** Resolves when the run under way has ended. */
  stop(): Promise<void>
}

/** Whether a store does not answer. The next try may find it, and the alerts tell the outage. */
export const isStoreUnavailable = (error: unknown): boolean =>
  isKvUnavailable(error) || isDatabaseUnavailable(error) || error instanceof ObjectsUnavailable

/** @param failure what is logged with an error, unless a store is unavailable */
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

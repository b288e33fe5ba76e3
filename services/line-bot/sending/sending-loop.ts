/** The loop of a sender: it sends due messages when it is woken and every two seconds, and backs off after failures. */
import { sql, type SQLWrapper } from 'drizzle-orm'
import { isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { messages } from '#shared/stores/schema/tables.ts'

/** Finds messages that another replica planned, and retries that have become due. */
const POLL_MS = 2_000

export interface Sender {
  start(): void
  /** A new message is stored. */
  wake(): void
  stop(): Promise<void>
}

/** @param drain sends due messages while `isOpen` */
export function createSendingLoop(
  { log }: Pick<ServiceContext, 'log'>,
  drain: (isOpen: () => boolean) => Promise<void>,
): Sender {
  let open = true
  let woken = Promise.withResolvers<void>()
  let running: Promise<void> = Promise.resolve()

  const run = async (): Promise<void> => {
    while (open) {
      woken = Promise.withResolvers<void>()
      try {
        await drain(() => open)
      } catch (error) {
        if (!isDatabaseUnavailable(error)) log.error('messages could not be sent', errorFields(error))
      }
      const timer = setTimeout(woken.resolve, POLL_MS)
      await woken.promise
      clearTimeout(timer)
    }
  }

  return {
    start() {
      running = run()
    },
    wake: () => woken.resolve(),
    async stop() {
      open = false
      woken.resolve()
      await running
    },
  }
}

/** Several senders as one; disabled ones are null. */
export function joinSenders(...given: readonly (Sender | null)[]): Sender {
  const senders = given.filter((sender) => sender !== null)
  return {
    start: () => senders.forEach((sender) => sender.start()),
    wake: () => senders.forEach((sender) => sender.wake()),
    async stop() {
      await Promise.all(senders.map((sender) => sender.stop()))
    },
  }
}

const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 60_000

/** Exponential back-off from 1 s to 60 s with 50 % jitter, so that calls are not retried together. */
export function backoffMs(attempts: number, random: () => number = Math.random): number {
  const full = Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, attempts - 1), MAX_BACKOFF_MS)
  return full * (0.5 + random() / 2)
}

/** Longest wait. */
const MAX_WAIT_MS = 1_800_000

/** Whether an attempt is due. A wait beyond the longest was planned by a clock that was ahead, and is over. */
export function isDue(dueAt: SQLWrapper, nowMs: number) {
  const at = (ms: number) => sql`${new Date(ms).toISOString()}::timestamptz`
  return sql`(${dueAt} <= ${at(nowMs)} OR ${dueAt} > ${at(nowMs + MAX_WAIT_MS)})`
}

/** Sort key, in a query that joins `messages`: an alert precedes all other messages, also after a failed call. */
export const EMERGENCIES_FIRST = sql`(${messages.cause} = 'emergency') DESC`

/** Wait after a failure (ms). @param retryAfterMs requested by the other side */
export const waitOf = (attempts: number, retryAfterMs: number | null): number =>
  Math.min(MAX_WAIT_MS, Math.max(retryAfterMs ?? 0, backoffMs(attempts)))

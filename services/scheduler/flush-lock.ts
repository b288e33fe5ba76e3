/** The lock on a partition: one flush at a time, and none for ever when a flush dies. */
import { errorFields } from '#shared/log.ts'
import type { FlushContext } from './flush.ts'

const POLL_MS = 200

export interface FlushLock {
  /** Whether someone else may be flushing by now. */
  readonly lost: () => boolean
  /** Stops the renewal and lets the next flush in; a kv that is away lets the lock expire instead. */
  release(): Promise<void>
}

/**
 * Takes a partition's lock and keeps it until `release`.
 * @param waitUntil how long to wait for whoever holds it, by `performance.now()`
 * @returns null when it is still held then, or the process is to end
 */
export async function takeFlushLock(
  { kv, log, lockMs, stopping }: FlushContext,
  partition: number,
  waitUntil: number,
): Promise<FlushLock | null> {
  const name = `flush:${partition}`
  let token = stopping.aborted ? null : await kv.lock(name, lockMs)
  while (token === null && !stopping.aborted) {
    const leftMs = waitUntil - performance.now()
    if (leftMs <= 0) return null
    await Bun.sleep(Math.min(POLL_MS, leftMs))
    token = await kv.lock(name, lockMs)
  }
  if (token === null) return null
  const held = token
  let lost = false
  const renewal = setInterval(() => {
    kv.renewLock(name, held, lockMs).then(
      (ours) => (lost ||= !ours),
      (error: unknown) => log.warn('the flush lock is not renewed', { partition, ...errorFields(error) }),
    )
  }, lockMs / 3)
  return {
    lost: () => lost,
    async release() {
      clearInterval(renewal)
      await kv
        .unlock(name, held)
        .catch((error: unknown) =>
          log.warn('the flush lock is left to expire', { partition, ...errorFields(error) }),
        )
    },
  }
}

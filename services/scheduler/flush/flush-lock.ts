/** The lock on a partition: it allows one flush at a time, and expires when a flush dies. */
import { errorFields } from '#shared/runtime/log.ts'
import type { FlushContext } from './flush-context.ts'

const POLL_MS = 200
/**
 * A lock that is not renewed for this share of its lifetime (ten seconds) is free: its owner was killed or has lost
 * the kv. If the owner still runs, two concurrent flushes store nothing twice.
 */
const STALE_SHARE = 1 / 9

export interface FlushLock {
  /** Whether another process may flush the partition now. */
  readonly lost: () => boolean
  /** Stops the renewal and releases the lock. Without the kv the lock expires. */
  release(): Promise<void>
}

/**
 * Acquires a partition's lock and renews it until `release`.
 * @param waitUntil when to stop waiting for the lock, by `performance.now()`
 * @returns null when the lock is still acquired then, or the process stops
 */
export async function acquireFlushLock(
  { kv, log, lockMs, stopping }: FlushContext,
  partition: number,
  waitUntil: number,
): Promise<FlushLock | null> {
  const name = `flush:${partition}`
  const staleMs = lockMs * STALE_SHARE
  let token = stopping.aborted ? null : await kv.lock(name, lockMs, staleMs)
  while (token === null && !stopping.aborted) {
    const leftMs = waitUntil - performance.now()
    if (leftMs <= 0) return null
    await Bun.sleep(Math.min(POLL_MS, leftMs))
    token = await kv.lock(name, lockMs, staleMs)
  }
  if (token === null) return null
  const acquired = token
  let lost = false
  const renewal = setInterval(() => {
    kv.renewLock(name, acquired, lockMs).then(
      (ours) => (lost ||= !ours),
      (error: unknown) =>
        log.warn('the flush lock could not be renewed', { partition, ...errorFields(error) }),
    )
  }, staleMs / 4)
  return {
    lost: () => lost,
    async release() {
      clearInterval(renewal)
      await kv
        .unlock(name, acquired)
        .catch((error: unknown) =>
          log.warn('the flush lock could not be released; it expires', { partition, ...errorFields(error) }),
        )
    },
  }
}

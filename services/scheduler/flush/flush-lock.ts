/** The lock on a partition: one flush at a time, and none for ever when a flush dies. */
import { errorFields } from '#shared/runtime/log.ts'
import type { FlushContext } from './flush-context.ts'

const POLL_MS = 200
/**
 * Who has not renewed its lock for this part of its life, ten seconds, is gone: killed, or cut off from the kv.
 * Should it live all the same, two flushes at once store nothing twice.
 */
const SILENT_PART = 1 / 9

export interface FlushLock {
  /** Whether someone else may be flushing by now. */
  readonly lost: () => boolean
  /** Stops the renewal and lets the next flush in; while the kv is away the lock is left to be found silent. */
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
  const silenceMs = lockMs * SILENT_PART
  let token = stopping.aborted ? null : await kv.lock(name, lockMs, silenceMs)
  while (token === null && !stopping.aborted) {
    const leftMs = waitUntil - performance.now()
    if (leftMs <= 0) return null
    await Bun.sleep(Math.min(POLL_MS, leftMs))
    token = await kv.lock(name, lockMs, silenceMs)
  }
  if (token === null) return null
  const held = token
  let lost = false
  const renewal = setInterval(() => {
    kv.renewLock(name, held, lockMs).then(
      (ours) => (lost ||= !ours),
      (error: unknown) => log.warn('the flush lock is not renewed', { partition, ...errorFields(error) }),
    )
  }, silenceMs / 4)
  return {
    lost: () => lost,
    async release() {
      clearInterval(renewal)
      await kv
        .unlock(name, held)
        .catch((error: unknown) =>
          log.warn('the flush lock is left behind', { partition, ...errorFields(error) }),
        )
    },
  }
}

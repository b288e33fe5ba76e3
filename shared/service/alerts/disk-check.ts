/** The check of the data directory's disk: whether it answers, and whether it has room. */
import { statfs } from 'node:fs/promises'
import type { Metrics } from '#shared/runtime/metrics.ts'
import { withCheckTimeout } from './check-timeout.ts'
import type { Cause } from './incident.ts'

/** Minimum free disk space: below it journals may soon fail. */
export const FREE_BYTES = 512 * 1_024 * 1_024

/** Free bytes of the disk of a directory, or of the working directory's while that one is missing. */
export async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory).catch(() => statfs('.'))
  return bavail * bsize
}

/**
 * Creates the check.
 * @param freeBytes asks the disk. A call to a disk that hangs can not be ended and keeps a thread, so the next one waits
 * for it instead of asking again
 */
export function createDiskCheck(
  freeBytes: () => Promise<number>,
  metrics: Pick<Metrics, 'gauge'>,
): () => Promise<Cause | null> {
  let lastFree = Number.NaN
  // As the last check found it: a scrape does not wait for a disk that hangs.
  metrics.gauge('event_disk_free_bytes', () => lastFree)
  let asking: Promise<number> | null = null
  const ask = () => (asking ??= freeBytes().finally(() => (asking = null)))
  return async () => {
    try {
      lastFree = await withCheckTimeout(ask())
    } catch {
      lastFree = Number.NaN
      return { key: 'disk', failure: true, text: '磁碟沒有回應 · The disk does not answer' }
    }
    if (lastFree >= FREE_BYTES) return null
    const mb = Math.floor(lastFree / 1_048_576)
    return { key: 'disk', failure: false, text: `磁碟空間只剩 ${mb} MB · Only ${mb} MB of disk are left` }
  }
}

/** Time of the last successful flush: Postgres stores it, and a marker in the kv caches it. */
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'

export const LAST_FLUSH_KEY = 'last-flush'
/** Specification, "Limits": last-flush marker. */
export const LAST_FLUSH_TTL_MS = 86_400_000

/**
 * Epoch milliseconds of the flush through which every partition has been flushed without a failed slice;
 * null before the first.
 */
export async function lastFlushMs(db: Database, partitions: number): Promise<number | null> {
  const [row] = await db.read(
    () => db.sql<{ partitions: number; last_ms: number | null }[]>`
      SELECT count(last)::int AS partitions, (extract(epoch FROM min(last)) * 1000)::float8 AS last_ms FROM (
        SELECT (
          SELECT finished_at FROM flushes WHERE partition = p AND succeeded ORDER BY finished_at DESC LIMIT 1
        ) AS last FROM generate_series(0, ${partitions - 1}::int) p
      ) each`,
  )
  return row === undefined || row.partitions < partitions ? null : row.last_ms
}

/** Reads the marker, or Postgres when there is none. */
export async function readLastFlush(db: Database, kv: Kv): Promise<number | null> {
  const marker = await kv.cached(LAST_FLUSH_KEY).catch(() => null)
  return marker === null ? lastFlushMs(db, kv.partitions) : Number(marker)
}

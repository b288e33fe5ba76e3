/** Chooses the kv's driver. */
import type { Kv } from './kv.ts'
import { openEmbeddedKv } from './kv.embedded.ts'
import { openRedisKv } from './kv.redis.ts'

/**
 * Opens the kv at the URL: `redis://…` (comma-separated nodes: Cluster); empty: the embedded driver.
 * @param options.path file of the embedded driver
 * @param options.admitWithinMs timeout of `admit` and `restore` with Redis
 * @param options.onError called with errors outside of calls: a lost connection, a log that could not be rewritten
 */
export function openKv(options: {
  readonly url: string
  readonly partitions: number
  readonly path: string
  readonly admitWithinMs?: number
  readonly onError: (error: unknown) => void
}): Promise<Kv> {
  return options.url === '' ? openEmbeddedKv(options) : openRedisKv(options)
}

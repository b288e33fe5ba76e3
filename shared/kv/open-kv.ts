/** Chooses the kv's driver. */
import type { Kv } from './kv.ts'
import { openEmbeddedKv } from './kv.embedded.ts'
import { openRedisKv } from './kv.redis.ts'

/**
 * Opens the kv that the URL names: `redis://…` (comma-separated nodes: Cluster), or none: embedded.
 * @param options.path file of the embedded driver
 * @param options.admitWithinMs how long `admit` and `restore` wait for Redis before they reject
 * @param options.onError told what goes wrong beside calls: a connection that is lost, a log not rewritten
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

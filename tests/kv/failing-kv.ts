/** A kv on a Redis whose failures a test causes. */
import { expect } from 'bun:test'
import Redis from 'ioredis'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { rejection } from '#tests/helpers/rejection.ts'

export const ADMIT_WITHIN_MS = 1_200
/** Shorter than the timeout of any method. */
export const AT_ONCE_MS = 500
/** A kv whose error reports are collected, since these tests break its server. */
export async function open(url: string, partitions = 1): Promise<Kv & { readonly reports: unknown[] }> {
  const reports: unknown[] = []
  const onError = (error: unknown) => void reports.push(error)
  return { ...(await openRedisKv({ url, partitions, admitWithinMs: ADMIT_WITHIN_MS, onError })), reports }
}

/** Milliseconds until a call fails with this error. */
export async function refusedAfterMs(
  call: Promise<unknown>,
  type: new () => Error = KvUnavailable,
): Promise<number> {
  const startedAt = performance.now()
  expect(await rejection(call)).toBeInstanceOf(type)
  return performance.now() - startedAt
}

/** Runs commands on a server, bypassing the kv. */
export async function asked(url: string, work: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url)
  await work(redis)
  redis.disconnect()
}

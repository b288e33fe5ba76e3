/** The sizes of calls to the kv, and the limit on points that wait for an unresponsive one. */
import { expect, test } from 'bun:test'
import { createBatcher } from '#shared/points/admission.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { type Kv, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { rules, sync } from '#tests/kv/drivers.ts'

const batch = (user: string, points: number) =>
  sync(
    user,
    Array.from({ length: points }, (_, t) => t),
  )

describeOnServers('calls to the kv', () => {
  test('hold at most 256 submissions, and end with the one that reaches 2,000 points', async () => {
    await using server = await startRedis()
    const kv = await openRedisKv({ url: server.url, partitions: 1, onError: () => undefined })
    try {
      await kv.setStatus({ status: 'active', version: 1, message: null })
      const calls: number[] = []
      const metrics = createMetrics('tracking')
      const watched = Object.assign(Object.create(kv) as Kv, {
        admit: (...call: Parameters<Kv['admit']>) => (calls.push(call[1].length), kv.admit(...call)),
      })
      const submit = createBatcher(watched, rules(), metrics)
      const sizesOf = async (pilgrims: number, points: number): Promise<number[]> => {
        const all = Array.from({ length: pilgrims }, (_, i) => submit(batch(`${points}-${i}`, points)))
        for (const verdict of await Promise.all(all)) expect(verdict).toMatchObject({ outcome: 'admitted' })
        return calls.splice(0)
      }
      expect(await sizesOf(1, 1)).toEqual([1])
      expect(await sizesOf(256, 1)).toEqual([256])
      expect(await sizesOf(600, 1)).toEqual([256, 256, 88])
      expect(await sizesOf(5, 999)).toEqual([3, 2])
      expect(await sizesOf(7, 1_000)).toEqual([2, 2, 2, 1])
    } finally {
      await kv.close()
    }
  })
})

describeOnServers('admission to a kv that does not answer', () => {
  test('accepts points up to the bound, refuses more immediately, and accepts points again afterwards', async () => {
    await using server = await startRedis()
    const kv = await openRedisKv({ url: server.url, partitions: 1, onError: () => undefined })
    try {
      await kv.setStatus({ status: 'active', version: 1, message: null })
      const submit = createBatcher(kv, rules(), createMetrics('tracking'), 250)
      server.pause()
      const waiting = [submit(batch('a', 100)), submit(batch('b', 100))]
      expect(await rejection(submit(batch('c', 100)))).toEqual(
        new KvUnavailable('too many points are waiting for the kv'),
      )
      // A submission that fits is still accepted.
      waiting.push(submit(batch('d', 50)))
      server.resume()
      for (const verdict of await Promise.all(waiting)) expect(verdict).toMatchObject({ outcome: 'admitted' })
      expect(await submit(batch('c', 250))).toMatchObject({ outcome: 'admitted', pending: 250 })
    } finally {
      await kv.close()
    }
  })
})

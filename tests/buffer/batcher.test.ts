/** The bound on points that wait for a kv that does not answer. */
import { expect, test } from 'bun:test'
import { createBatcher } from '#shared/buffer/admit/batcher.ts'
import { openRedisKv } from '#shared/kv/kv.redis.ts'
import { KvUnavailable } from '#shared/kv/kv.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { rules, sync } from '#tests/kv/drivers.ts'

const batch = (user: string, points: number) =>
  sync(
    user,
    Array.from({ length: points }, (_, t) => t),
  )

describeOnServers('admission to a kv that does not answer', () => {
  test('accepts points up to the bound, refuses more immediately, and accepts points again afterwards', async () => {
    await using server = await startRedis()
    const kv = await openRedisKv({ url: server.url, partitions: 1, onError: () => undefined })
    try {
      await kv.setStatus({ status: 'active', version: 1, message: null })
      const submit = createBatcher(kv, rules(), 250)
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

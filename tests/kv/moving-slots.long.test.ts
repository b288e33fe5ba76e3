/**
 * Slots of a Redis Cluster that move while the service runs: it detects this, and the slot can be moved back.
 */
import { expect, test } from 'bun:test'
import Redis from 'ioredis'
import { stopwatch } from '#shared/runtime/clock.ts'
import { createChecks } from '#shared/service/alerts/health-checks.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { startRedisCluster } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { activate, admit, onError, sync } from './drivers.ts'

describeOnServers('a slot of a Redis Cluster that moves', () => {
  test('is a cause that the owner is alerted about, until it is stable again; its points are still there', async () => {
    await using cluster = await startRedisCluster()
    const kv = await openRedisKv({ url: cluster.url, partitions: 1, onError })
    const nodes = cluster.nodes.map(({ url }) => new Redis(url))
    try {
      await activate(kv)
      await admit(kv, sync('me', [1, 2, 3]))
      const slot = await nodes[0]!.cluster('KEYSLOT', '{gps:0}')
      const holds = await Promise.all(nodes.map((node) => node.cluster('COUNTKEYSINSLOT', slot)))
      const from = nodes[holds.findIndex((keys) => keys > 0)]!
      const to = nodes[holds.findIndex((keys) => keys === 0)]!
      const idOf = (node: Redis) => node.call('CLUSTER', 'MYID') as Promise<string>
      const set = (node: Redis, ...how: string[]) => node.call('CLUSTER', 'SETSLOT', slot, ...how)

      const checks = createChecks({
        kv,
        db: { probe: () => Promise.reject(new Error('no database here')) },
        config: { dataDir: await newDirectory('slots') },
        now: Date.now,
        stopwatch,
        metrics: createMetrics('test'),
      } as unknown as ServiceContext)
      const seen = async () => (await checks()).filter(({ key }) => key === 'slots')
      expect(await seen()).toEqual([])

      await set(to, 'IMPORTING', await idOf(from))
      await set(from, 'MIGRATING', await idOf(to))
      expect(await kv.movingSlots()).toBe(1)
      expect(await seen()).toMatchObject([
        { failure: true, text: expect.stringContaining('Slots of the Redis Cluster are moving') },
      ])
      // An interrupted move leaves one side open.
      await set(from, 'STABLE')
      expect(await kv.movingSlots()).toBe(1)
      await set(to, 'STABLE')
      expect(await seen()).toEqual([])
      expect(await kv.peek('me')).toHaveLength(3)
    } finally {
      for (const node of nodes) node.disconnect()
      await kv.close()
    }
  })
})

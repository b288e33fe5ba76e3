/** A pause reaches a replica that gets no requests. */
import { expect, test } from 'bun:test'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { checkin } from '#tests/kv/drivers.ts'
import { startReplica } from './replica.ts'

/** A replica reads the status once a second. */
const KNOWN_MS = 1_500

describeOnServers('a pause', () => {
  test('a pause holds when the kv becomes unavailable before the first request', async () => {
    await using server = await startRedis()
    const kv = await openRedisKv({ url: server.url, partitions: 1, onError: () => undefined })
    try {
      await kv.setStatus({ status: 'active', version: 1, message: null })
      await using replica = await startReplica(kv, { status: null })
      expect(await replica.admitDurably(checkin())).toMatchObject({ outcome: 'admitted' })
      await kv.setStatus({ status: 'paused', version: 2, message: null })
      await Bun.sleep(KNOWN_MS)
      await server.stop('SIGKILL')
      expect(await replica.admitDurably(checkin())).toMatchObject({ outcome: 'refused', status: 'paused' })
      expect(replica.journaled()).toBe(0)
      expect(await replica.metrics.page()).not.toMatch(/^event_journaled_total{/m)
    } finally {
      await kv.close()
    }
  })

  test('a kv that comes back empty gets the status of the database without a request', async () => {
    await using server = await startRedis({ args: ['--appendonly', 'no'] })
    const kv = await openRedisKv({ url: server.url, partitions: 1, onError: () => undefined })
    try {
      await using replica = await startReplica(kv, {
        status: { status: 'paused', version: 2, message: null },
      })
      expect(await kv.status()).toMatchObject({ status: 'paused' })
      await server.restart()
      await until(async () => (await kv.status().catch(() => null))?.status === 'paused', 'the status')
      expect(await replica.admitDurably(checkin())).toMatchObject({ outcome: 'refused', status: 'paused' })
    } finally {
      await kv.close()
    }
  })
})

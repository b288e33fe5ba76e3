/** The number of partitions, and partitions whose node of a Cluster is down. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { KvUnavailable, partitionOf } from '#shared/stores/kv/kv.ts'
import { testRedisUrl } from '#tests/helpers/database.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type RedisCluster, startRedis, startRedisCluster } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, admit, checkin, rules } from './drivers.ts'
import { ADMIT_WITHIN_MS, asked, open, refusedAfterMs } from './failing-kv.ts'

describeOnServers('partitions', () => {
  test('another number of partitions is refused while points are pending, and accepted afterwards', async () => {
    const url = await testRedisUrl()
    const sixteen = await open(url, 16)
    await activate(sixteen)
    const submission = checkin()
    await admit(sixteen, submission)
    const sentence =
      'EVENT_PARTITIONS is 4, but points are pending in 16 partitions: ' +
      'start with 16, let a flush empty the buffer, then change it'
    expect(String(await rejection(open(url, 4)))).toContain(sentence)
    await sixteen.acknowledge(partitionOf(submission.userId, 16), [submission])
    const four = await open(url, 4)
    await activate(four)
    await admit(four, checkin())
    expect(String(await rejection(open(url, 16)))).toContain('points are pending in 4 partitions')
    await Promise.all([sixteen.close(), four.close()])
  })

  test('another number is also refused when the store becomes available later', async () => {
    await using server = await startRedis()
    const one = await open(server.url, 1)
    await activate(one)
    await admit(one, checkin())
    await one.close()
    await server.stop()
    const two = await open(server.url, 2)
    await server.restart()
    const refused = () => two.reports.some((error) => String(error).includes('EVENT_PARTITIONS is 2'))
    await until(refused, 'the number to be refused')
    await refusedAfterMs(admit(two, checkin()))
    await two.close()
  })

  test.each([
    [4, 1],
    [1, 4],
  ])(
    'from %d to %d partitions, nothing of a person stays behind, and the status is asked anew',
    async (before, after) => {
      const url = await testRedisUrl()
      const old = await open(url, before)
      await activate(old)
      const people = Array.from({ length: 12 }, (_, i) => `pilgrim-${i}`)
      for (const userId of people) {
        const point = checkin({ userId, position: { t: 1_000, lat: 24, lng: 120.5 } })
        await admit(old, point)
        await old.acknowledge(partitionOf(userId, before), [point])
      }
      await old.hide('pilgrim-3', true)
      await old.close()
      const kv = await open(url, after)
      expect(await kv.status()).toBeNull()
      for (let partition = 0; partition < after; partition++) {
        expect(await kv.moved(partition, 0, 100)).toEqual([])
        expect(await kv.hidden(partition)).toEqual([])
      }
      await asked(url, async (redis) => {
        for (const key of await redis.keys('{gps:*'))
          expect(
            JSON.stringify([key, (await redis.type(key)) === 'hash' ? await redis.hgetall(key) : '']),
          ).not.toContain('pilgrim-')
      })
      await activate(kv)
      for (const userId of people)
        expect(await admit(kv, checkin({ userId }))).toMatchObject({ outcome: 'admitted' })
      await kv.close()
    },
  )

  test('a partition without a status makes it unknown everywhere', async () => {
    const url = await testRedisUrl()
    const kv = await open(url, 16)
    await kv.setStatus({ status: 'paused', version: 3, message: 'wait' })
    await asked(url, (redis) => redis.set('{gps:5}:status', '2|active|'))
    expect(await kv.status()).toEqual({ status: 'active', version: 2, message: null })
    await asked(url, (redis) => redis.del('{gps:7}:status'))
    expect(await kv.status()).toBeNull()
    await kv.close()
  })
})

describeOnServers('a Redis Cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => void (cluster = await startRedisCluster()))
  afterAll(() => cluster?.close())

  test('that lost a node refuses that node’s partitions only, and recovers by itself (long)', async () => {
    const kv = await open(cluster.url, 16)
    await activate(kv)
    const outcomes = () =>
      Promise.all(
        Array.from({ length: 16 }, (_, partition) =>
          kv.admit(partition, [checkin()], rules()).then(
            () => 'taken' as const,
            (error: unknown) => error,
          ),
        ),
      )
    expect(await outcomes()).toEqual(Array.from({ length: 16 }, () => 'taken' as const))
    await cluster.nodes[1]!.stop('SIGKILL')
    const startedAt = performance.now()
    const without = await outcomes()
    expect(performance.now() - startedAt).toBeLessThan(ADMIT_WITHIN_MS + 10_000)
    const refused = without.filter((one) => one !== 'taken')
    expect(refused.length).toBeGreaterThan(2)
    expect(refused.length).toBeLessThan(10)
    for (const refusal of refused) expect(refusal).toBeInstanceOf(KvUnavailable)
    await refusedAfterMs(kv.probe())
    await cluster.nodes[1]!.restart()
    await until(async () => (await outcomes()).every((one) => one === 'taken'), 'all partitions')
    await kv.close()
  })

  test('memory use is that of the fullest node (long)', async () => {
    const kv = await open(cluster.url, 16)
    expect(await kv.memoryUse()).toBe(0)
    await asked(cluster.nodes[2]!.url, (redis) => redis.config('SET', 'maxmemory', '100mb'))
    const use = await kv.memoryUse()
    expect(use).toBeGreaterThan(0)
    expect(use).toBeLessThan(0.5)
    await asked(cluster.nodes[0]!.url, (redis) => redis.config('SET', 'maxmemory', '3mb'))
    expect(await kv.memoryUse()).toBeGreaterThan(use)
    await kv.close()
  })
})

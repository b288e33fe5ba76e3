/** A flush during an outage of the database or the kv: nothing is deleted or expires, and the next flush completes. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import Redis from 'ioredis'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { lastFlushMs, readLastFlush } from '#shared/points/pending-points.ts'
import { FEW_CONNECTIONS, occupyPostgres } from '#tests/helpers/full-postgres.ts'
import { type Server, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { expectNothingToRebuild, expectProjections } from '#tests/scheduler/projections.ts'
import { NOON, RETENTION_MS, FlushHarness } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'

const PARTITIONS = 4
const PILGRIMS = 40
const POINTS = PILGRIMS * 5
const MINUTE_MS = 60_000
const ANSWERS = 'the server to answer again'

describeOnServers('flush in an outage', () => {
  const harness = new FlushHarness()
  let postgres: Server
  let redis: Server

  beforeAll(async () => {
    ;[postgres, redis] = await Promise.all([startPostgres({ args: FEW_CONNECTIONS }), startRedis()])
    harness.db = await openDatabase({ url: postgres.url, dir: '' })
    harness.kv = await openKv({ url: redis.url, partitions: PARTITIONS, path: '', onError: () => undefined })
    await migrateDatabase(harness.db)
  })
  afterAll(async () => {
    await Promise.all([harness.kv.close(), harness.db.close()])
    await Promise.all([postgres?.close(), redis?.close()])
  })
  /** An empty flush at noon; then, five minutes later, points with a short retention. */
  beforeEach(async () => {
    await harness.empty()
    // All connections are open before the outage; a connection that fails while opening is another test.
    await Promise.all(
      Array.from({ length: 10 }, () => harness.db.read(() => harness.db.sql`SELECT pg_sleep(0.05)`)),
    )
    await harness.flush()
    harness.nowMs += 5 * MINUTE_MS
    for (let i = 0; i < PILGRIMS; i++) await harness.buffer(`pilgrim-${i}`, walk(5), MINUTE_MS)
  })

  /** A kv that stops a server after it has acknowledged this many slices. */
  const stopping = (server: Server, slices: number, signal?: NodeJS.Signals): Kv => {
    let settled = 0
    return {
      ...harness.kv,
      async acknowledge(...args) {
        await harness.kv.acknowledge(...args)
        if (++settled === slices) await server.stop(signal)
      },
    }
  }

  /** Reads directly from Redis. */
  async function redisSays<T>(ask: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(redis.url)
    try {
      return await ask(client)
    } finally {
      client.disconnect()
    }
  }

  /** Milliseconds until the non-empty buffers expire. */
  const lives = (): Promise<number[]> =>
    redisSays(async (client) => {
      const keys = await client.keys('*:buf:*')
      return Promise.all(keys.map((key) => client.pttl(key)))
    })

  /** What needs the database in each flush: the partitions, and the requeued letters. */
  const PARTS = PARTITIONS + 1

  async function expectComplete(): Promise<void> {
    const [pending, before] = [await harness.pending(), await harness.storedPoints()]
    harness.complaints = []
    const result = await harness.flush()
    expect(harness.complaints).toEqual([])
    const stored = POINTS - before
    expect(result).toMatchObject({ stored, duplicates: pending.length - stored, deadLetters: 0, failures: 0 })
    expect(await harness.pending()).toEqual([])
    expect(await harness.storedPoints()).toBe(POINTS)
    expect(await lastFlushMs(harness.db, PARTITIONS)).toBe(NOON + 5 * MINUTE_MS)
    await expectProjections(harness.db, harness.calendar)
    await expectNothingToRebuild(harness)
  }

  for (const signal of ['SIGINT', 'SIGKILL'] as const)
    test(`the database stops by ${signal} after some slices`, async () => {
      const result = await harness.flush({ kv: stopping(postgres, 3, signal), slicePoints: 10 })
      // Three slices are in flight at a time; one may be committed without a reply.
      expect(result.stored + result.duplicates).toBeWithin(30, 51)
      expect(result.failures).toBeGreaterThanOrEqual(PARTITIONS - 1)
      expect(result.deadLetters).toBe(0)
      const pending = await harness.pending()
      expect(pending.length).toBeWithin(POINTS - 50, POINTS - 29)
      const left = await lives()
      expect(left).toHaveLength(new Set(pending.map((line) => line.split(' ')[0])).size)
      expect(Math.min(...left)).toBeGreaterThan(RETENTION_MS - MINUTE_MS)
      expect(await readLastFlush(harness.context())).toBe(NOON)
      await postgres.restart()
      await expectComplete()
    })

  test('the database is down from the start', async () => {
    await postgres.stop()
    expect(await harness.flush()).toMatchObject({ stored: 0, deadLetters: 0, failures: PARTS })
    expect(await harness.pending()).toHaveLength(POINTS)
    expect(Math.min(...(await lives()))).toBeGreaterThan(RETENTION_MS - MINUTE_MS)
    expect(await readLastFlush(harness.context())).toBe(NOON)
    await postgres.restart()
    await expectComplete()
  })

  test('the database has no connection free from the start', async () => {
    const release = await occupyPostgres(postgres.url)
    expect(await harness.flush()).toMatchObject({ stored: 0, deadLetters: 0, failures: PARTS })
    expect(Math.min(...(await lives()))).toBeGreaterThan(RETENTION_MS - MINUTE_MS)
    await release()
    await until(() => harness.db.probe().then(() => true), ANSWERS)
    await expectComplete()
  })

  test('the database has no connection free after some slices', async () => {
    let settled = 0
    let release = async () => {}
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      await harness.kv.acknowledge(...args)
      if (++settled === 3) release = await occupyPostgres(postgres.url)
    }
    const result = await harness.flush({ kv: { ...harness.kv, acknowledge }, slicePoints: 10 })
    expect(result.deadLetters).toBe(0)
    expect(result.failures).toBeGreaterThan(0)
    expect(Math.min(...(await lives()))).toBeGreaterThan(RETENTION_MS - MINUTE_MS)
    await release()
    await until(() => harness.db.probe().then(() => true), ANSWERS)
    await expectComplete()
  })

  test('the database is frozen for a while: the flush waits, and keeps its lock', async () => {
    const frozen = Promise.withResolvers<void>()
    let isFrozen = false
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      await harness.kv.acknowledge(...args)
      if (isFrozen) return
      isFrozen = true
      postgres.pause()
      frozen.resolve()
    }
    const flushing = harness.flush({ kv: { ...harness.kv, acknowledge }, slicePoints: 10, lockMs: 2_700 })
    await frozen.promise
    // More than three times as long as the lock lasts without renewal.
    await Bun.sleep(1_000)
    const tokens = await Promise.all(
      Array.from({ length: PARTITIONS }, (_, partition) => harness.kv.lock(`flush:${partition}`, 2_700, 300)),
    )
    expect(tokens.filter((token) => token === null)).toHaveLength(1)
    for (const [partition, token] of tokens.entries())
      if (token !== null) await harness.kv.unlock(`flush:${partition}`, token)
    postgres.resume()
    expect(await flushing).toMatchObject({ stored: POINTS, failures: 0 })
    await expectProjections(harness.db, harness.calendar)
    await expectNothingToRebuild(harness)
  })

  test('the kv is killed between the commit of a slice and its acknowledgement', async () => {
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      await redis.stop('SIGKILL')
      await harness.kv.acknowledge(...args)
    }
    const result = await harness.flush({ kv: { ...harness.kv, acknowledge }, slicePoints: 10 })
    expect(result).toMatchObject({ stored: 0, deadLetters: 0, failures: PARTITIONS })
    expect(await harness.storedPoints()).toBeWithin(10, 31)
    expect(await lastFlushMs(harness.db, PARTITIONS)).toBe(NOON)
    await redis.restart()
    await until(async () => (await harness.kv.bufferSize()) === PILGRIMS, ANSWERS)
    // Its lock was not released.
    await redisSays((client) => client.del('lock:flush:0'))
    await expectComplete()
  })
})

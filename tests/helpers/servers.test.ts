import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Redis, { Cluster } from 'ioredis'
import { connect } from 'nats'
import postgres from 'postgres'
import { openTestDatabase, testRedisUrl } from './database.ts'
import { rejection } from './rejection.ts'
import {
  freePort,
  type RedisCluster,
  startNats,
  startPostgres,
  startRedis,
  startRedisCluster,
} from './servers.ts'
import { describeOnServers } from './suite.ts'
import { until } from './wait.ts'

describeOnServers('servers of the run', () => {
  test('each clone of the database has the schema and no rows of the others', async () => {
    const clones = await Promise.all([openTestDatabase(), openTestDatabase()])
    const [first, second] = clones.map((clone) => postgres(clone.url, { max: 1 }))
    await first!`CREATE TABLE mine ()`
    expect(await second!`SELECT FROM pg_tables WHERE tablename = 'mine'`).toBeEmpty()
    const tables = await second!`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
    expect(tables).not.toBeEmpty()
    await Promise.all([first!.end(), second!.end(), ...clones.map((clone) => clone.drop())])
  })

  test('two Redis addresses share no key', async () => {
    const [first, second] = [new Redis(await testRedisUrl()), new Redis(await testRedisUrl())]
    await first.set('key', 'first')
    expect(await second.get('key')).toBeNull()
    first.disconnect()
    second.disconnect()
  })

  test('NATS has JetStream', async () => {
    await using server = await startNats()
    const connection = await connect({ servers: server.url })
    const streams = (await connection.jetstreamManager()).streams
    await streams.add({ name: 'stream', subjects: ['subject'] })
    const { seq } = await connection.jetstream().publish('subject')
    expect(seq).toBe(1)
    await connection.close()
  })
})

describeOnServers('Redis Cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => void (cluster = await startRedisCluster()))
  afterAll(() => cluster?.close())

  test('a key set through one node is found through another (long)', async () => {
    const [first, , last] = cluster.nodes.map((node) => new Cluster([node.url]))
    const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`)
    await Promise.all(keys.map((key) => first!.set(key, key)))
    expect(await Promise.all(keys.map((key) => last!.get(key)))).toEqual(keys)
    first!.disconnect()
    last!.disconnect()
  })
})

describeOnServers('a server that fails', () => {
  test('Postgres: a committed row survives a kill, on the same port (long)', async () => {
    await using server = await startPostgres()
    const before = postgres(server.url, { max: 1 })
    await before`CREATE TABLE kept AS SELECT 1 AS value`
    const firstPid = server.pid
    await server.stop('SIGKILL')
    expect(await rejection(before`SELECT 1`.execute())).toBeInstanceOf(Error)
    // Without a timeout it waits forever on a connection that broke during a query.
    await before.end({ timeout: 1 })

    await server.restart()
    expect(server.pid).not.toBe(firstPid)
    const after = postgres(server.url, { max: 1 })
    expect((await after`SELECT value FROM kept`)[0]).toEqual({ value: 1 })
    await after.end()
  })

  test('Postgres: a frozen server answers on no connection until it is resumed (long)', async () => {
    await using server = await startPostgres()
    const sql = postgres(server.url, { max: 1 })
    await sql`SELECT 1`
    server.pause()
    const answer = sql`SELECT 2 AS value`.execute()
    expect(await Promise.race([answer, Bun.sleep(300).then(() => 'silence')])).toBe('silence')
    server.resume()
    expect((await answer)[0]).toEqual({ value: 2 })
    await sql.end()
  })

  test('Redis: an acknowledged write survives a kill (long)', async () => {
    await using server = await startRedis()
    const redis = new Redis(server.url)
    redis.on('error', () => undefined)
    await redis.set('key', 'value')
    await server.stop('SIGKILL')
    await server.restart()
    await until(() => redis.status === 'ready', 'the client to reconnect')
    expect(await redis.get('key')).toBe('value')
    redis.disconnect()
  })

  test('a server that cannot start reports why (long)', async () => {
    const attempt = startRedis({ port: freePort(), args: ['--no-such-option', 'x'] })
    expect(String(await rejection(attempt))).toMatch(/did not start[^]*no-such-option/)
  })
})

describe('until', () => {
  test('names the condition, and has the last exception as its cause', async () => {
    const condition = () => {
      throw new Error('not there')
    }
    const failure = await rejection(until(condition, 'a miracle', { timeoutMs: 50 }))
    expect(failure).toMatchObject({
      message: expect.stringMatching(/timeout after \d+ ms waiting for a miracle/),
      cause: { message: 'not there' },
    })
  })

  test('times out when a single check never returns', async () => {
    const never = new Promise<boolean>(() => undefined)
    const failure = await rejection(until(() => never, 'nothing', { timeoutMs: 50 }))
    expect(String(failure)).toContain('one check took more than')
  })
})

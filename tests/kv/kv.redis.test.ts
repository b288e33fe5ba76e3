/** Failures of Redis: down, frozen, full, read-only, emptied. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Redis from 'ioredis'
import { type Kv, KvFull, KvUnavailable } from '#shared/stores/kv/kv.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, admit, checkin, rules, sync } from './drivers.ts'
import { ADMIT_WITHIN_MS, AT_ONCE_MS, asked, open, refusedAfterMs } from './failing-kv.ts'

/** Every method, as a call that needs Redis. */
const everyVerb = (kv: Kv): (() => Promise<unknown>)[] => [
  () => admit(kv, checkin()),
  () => kv.restore(0, [checkin()], rules()),
  () => kv.peek('U'),
  () => kv.pendingUsers(0),
  () => kv.drain(0, ['U']),
  () => kv.acknowledge(0, [{ userId: 'U', entries: [] }]),
  () => kv.renew(0, ['U'], 1_000),
  () => kv.bufferSize(),
  () => kv.oldestPending(),
  () => kv.counters(),
  () => kv.status(),
  () => activate(kv),
  () => kv.moved(0, 0, 1),
  () => kv.dropPositions(0, 0, 1, 0, 1),
  () => kv.hide('U', true),
  () => kv.hidden(0),
  () => kv.erase('V', { generation: 1, erasedMs: 1 }),
  () => kv.storeErasures([{ userHash: 'a', generation: 1, erasedMs: 1 }]),
  () => kv.erased(0),
  () => kv.limit('key', 'id', { max: 1, windowMs: 1_000 }),
  () => kv.cached('key'),
  () => kv.cache('key', 'value', 1_000),
  () => kv.cacheOnce('key', 'value', 1_000),
  () => kv.exchange('key', null, 'value', 1_000),
  () => kv.forget('key'),
  () => kv.lock('name', 1_000),
  () => kv.renewLock('name', 'token', 1_000),
  () => kv.unlock('name', 'token'),
  () => kv.clock(),
  () => kv.others(),
  () => kv.probe(),
  () => kv.memoryUse(),
  () => kv.servers(),
]

describeOnServers('a Redis that fails', () => {
  let server: Server
  beforeAll(async () => void (server = await startRedis()))
  afterAll(() => server?.close())

  test('after its clock is set back limits and locks last for their duration, and not until it has caught up', async () => {
    const kv = await open(server.url)
    const redis = new Redis(server.url)
    const window = { max: 2, windowMs: 300 }
    for (const id of ['1', '2']) expect((await kv.limit('stepped', id, window)).allowed).toBe(true)
    // As for a clock that is now an hour behind.
    for (const id of ['1', '2']) await redis.zincrby('limit:stepped', 3_600_000, id)
    await redis.pexpire('limit:stepped', 3_600_000)
    const refused = await kv.limit('stepped', '3', window)
    expect(refused).toMatchObject({ allowed: false, retryAfterMs: 300 })
    expect(await redis.pttl('limit:stepped')).toBeLessThanOrEqual(300)
    await Bun.sleep(refused.retryAfterMs)
    expect((await kv.limit('stepped', '3', window)).allowed).toBe(true)
    // A lock whose holder is gone.
    await kv.lock('stepped', 300)
    await redis.pexpire('lock:stepped', 3_600_000)
    expect(await kv.lock('stepped', 300)).toBeNull()
    await Bun.sleep(300)
    expect(await kv.lock('stepped', 300)).toBeString()
    redis.disconnect()
    await kv.close()
  })

  test("the limit of check-ins ends with its window, and a window's hash with the one after", async () => {
    const WINDOW_MS = 60_000
    const kv = await open(server.url)
    const redis = new Redis(server.url)
    await activate(kv)
    const windows = ['{gps:0}:win:checkin:0', '{gps:0}:win:checkin:1']
    await redis.del(...windows)
    const userId = 'windowed'
    /** Rewrites the window as if its calls were this much older. */
    async function pass(ms: number): Promise<void> {
      const key = (await redis.exists(windows[0]!)) === 1 ? windows[0]! : windows[1]!
      const calls = (await redis.hget(key, userId))!.replaceAll(/(?<=^|;)\d+/g, (at) => `${Number(at) - ms}`)
      const span = Math.floor(Number(/\d+(?=\|[^;]*;$)/.exec(calls)![0]) / WINDOW_MS)
      await redis.del(key)
      await redis.hset(windows[span % 2]!, { '#': `${span}`, [userId]: calls })
    }
    for (let i = 0; i < 5; i++)
      expect(await admit(kv, checkin({ userId }))).toMatchObject({ outcome: 'admitted' })
    const [ttl] = (await Promise.all(windows.map((key) => redis.pttl(key)))).filter((ms) => ms !== -2)
    expect(ttl).toBeWithin(WINDOW_MS, 2 * WINDOW_MS + 1)
    await pass(WINDOW_MS - 20_000)
    const limited = await admit(kv, checkin({ userId }))
    if (limited.outcome !== 'limited') throw new Error(`was ${limited.outcome}`)
    expect(limited.retryAfterMs).toBeWithin(1, 20_001)
    await pass(limited.retryAfterMs)
    expect(await admit(kv, checkin({ userId }))).toMatchObject({ outcome: 'admitted' })
    redis.disconnect()
    await kv.close()
  })

  test('while it is down every method rejects immediately, and works again by itself (long)', async () => {
    const kv = await open(server.url)
    await activate(kv)
    await admit(kv, sync('U', [1]))
    let reconnects = 0
    kv.onReconnect(() => reconnects++)
    await server.stop('SIGKILL')
    await until(async () => (await refusedAfterMs(kv.probe())) < AT_ONCE_MS, 'the loss to be noticed')
    for (const call of everyVerb(kv)) expect(await refusedAfterMs(call())).toBeLessThan(AT_ONCE_MS)
    expect(reconnects).toBe(0)
    await server.restart()
    await until(() => reconnects === 1, 'the client to reconnect')
    // The probe succeeds once all connections are restored, not only its own.
    await until(async () => (await kv.probe(), true), 'the probe')
    for (const call of everyVerb(kv)) await call()
    expect(await kv.peek('U')).toHaveLength(1)
    await kv.close()
  })

  test('while it is frozen requests reject within their timeout, and work again by themselves (long)', async () => {
    const kv = await open(server.url)
    await activate(kv)
    server.pause()
    try {
      const answers = await Promise.all([
        refusedAfterMs(kv.cached('key')),
        refusedAfterMs(kv.limit('key', 'id', { max: 1, windowMs: 1_000 })),
        refusedAfterMs(kv.probe()),
        refusedAfterMs(kv.memoryUse()),
        refusedAfterMs(kv.status()),
        refusedAfterMs(kv.hide('U', true)),
      ])
      for (const ms of answers) expect(ms).toBeLessThan(5_000)
      expect(await refusedAfterMs(admit(kv, checkin()))).toBeLessThan(ADMIT_WITHIN_MS + 5_000)
    } finally {
      server.resume()
    }
    await kv.probe()
    expect(await admit(kv, checkin())).toMatchObject({ outcome: 'admitted' })
    await kv.close()
  })

  test('a repeated admission whose first answer was lost is charged and stored once', async () => {
    const kv = await open(server.url)
    await activate(kv)
    const submission = sync('once', [1, 2])
    server.pause()
    const lost = refusedAfterMs(admit(kv, submission))
    await lost
    server.resume()
    expect(await admit(kv, submission, rules({ sync: { max: 1, windowMs: 60_000 } }))).toMatchObject({
      pending: 2,
    })
    expect(await kv.peek('once')).toHaveLength(2)
    await kv.close()
  })

  test('a server that becomes available later is used then (long)', async () => {
    await server.stop()
    const kv = await open(server.url)
    await refusedAfterMs(kv.probe())
    await server.restart()
    await until(async () => (await kv.probe(), true), 'the first connection')
    await kv.close()
  })

  test('a forgotten script is sent again', async () => {
    const kv = await open(server.url)
    await activate(kv)
    await admit(kv, checkin())
    await asked(server.url, (redis) => redis.script('FLUSH'))
    expect(await admit(kv, checkin())).toMatchObject({ outcome: 'admitted' })
    await kv.close()
  })

  test('a replica that refuses writes is unavailable; a key of another type is a fault', async () => {
    const kv = await open(server.url)
    await activate(kv)
    await asked(server.url, (redis) => redis.replicaof('127.0.0.1', '1'))
    await refusedAfterMs(admit(kv, checkin()))
    await refusedAfterMs(kv.cache('key', 'value', 1_000))
    await asked(server.url, async (redis) => {
      await redis.replicaof('NO', 'ONE')
      await redis.lpush('cache:list', 'x')
    })
    const failure = await rejection(kv.cached('list'))
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(KvUnavailable)
    await kv.close()
  })
})

describeOnServers('a full Redis', () => {
  test('refuses points as full and stores none of them; somebody is hidden, and stored points are acknowledged', async () => {
    await using server = await startRedis({ args: ['--maxmemory', '6mb'] })
    const kv = await open(server.url)
    await activate(kv)
    expect(await kv.memoryUse()).toBeGreaterThan(0)
    expect(await kv.memoryUse()).toBeLessThan(0.9)
    const value = 'x'.repeat(20_000)
    const submission = (t: number) => sync(`U${t % 7}`, [], { entries: [{ field: `t${t}`, value }] })
    const generous = rules({ sync: { max: 1_000_000, windowMs: 60_000 } })
    let taken = 0
    let refusal: unknown = null
    while (refusal === null && taken < 1_000)
      await admit(kv, submission(taken), generous).then(
        () => taken++,
        (error: unknown) => (refusal = error),
      )
    expect(refusal).toBeInstanceOf(KvFull)
    await refusedAfterMs(kv.restore(0, [submission(taken)], generous), KvFull)
    expect(await kv.memoryUse()).toBeGreaterThan(0.9)
    // A withdrawal of consent does not have to wait for memory.
    await kv.hide('U0', true, true)
    expect(await kv.hidden(0)).toEqual(['U0'])
    const pending = await kv.drain(0, await kv.pendingUsers(0))
    expect(pending.flatMap(({ entries }) => entries)).toHaveLength(taken)
    // In batches, as a flush does it: arguments of a script need memory too.
    for (const one of pending) await kv.acknowledge(0, [one])
    expect(await kv.bufferSize()).toBe(0)
    expect(await admit(kv, submission(taken), generous)).toMatchObject({ outcome: 'admitted' })
    await kv.close()
  })
})

describe('a Redis that was never there', () => {
  test('does not prevent a service from starting', async () => {
    const startedAt = performance.now()
    const kv = await open('redis://127.0.0.1:1')
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(await refusedAfterMs(admit(kv, checkin()))).toBeLessThan(AT_ONCE_MS)
    await kv.close()
  })
})

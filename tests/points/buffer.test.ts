/** The buffer with a kv that is available, late, down or full: every check-in with a 202 is stored once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openTcpProxy, type TcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkin, type KvDriver, quickKvDrivers, rules, sync } from '#tests/kv/drivers.ts'
import { asked } from '#tests/kv/failing-kv.ts'
import { ADMIT_MS, IN_TIME_MS, refusal, startReplica, timed } from './replica.ts'

const fields = async (kv: Kv, userId: string) => (await kv.peek(userId)).map(({ field }) => field).sort()

function suite(driver: KvDriver): void {
  describe(`a buffer over ${driver.name}`, () => {
    let kv: Kv
    beforeAll(async () => {
      await driver.start()
      kv = await driver.open()
    })
    afterAll(async () => {
      await kv?.close()
      await driver.stop()
    })

    test('submissions of one turn are admitted together, a kv without a status is primed, and each gets its own verdict', async () => {
      await using replica = await startReplica(kv)
      const submissions = Array.from({ length: 600 }, (_, i) => checkin({ userId: `U${i % 200}` }))
      const verdicts = await Promise.all(submissions.map((one) => replica.admitDurably(one)))
      for (const [i, { recordedMs }] of submissions.entries())
        expect(verdicts[i]).toMatchObject({ outcome: 'admitted', recordedMs })
      expect(await fields(kv, 'U7')).toEqual(
        submissions.filter(({ userId }) => userId === 'U7').map(({ entries }) => entries[0]!.field),
      )
      expect(replica.journaled()).toBe(0)
    })

    test('a large batch is split, so that no call to the kv takes long', async () => {
      await using replica = await startReplica(kv)
      const long = Array.from({ length: 30 }, (_, i) =>
        sync(
          `long${i}`,
          Array.from({ length: 1_000 }, (_, t) => t),
        ),
      )
      const verdicts = await Promise.all(long.map((one) => replica.admitTrack(one)))
      for (const verdict of verdicts) expect(verdict).toMatchObject({ outcome: 'admitted', pending: 1_000 })
    })
  })
}
for (const driver of quickKvDrivers()) suite(driver)

describeOnServers('a buffer over a troubled Redis', () => {
  let server: Server
  let proxy: TcpProxy
  /** Through the proxy, as replicas use it. */
  let kv: Kv
  /** Bypasses the proxy, to check what is stored. */
  let direct: Kv
  const openKv = (port: number) =>
    openRedisKv({ url: `redis://127.0.0.1:${port}`, partitions: 1, onError: () => undefined })

  beforeAll(async () => {
    server = await startRedis()
    proxy = await openTcpProxy(server.port)
    ;[kv, direct] = await Promise.all([openKv(proxy.port), openKv(server.port)])
  })
  afterAll(async () => {
    await Promise.all([kv?.close(), direct?.close()])
    await proxy?.close()
    await server?.close()
  })
  beforeEach(async () => {
    proxy.set({ kind: 'clear' })
    await asked(server.url, (redis) => redis.config('SET', 'maxmemory', 0))
    await until(async () => (await kv.probe(), await direct.probe(), true), 'Redis to be well')
    await asked(server.url, (redis) => redis.multi().flushall().config('SET', 'maxmemory', 0).exec())
  })

  test('a check-in to a kv that is two seconds late gets 202 through the journal in time, and is stored once', async () => {
    await using replica = await startReplica(kv)
    proxy.set({ kind: 'slow', toServerMs: 1_000, toClientMs: 1_000 })
    const submissions = Array.from({ length: 5 }, () => checkin({ userId: 'U' }))
    const first = await timed(replica.admitDurably(submissions[0]!))
    expect(first.answer).toMatchObject({ outcome: 'admitted', duplicate: false })
    expect(first.ms).toBeGreaterThanOrEqual(ADMIT_MS - 2)
    expect(first.ms).toBeLessThan(1_900)
    // Further check-ins do not wait for a kv that is known to be late.
    const next = await timed(Promise.all(submissions.slice(1).map((one) => replica.admitDurably(one))))
    expect(next.ms).toBeLessThan(first.ms)
    expect(replica.journaled()).toBe(5)
    // The late call succeeds by itself, without a retry.
    await until(() => replica.journaled() === 0, 'the kv to confirm')
    expect(await fields(direct, 'U')).toEqual(submissions.map(({ entries }) => entries[0]!.field).sort())
    expect((await direct.counters())[0]!.admitted).toBe(5)
  })

  test('a check-in whose late answer is lost is recovered from the journal, once', async () => {
    await using replica = await startReplica(kv)
    proxy.set({ kind: 'slow', toServerMs: 0, toClientMs: 2_000 })
    const applied = checkin({ userId: 'U' })
    expect(await replica.admitDurably(applied)).toMatchObject({ outcome: 'admitted' })
    // Redis stores it, but its response is lost.
    proxy.set({ kind: 'closed' })
    expect(await replica.admitDurably(checkin({ userId: 'U' }))).toMatchObject({ outcome: 'admitted' })
    expect(replica.journaled()).toBe(2)
    proxy.set({ kind: 'clear' })
    await until(() => replica.journaled() === 0, 'the replay')
    expect(await fields(direct, 'U')).toHaveLength(2)
    expect((await direct.counters())[0]).toMatchObject({ admitted: 2 })
  })

  test('a late verdict of any kind does not undo a 202', async () => {
    const one = rules({ checkin: { max: 1, windowMs: 60_000 } })
    await using replica = await startReplica(kv, { rules: one })
    await replica.admitDurably(checkin({ userId: 'limited' }))
    await replica.admitDurably(checkin({ userId: 'somebody' }))
    await direct.setStatus({ status: 'active', version: 5, message: null })
    proxy.set({ kind: 'slow', toServerMs: 300, toClientMs: 300 })
    const limited = checkin({ userId: 'limited' })
    expect(await replica.admitDurably(limited)).toMatchObject({ outcome: 'admitted' })
    await until(() => replica.journaled() === 0, 'the limited one to be stored')
    expect(await fields(direct, 'limited')).toContain(limited.entries[0]!.field)

    await direct.setStatus({ status: 'paused', version: 6, message: 'wait' })
    const paused = checkin({ userId: 'paused' })
    expect(await replica.admitDurably(paused)).toMatchObject({ outcome: 'admitted' })
    await until(() => replica.journaled() === 0, 'the one of the pause to be stored')
    expect(await fields(direct, 'paused')).toEqual([paused.entries[0]!.field])
  })

  test('with a stopped Redis the replica applies limits and duplicates itself, refuses tracks, and loses nothing', async () => {
    await using replica = await startReplica(kv)
    await replica.admitDurably(checkin({ userId: 'before' }))
    await server.stop('SIGKILL')
    try {
      const first = checkin({ userId: 'U' })
      const { answer, ms } = await timed(replica.admitDurably(first))
      expect(answer).toMatchObject({ outcome: 'admitted', duplicate: false })
      expect(ms).toBeLessThan(IN_TIME_MS)
      const again = { ...first, id: 'again', recordedMs: 1 }
      expect(await replica.admitDurably(again)).toMatchObject({
        duplicate: true,
        recordedMs: first.recordedMs,
      })
      const entries = [...first.entries, ...sync('U', [1, 2]).entries]
      expect(await replica.admitDurably({ ...first, id: 'track', entries })).toMatchObject({
        duplicate: true,
      })
      for (let i = 0; i < 2; i++)
        expect(await replica.admitDurably(checkin({ userId: 'U' }))).toMatchObject({ outcome: 'admitted' })
      expect(await replica.admitDurably(checkin({ userId: 'U' }))).toMatchObject({ outcome: 'limited' })
      expect(await refusal(replica.admitTrack(sync('U', [9])))).toMatchObject({
        httpStatus: 503,
        headers: { 'Retry-After': '5' },
      })
      expect(replica.journaled()).toBe(4)
    } finally {
      await server.restart()
    }
    await until(() => replica.journaled() === 0, 'the replay')
    expect(await fields(direct, 'U')).toHaveLength(3 + 2)
    expect(await replica.admitTrack(sync('U', [9]))).toMatchObject({ outcome: 'admitted', pending: 6 })
  })

  test('with Redis down at the start the database’s status decides, and without one the answer is 503', async () => {
    await server.stop()
    await using known = await startReplica(kv)
    const ended = { status: 'ended', version: 9, message: 'Thank you' } as const
    await using over = await startReplica(kv, { status: ended })
    await using unknown = await startReplica(kv, { status: null })
    try {
      expect(await known.admitDurably(checkin({ userId: 'U' }))).toMatchObject({ outcome: 'admitted' })
      expect(await over.admitDurably(checkin())).toEqual({
        outcome: 'refused',
        status: 'ended',
        message: 'Thank you',
      })
      expect(await refusal(unknown.admitDurably(checkin()))).toMatchObject({ httpStatus: 503 })
      expect(unknown.journaled()).toBe(0)
    } finally {
      await server.restart()
    }
    await until(() => known.journaled() === 0, 'the replay')
    expect(await fields(direct, 'U')).toHaveLength(1)
  })

  describe('with a Redis that has lost the status, the database’s status decides', () => {
    const paused = { status: 'paused', version: 9, message: 'Storm' } as const
    const refused = { outcome: 'refused', status: 'paused', message: 'Storm' } as const

    test('also when the database takes longer than the kv may', async () => {
      await using replica = await startReplica(kv, { status: paused, databaseMs: 2 * ADMIT_MS })
      await asked(server.url, (redis) => redis.flushall())
      expect(await replica.admitDurably(checkin())).toEqual(refused)
    })

    test('also while Redis takes check-ins, and the connection for the status is not back yet', async () => {
      await using replica = await startReplica(kv, { status: paused })
      expect(await replica.admitDurably(checkin())).toEqual(refused)
      await asked(server.url, async (redis) => {
        // Existing connections stay, and no new ones are accepted.
        await redis.config('SET', 'maxclients', 1)
        try {
          await kv.status()
          const connections = ((await redis.client('LIST')) as string).split('\n')
          for (const one of connections)
            if (one.includes(`name=event:${kv.caller} `) && !one.includes('cmd=evalsha'))
              await redis.client('KILL', 'ID', /^id=(\d+)/.exec(one)![1]!)
          const isAway = () =>
            kv.status().then(
              () => false,
              () => true,
            )
          await until(isAway, 'the connection to be away')
          await redis.flushall()
          expect(await kv.admit(0, [checkin()], rules())).toEqual([{ outcome: 'unknown' }])
          expect(await replica.admitDurably(checkin())).toEqual(refused)
        } finally {
          await redis.config('SET', 'maxclients', 10_000)
        }
      })
    })
  })

  test('with a frozen Redis check-ins get 202 in time, tracks are refused within their timeout, and it recovers by itself', async () => {
    await using replica = await startReplica(kv)
    server.pause()
    try {
      const first = await timed(replica.admitDurably(checkin({ userId: 'frozen' })))
      expect(first.ms).toBeLessThan(IN_TIME_MS)
      const track = await timed(refusal(replica.admitTrack(sync('track', [1]))))
      expect(track.answer.httpStatus).toBe(503)
      expect(track.ms).toBeLessThan(10_000)
    } finally {
      server.resume()
    }
    await until(() => replica.journaled() === 0, 'the replay')
    expect(await fields(direct, 'frozen')).toHaveLength(1)
  })

  /**
   * Resolves when the kv is known to be down: a call still in progress would be late, and reach it
   * afterwards.
   */
  const cutOff = async () => {
    proxy.set({ kind: 'closed' })
    await until(async () => (await kv.probe().catch(() => 'away')) === 'away', 'the kv to be away')
  }

  test('a full journal refuses a check-in, and its repetition is no duplicate', async () => {
    await using replica = await startReplica(kv, { journalMax: 1 })
    await cutOff()
    await replica.admitDurably(checkin({ userId: 'first' }))
    const refused = checkin({ userId: 'refused' })
    // The second one repeats a check-in that was not stored: it must not be treated as a duplicate.
    const refusedAs = (id: string) => refusal(replica.admitDurably({ ...refused, id }))
    const refusals = [...(await Promise.all(['once', 'again'].map(refusedAs))), await refusedAs('third')]
    expect(refusals.map(({ httpStatus }) => httpStatus)).toEqual([503, 503, 503])
    proxy.set({ kind: 'clear' })
    await until(() => replica.journaled() === 0, 'the replay')
    await cutOff()
    expect(await replica.admitDurably({ ...refused, id: 'fourth' })).toMatchObject({ duplicate: false })
    proxy.set({ kind: 'clear' })
    await until(() => replica.journaled() === 0, 'the replay')
    expect(await fields(direct, 'refused')).toHaveLength(1)
    // A call on a connection that was just closed may count as late before it counts as unavailable.
    const counted = (await replica.metrics.page()).matchAll(
      /^event_journaled_total\{.*why="(?:late|unavailable)".*\} (\d+)$/gm,
    )
    expect([...counted].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(2)
  })

  test('a nearly full Redis refuses everything with Retry-After, until it has memory again', async () => {
    await using replica = await startReplica(kv)
    const use = (part: number) =>
      asked(server.url, async (redis) => {
        const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1])
        await redis.config('SET', 'maxmemory', Math.round(used / part))
      })
    await use(0.95)
    const isFull = () =>
      replica.admitTrack(sync(crypto.randomUUID(), [1])).then(
        () => false,
        () => true,
      )
    await until(isFull, 'the memory to be seen')
    expect(await refusal(replica.admitDurably(checkin()))).toMatchObject({
      httpStatus: 503,
      headers: { 'Retry-After': '60' },
    })
    expect(await refusal(replica.admitTrack(sync('U', [1])))).toMatchObject({ httpStatus: 503 })
    await use(0.5)
    await until(async () => !(await isFull()), 'the room')
    expect(await replica.admitDurably(checkin())).toMatchObject({ outcome: 'admitted' })
    expect(replica.journaled()).toBe(0)
  })

  test('a Redis that answered in time is not late because the event loop stood still', async () => {
    // Not through the proxy, which is blocked with this process.
    await using replica = await startReplica(direct)
    const call = replica.admitDurably(checkin({ userId: 'U' }))
    // The batch is sent in this turn; then nothing is read for longer than the kv's timeout.
    await new Promise((resolve) => setImmediate(resolve))
    const until = performance.now() + 2 * ADMIT_MS
    while (performance.now() < until);
    expect(await call).toMatchObject({ outcome: 'admitted' })
    expect(replica.journaled()).toBe(0)
  })

  test('what the journal holds waits for room in Redis, and leaves the flush enough to work', async () => {
    await using replica = await startReplica(kv)
    const limit = (part: number) =>
      asked(server.url, async (redis) => {
        const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1])
        await redis.config('SET', 'maxmemory', Math.round(used / part))
      })
    await cutOff()
    const waiting = Array.from({ length: 50 }, (_, i) => checkin({ userId: `waiting-${i}` }))
    for (const one of waiting) await replica.admitDurably(one)
    expect(replica.journaled()).toBe(50)
    // Above the ceiling and below the limit: Redis itself would still accept them.
    await limit(0.95)
    proxy.set({ kind: 'clear' })
    await until(async () => (await kv.probe(), true), 'Redis to be well')
    const rounds = async () => {
      const before = await direct.clock()
      await until(async () => (await direct.clock()) > before + 2_500, 'some rounds of the recovery')
    }
    await rounds()
    expect(replica.journaled()).toBe(50)
    await limit(0.5)
    await until(() => replica.journaled() === 0, 'the recovery')
    expect(await direct.pendingUsers(0)).toHaveLength(50)
  })

  test.each([1, 0.999, 0.9, 0.5])(
    'with %d of its memory used, Redis gives the flush its lock and lets it store',
    async (part) => {
      await using replica = await startReplica(kv)
      await replica.admitTrack(sync('U', [1, 2, 3]))
      await asked(server.url, async (redis) => {
        const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1])
        await redis.config('SET', 'maxmemory', Math.round(used / part))
      })
      const token = await direct.lock('flush', 90_000)
      expect(token).not.toBeNull()
      const pending = await direct.drain(0, await direct.pendingUsers(0))
      await direct.acknowledge(0, pending)
      expect(await fields(direct, 'U')).toEqual([])
      await direct.unlock('flush', token!)
      await asked(server.url, (redis) => redis.config('SET', 'maxmemory', 0))
      expect(await replica.admitTrack(sync('V', [1]))).toMatchObject({ outcome: 'admitted' })
    },
  )
})

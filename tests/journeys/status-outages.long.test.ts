/** The event's status through the loss of each part, and concurrent changes of it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import Redis from 'ioredis'
import postgres from 'postgres'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { endActivity, healthOf, readActivity, setStatus } from '#tests/helpers/test-stack.ts'
import { checkInAtReplicas, type OwnedTestStack, openOwnedTestStack } from '#tests/helpers/test-stack-real.ts'
import { unhandledEvents } from '#tests/helpers/unhandled-events.ts'
import { until } from '#tests/helpers/wait.ts'

describeOnServers('the status', () => {
  let stack: OwnedTestStack
  let sql: postgres.Sql
  beforeAll(async () => {
    stack = await openOwnedTestStack({ apart: ['tracking', 'admin', 'scheduler'] })
    sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => undefined })
  })
  afterAll(async () => {
    await sql?.end({ timeout: 1 })
    await stack?.close()
  })

  const asked = () => checkInAtReplicas(stack)

  /** Empties it, like a new disk. */
  const emptyRedis = async () => {
    await stack.redis.stop('SIGKILL')
    await rm(join(stack.redis.dir, 'appendonlydir'), { recursive: true })
    await stack.redis.restart()
  }
  const losses: readonly (readonly [string, () => Promise<void>])[] = [
    ['Redis', () => stack.redis.restart()],
    ['Redis, with an empty disk', emptyRedis],
    ['Postgres', () => stack.postgres.restart()],
    ['NATS', () => stack.nats.restart()],
    ['admin', () => stack.service('admin').restart()],
    [
      'tracking',
      async () => void (await Promise.all([0, 1].map((i) => stack.service('tracking', i).restart()))),
    ],
    ['scheduler', () => stack.service('scheduler').restart()],
  ]

  /**
   * After a loss no check-in is admitted, and soon each is rejected with the right code. A replica learns of
   * a change after its next request, or a second later.
   */
  const expectKept = async (status: 'paused' | 'ended', loss: () => Promise<void>) => {
    expect(await asked()).toEqual([status, status])
    const seen = new Set<string>()
    let lost = false
    const watching = (async () => {
      for (; !lost; await Bun.sleep(10)) for (const code of await asked().catch(() => [])) seen.add(code)
    })()
    await loss()
    lost = true
    await watching
    await until(
      async () => (await asked()).every((code) => (seen.add(code), code === status)),
      `both replicas to refuse as ${status}`,
    )
    expect([...seen].filter((code) => code !== status && code !== 'unavailable')).toEqual([])
  }

  test('holds on every replica through the loss of every part', async () => {
    await setStatus(stack, { status: 'paused' })
    for (const [, loss] of losses) await expectKept('paused', loss)
  }, 120_000)

  test('is not guessed: with an empty kv and no database no check-in is admitted', async () => {
    await setStatus(stack, { status: 'active' })
    expect(await asked()).toEqual(['admitted', 'admitted'])
    // A service that receives the event reads the status again, and could write it to the empty kv.
    await until(
      async () => (await unhandledEvents(sql, ['admin.spread-status'])).length === 0,
      'all to have heard',
      { timeoutMs: 30_000 },
    )
    const redis = new Redis(stack.redisUrl)
    // A status read from the database just before may still be written to the kv. For a second after a late answer of
    // the kv, a replica uses its cached status.
    const staysEmpty = async () => {
      await redis.flushall()
      await Bun.sleep(1_200)
      return (await redis.exists('{gps:0}:status')) === 0
    }
    for (const away of ['silent', 'gone'] as const) {
      if (away === 'silent') stack.postgres.pause()
      else await stack.postgres.stop('SIGKILL')
      await until(staysEmpty, 'nobody to tell the kv of the database')
      for (let i = 0; i < 3; i++)
        expect({ away, i, codes: await asked() }).toEqual({ away, i, codes: ['unavailable', 'unavailable'] })
      await stack.postgres.restart()
      await until(
        async () => (await asked()).every((code) => code === 'admitted'),
        'check-ins to be admitted again',
        { timeoutMs: 30_000 },
      )
    }
    redis.disconnect()
  }, 120_000)

  test('is consistent after concurrent pauses and ends', async () => {
    const redis = new Redis(stack.redisUrl)
    // After the outage of the database, each broken connection fails once.
    await until(
      async () => (await Promise.all(Array.from({ length: 12 }, () => readActivity(stack)))).length,
      'admin to have its connections again',
    )
    const ROUNDS = 12
    for (let round = 0; round < ROUNDS; round++) {
      // Only a test reopens an ended event.
      await sql`UPDATE activity SET status = 'active', version = version + 1`
      await sql`TRUNCATE ending, audit_log, outbox, handled`
      const calls = [
        () => setStatus(stack, { status: 'paused', message: `${round}` }),
        () => endActivity(stack),
        () => setStatus(stack, { status: 'active' }),
        () => endActivity(stack),
      ]
      if (round % 2 === 1) calls.reverse()
      const answers = await Promise.all(
        calls.map(async (call, i) => {
          await Bun.sleep((i * round) % 7)
          const answer = await call()
          const text = await answer.text()
          expect({ i, text, taken: [200, 409].includes(answer.status) }).toEqual({ i, text, taken: true })
          return answer.status
        }),
      )
      const [held] = await sql<{ status: string; version: number }[]>`SELECT status, version FROM activity`
      expect(held!.status).toBe('ended')
      expect(await redis.get('{gps:0}:status')).toStartWith(`${held!.version}|ended|`)
      const audit = await sql<{ what: string }[]>`
        SELECT coalesce(details->>'status', action) AS what FROM audit_log ORDER BY id`
      const events = await sql<{ what: string; version: number }[]>`
        SELECT CASE subject WHEN 'event.admin.activity.ended' THEN 'end-activity' ELSE payload->>'status' END AS what,
          (payload->>'version')::int AS version FROM outbox ORDER BY id`
      // Each change once, the end once and last; the domain events have the same changes in the same order.
      expect(audit.filter(({ what }) => what === 'end-activity')).toHaveLength(1)
      expect(audit.at(-1)!.what).toBe('end-activity')
      expect(events.map(({ what }) => what)).toEqual(audit.map(({ what }) => what))
      const first = held!.version - events.length + 1
      expect(events.map(({ version }) => version)).toEqual(events.map((_, i) => first + i))
      expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1 + audit.length)
    }
    redis.disconnect()
  }, 120_000)

  // The last test: the event has ended.
  test('ended stays ended through the loss of the kv, the database and tracking', async () => {
    expect((await readActivity(stack)).status).toBe('ended')
    expect(await asked()).toEqual(['ended', 'ended'])
    for (const [name, loss] of losses)
      if (/Redis|Postgres|tracking/.test(name)) await expectKept('ended', loss)
    await until(async () => (await healthOf(stack)).status === 'ended', 'the report')
  }, 120_000)
})

/** The database port with a Postgres server that is stopped, restarted, frozen, slow or late. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { type Database, DatabaseTimeout, isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { FEW_CONNECTIONS, occupyPostgres } from '#tests/helpers/full-postgres.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Server, startPostgres } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openTcpProxy } from '#tests/helpers/tcp-proxy.ts'
import { until } from '#tests/helpers/wait.ts'

describeOnServers('a Postgres that fails', () => {
  let server: Server
  let db: Database
  beforeAll(async () => {
    server = await startPostgres({ args: FEW_CONNECTIONS })
    db = await openDatabase({ url: server.url, dir: '' })
    await db.sql`CREATE TABLE IF NOT EXISTS kept AS SELECT 1 AS value`
  })
  afterAll(async () => {
    await db?.close()
    await server?.close()
  })
  const ask = () => db.sql`SELECT value FROM kept`
  /** Opens every connection of the pool, as busy services do. */
  const useThePool = () =>
    Promise.all(Array.from({ length: 10 }, () => db.read(() => db.sql`SELECT pg_sleep(0.05)`)))

  test('compiles no statement, however expensive the planner takes it to be', async () => {
    const plan = await db.transaction(async (tx) => {
      await tx.sql`SET LOCAL jit_above_cost = 0`
      return tx.sql`EXPLAIN (ANALYZE) SELECT sum(value) FROM kept`
    })
    expect(JSON.stringify(plan)).toContain('Execution Time')
    expect(JSON.stringify(plan)).not.toContain('JIT')
  })

  test('stopped: queries, transactions and probes fail quickly as unavailable', async () => {
    await useThePool()
    const inTransaction = Promise.withResolvers<void>()
    const cut = rejection(
      db.transaction(async (tx) => {
        await tx.sql`SELECT 1`
        inTransaction.resolve()
        for (;;) await tx.sql`SELECT pg_sleep(0.01)`
      }),
    )
    await inTransaction.promise
    await server.stop('SIGKILL')
    expect(isDatabaseUnavailable(await cut)).toBe(true)
    for (const call of [
      () => db.sql`SELECT 1`,
      () => db.orm.execute(sql`SELECT 1`),
      () => db.transaction((tx) => tx.orm.execute(sql`SELECT 1`)),
      () => db.read(() => ask()),
      () => db.probe(),
    ]) {
      const startedAt = performance.now()
      expect(isDatabaseUnavailable(await rejection(call() as Promise<unknown>))).toBe(true)
      expect(performance.now() - startedAt).toBeLessThan(2_500)
    }
    await server.restart()
    await until(() => db.probe().then(() => true), 'the database to be back')
  })

  test('a query during the loss does not break its connection', async () => {
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      await useThePool()
      await server.stop(signal)
      // Sent on connections that are closed without the client knowing it.
      await Promise.allSettled(Array.from({ length: 20 }, () => ask()))
      await server.restart()
      await until(() => db.probe().then(() => true), 'the database to be back')
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: 30 }, () => db.read(() => db.sql`SELECT pg_sleep(0.02)`)))
      // A broken connection is given up after three seconds.
      expect(performance.now() - startedAt).toBeLessThan(2_900)
    }
  })

  test.each([
    ['an idle pool', 0],
    ['a busy pool', 40],
  ])('a connection that dies within a transaction takes it along whole, in %s', async (_, waiting) => {
    const [other, rows] = [await openDatabase({ url: server.url, dir: '' }), () => db.sql`SELECT FROM kept`]
    await useThePool()
    let after: unknown = null
    const cut = rejection(
      db.transaction(async (tx) => {
        const [backend] = await tx.sql`SELECT pg_backend_pid() AS pid`
        await tx.sql`INSERT INTO kept VALUES (2)`
        // Queries wait for the pool, so a lost connection is replaced at once.
        const others = Array.from({ length: waiting }, () => db.sql`SELECT pg_sleep(0.02)`)
        await other.sql`SELECT pg_terminate_backend(${backend!.pid as number})`
        await Promise.allSettled(others)
        await Bun.sleep(50)
        after = await rejection(tx.sql`INSERT INTO kept VALUES (3)`)
      }),
    )
    expect(isDatabaseUnavailable(await cut)).toBe(true)
    await until(() => after !== null, 'the statement behind the loss')
    expect(isDatabaseUnavailable(after)).toBe(true)
    expect(await rows()).toHaveLength(1)
    await useThePool()
    await other.close()
  })

  test('restarted between two requests: a read succeeds although every connection is closed', async () => {
    await useThePool()
    await server.stop()
    await server.restart()
    const answers = await Promise.all(Array.from({ length: 20 }, () => db.read(() => ask())))
    for (const answer of answers) expect([...answer]).toEqual([{ value: 1 }])
  })

  test('frozen: the probe times out, and everything works after it continues', async () => {
    await useThePool()
    server.pause()
    const startedAt = performance.now()
    try {
      expect(await rejection(db.probe())).toBeInstanceOf(DatabaseTimeout)
      expect(performance.now() - startedAt).toBeLessThan(10_000)
    } finally {
      server.resume()
    }
    await db.probe()
  })

  test.each([
    ['an idle pool', 0],
    ['a busy pool', 10],
  ])(
    'without a free connection: calls of %s fail quickly as unavailable, and work again when there is room (long)',
    async (_, busy) => {
      await useThePool()
      const watch = postgres(server.url, { max: 1 })
      const cut = Array.from({ length: busy }, () => rejection(db.sql`SELECT pg_sleep(60)`))
      const active = () =>
        watch`SELECT FROM pg_stat_activity WHERE application_name = 'event' AND state = 'active'`
      await until(async () => (await active()).count === busy, 'the pool to be busy')
      await watch.end()
      const release = await occupyPostgres(server.url)
      for (const error of await Promise.all(cut)) expect(isDatabaseUnavailable(error)).toBe(true)
      for (const call of [
        () => db.sql`SELECT 1`,
        () => db.transaction((tx) => tx.orm.execute(sql`SELECT 1`)),
        () => db.read(() => ask()),
        () => db.probe(),
      ]) {
        const startedAt = performance.now()
        expect(isDatabaseUnavailable(await rejection(call() as Promise<unknown>))).toBe(true)
        expect(performance.now() - startedAt).toBeLessThan(2_500)
      }
      await release()
      await until(() => db.probe().then(() => true), 'a free connection')
      await useThePool()
    },
  )

  test('a statement that takes too long is cancelled and reported as unavailable', async () => {
    const slow = db.transaction(async (tx) => {
      await tx.sql`SET LOCAL statement_timeout = 50`
      await tx.sql`SELECT pg_sleep(5)`
    })
    expect(isDatabaseUnavailable(await rejection(slow))).toBe(true)
  })

  test('behind a network that drops every packet: times out soon after the server would have', async () => {
    await using network = await openTcpProxy(server.port)
    const url = new URL(server.url)
    url.port = `${network.port}`
    const client = postgres(url.href, { max: 1, connection: { statement_timeout: 500 } })
    try {
      await client`SELECT 1`
      network.set({ kind: 'silent' })
      const startedAt = performance.now()
      expect(isDatabaseUnavailable(await rejection(client`SELECT 1`))).toBe(true)
      expect(performance.now() - startedAt).toBeWithin(500, 10_000)
      network.set({ kind: 'clear' })
      await until(() => client`SELECT 1`, 'another connection')
      // A slow server that keeps responding is waited for.
      await client`SELECT pg_sleep(0.4)`
    } finally {
      await client.end({ timeout: 1 })
    }
  })

  test('is down at the start: calls fail until it is up', async () => {
    await server.stop()
    const early = await openDatabase({ url: server.url, dir: '' })
    expect(isDatabaseUnavailable(await rejection(early.probe()))).toBe(true)
    await server.restart()
    await until(() => early.probe().then(() => true), 'the first connection')
    await early.close()
  })
})

describeOnServers('a primary with a standby', () => {
  test('is lost during the first query of a connection: it fails at once, and the promoted one takes the next', async () => {
    await using stack = new AsyncDisposableStack()
    const primary = stack.use(await startPostgres())
    const standby = stack.use(await startPostgres({ standbyOf: primary }))
    const addresses = [standby, primary].map(({ port }) => `127.0.0.1:${port}`).join()
    const url = `postgres://postgres@${addresses}/postgres?target_session_attrs=primary`
    const db = await openDatabase({ url, dir: '' })
    stack.defer(() => db.close())
    const watch = postgres(primary.url, { max: 1 })
    const firsts = Array.from({ length: 5 }, () => rejection(db.sql`SELECT pg_sleep(60)`))
    const sleeping = () => watch`SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'`
    await until(async () => (await sleeping()).count === 5, 'five connections')
    await watch.end()

    const startedAt = performance.now()
    await primary.stop('SIGKILL')
    for (const error of await Promise.all(firsts)) expect(isDatabaseUnavailable(error)).toBe(true)
    // One host is down, the other one is read-only.
    for (let i = 0; i < 4; i++) expect(isDatabaseUnavailable(await rejection(db.sql`SELECT 1`))).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(10_000)

    const promoting = postgres(standby.url, { max: 1 })
    await promoting`SELECT pg_promote()`
    await promoting.end()
    await until(() => db.probe().then(() => true), 'the new primary')
    // Also for connections that are opened while the first host is down.
    const found = await Promise.all(
      Array.from({ length: 20 }, () => db.sql`SELECT pg_is_in_recovery() AS standby, pg_sleep(0.05)`),
    )
    for (const [row] of found) expect(row).toMatchObject({ standby: false })
  })
})

/**
 * The system under test on a cluster: three Redis masters, each with a replica, and 16 partitions; three NATS servers;
 * Postgres with a standby; and two processes of each service.
 */
import postgres from 'postgres'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { migrate } from '#shared/stores/db/migrate.ts'
import { lineSettings, startLineServer } from '#tests/helpers/line-server.ts'
import { copyPostgres, startNatsCluster, startPostgres, startRedisCluster } from '#tests/helpers/servers.ts'
import { openTestStackOn } from '#tests/helpers/test-stack-real.ts'
import { type TestSystem, OWNER } from './test-system.ts'

/**
 * `redis` and `nats` are the first servers of their clusters, `postgres` is the primary. There are no
 * breakable links, small disks or clocks.
 */
export async function openClusterSystem(): Promise<TestSystem> {
  await using opening = new AsyncDisposableStack()
  const redis = opening.use(await startRedisCluster(3, 1))
  const nats = await startNatsCluster()
  for (const server of nats) opening.use(server)
  let primary = opening.use(await startPostgres())
  await migrate(primary.url)
  let standby = opening.use(await startPostgres({ standbyOf: primary }))
  const line = startLineServer()
  opening.defer(() => line.stop())

  /** A commit waits for the standby, which then has the data when it is promoted. */
  const commitOnBoth = async () => {
    const sql = postgres(primary.url, { max: 1 })
    await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`
    await sql`SELECT pg_reload_conf()`
    await sql.end()
  }
  await commitOnBoth()
  const addresses = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join()
  const databaseUrl = `postgres://postgres@${addresses}/postgres?target_session_attrs=primary`
  const sql = postgres(databaseUrl, { max: 2, idle_timeout: 5, onnotice: () => undefined })
  opening.defer(() => sql.end({ timeout: 1 }))

  const settings = {
    ...lineSettings(line),
    EVENT_ALERT_USER_ID: OWNER,
    EVENT_LIMIT_ADMIN: '10000',
    EVENT_PARTITIONS: '16',
  }
  const stores = { databaseUrl, redisUrl: redis.url, natsUrl: nats.map(({ url }) => url).join() }
  const stack = await openTestStackOn(
    { settings, doubled: ServiceName.options },
    { ...stores, close: async () => undefined },
  )
  opening.defer(() => stack.close())
  const all = opening.move()
  return {
    stack: Object.assign(stack, { postgres: primary, redis: redis.nodes[0]!, nats: nats[0]! }),
    line,
    sql,
    redisDisk: null,
    journalDisk: null,
    clocks: null,
    cluster: {
      nats,
      async promote() {
        await primary.stop('SIGKILL')
        const promoting = postgres(standby.url, { max: 1 })
        await promoting`SELECT pg_promote()`
        await promoting.end()
        ;[primary, standby] = [standby, primary]
      },
      async follow() {
        await copyPostgres(primary, standby.dir)
        await standby.restart()
        await commitOnBoth()
      },
    },
    part(name) {
      if (name === 'caddy') return stack.caddy
      if (name === 'postgres') return primary
      if (name === 'redis') return redis.nodes[0]!
      if (name === 'nats') return nats[0]!
      return name === 'tracking-2' ? stack.service('tracking', 1) : stack.service(name)
    },
    link(name) {
      throw new Error(`there is no link ${name}`)
    },
    close: () => all.disposeAsync(),
  }
}

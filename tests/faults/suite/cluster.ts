/** The system under test on a Redis Cluster of three masters, each with a replica, and 16 partitions. */
import postgres from 'postgres'
import { migrate } from '#shared/stores/db/migrate.ts'
import { lineSettings, startLineServer } from '#tests/helpers/line-server.ts'
import { startNats, startPostgres, startRedisCluster } from '#tests/helpers/servers.ts'
import { openTestStackOn } from '#tests/helpers/test-stack-real.ts'
import { type TestSystem, OWNER } from './test-system.ts'

/** Its `redis` is the first master. It has no breakable links, small disks or clocks. */
export async function openClusterSystem(): Promise<TestSystem> {
  await using opening = new AsyncDisposableStack()
  const cluster = opening.use(await startRedisCluster(3, 1))
  const stores = {
    postgres: opening.use(await startPostgres()),
    redis: cluster.nodes[0]!,
    nats: opening.use(await startNats()),
  }
  const line = startLineServer()
  opening.defer(() => line.stop())
  await migrate(stores.postgres.url)
  const sql = postgres(stores.postgres.url, { max: 2, idle_timeout: 5, onnotice: () => undefined })
  opening.defer(() => sql.end({ timeout: 1 }))
  const settings = {
    ...lineSettings(line),
    EVENT_ALERT_USER_ID: OWNER,
    EVENT_LIMIT_ADMIN: '10000',
    EVENT_PARTITIONS: '16',
  }
  const urls = { databaseUrl: stores.postgres.url, redisUrl: cluster.url, natsUrl: stores.nats.url }
  const opened = await openTestStackOn({ settings }, { ...urls, close: async () => undefined })
  opening.defer(() => opened.close())
  const stack = Object.assign(opened, stores)
  const all = opening.move()
  return {
    stack,
    line,
    sql,
    redisDisk: null,
    journalDisk: null,
    clocks: null,
    part(name) {
      if (name === 'caddy') return stack.caddy
      if (name === 'postgres' || name === 'redis' || name === 'nats') return stores[name]
      return name === 'tracking-2' ? stack.service('tracking', 1) : stack.service(name)
    },
    link(name) {
      throw new Error(`there is no link ${name}`)
    },
    close: () => all.disposeAsync(),
  }
}

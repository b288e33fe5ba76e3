/** A check-in through Caddy with TLS, compared with the same Caddy in front of a bare server. */
import { join } from 'node:path'
import { type CaddyServer, startCaddy } from '#tests/helpers/servers.ts'
import type { Server } from '#tests/helpers/process.ts'
import type { Contender, Row } from '../measure.ts'
import {
  closeAll,
  startBare,
  startDatabase,
  startPinned,
  startStore,
  withCpu,
} from '../measured-processes.ts'
import { load } from '../load.ts'
import { contender } from './check-in.ts'

const PRODUCT = join(import.meta.dir, '../../../../Caddyfile')
const ALL_PARTS = ['Caddy', 'tracking', 'Redis']
const CHEAPEST = join(import.meta.dir, '../load/cheapest.caddyfile')

/** The product's own Caddyfile in front of replicas of tracking or their stand-ins. */
export const startProxy = (
  upstreams: readonly Server[],
  caddyfile = PRODUCT,
  env: Record<string, string> = {},
): Promise<CaddyServer> =>
  startCaddy({
    caddyfile,
    env: {
      // As in docker-compose.yml.
      GOGC: '400',
      GOMEMLIMIT: '800MiB',
      PRIMARY_HOST: 'localhost',
      ALIAS_HOST: '127.0.0.1',
      UPSTREAM_DISCOVERY: 'list',
      TRACKING_UPSTREAM: upstreams.map(({ port }) => `127.0.0.1:${port}`).join(' '),
      ...env,
    },
  })

/** The product behind Caddy, and a bare server behind another Caddy. */
async function startBoth() {
  const [database, redis] = await Promise.all([startDatabase(), startStore('always')])
  const [tracking, bare] = await Promise.all([
    startPinned('tracking', { DATABASE_URL: database.url, REDIS_URL: redis.url }),
    startBare('check-in'),
  ])
  const [ours, limit] = await Promise.all([startProxy([tracking]), startProxy([bare])])
  return {
    ours: { url: ours.url, processes: { Caddy: ours.pid, tracking: tracking.pid, Redis: redis.pid } },
    limit: { url: limit.url, processes: { Caddy: limit.pid, Bun: bare.pid } },
    close: () => closeAll([ours, limit, tracking, bare, database, redis]),
  }
}

export const throughCaddy: Row = {
  id: 'caddy',
  title: 'check-in through Caddy with TLS, connections kept',
  unit: 'check-ins/s',
  warm: true,
  async open(scale) {
    const { ours, limit, close } = await startBoth()
    return {
      contenders: [
        contender('tracking behind Caddy', 'ours', ours, scale),
        contender('bare Bun.serve behind Caddy', 'limit', limit, scale),
      ],
      goals: [
        { of: 'bare Bun.serve behind Caddy', atLeast: 0.85 },
        { of: null, cpu: { ours: ALL_PARTS }, atMost: 150 },
      ],
      close,
    }
  },
}

/** Like phones that were asleep: a TLS handshake for each check-in. */
export const freshConnections: Row = {
  id: 'caddy-fresh',
  title: 'check-in through Caddy, a new TLS connection each',
  unit: 'check-ins/s',
  warm: true,
  async open(scale) {
    const { ours, limit, close } = await startBoth()
    const fresh = { connections: 'new' } as const
    return {
      contenders: [
        contender('tracking behind Caddy', 'ours', { ...ours, ...fresh }, scale),
        contender('bare Bun.serve behind Caddy', 'limit', { ...limit, ...fresh }, scale),
        contender('tracking behind Caddy, connections kept', 'peer', ours, scale),
      ],
      goals: [
        { of: 'bare Bun.serve behind Caddy', atLeast: 0.85 },
        { of: null, cpu: { ours: ALL_PARTS }, atMost: 420 },
      ],
      close,
    }
  },
}

const PILGRIMS = 50_000
let seed = Date.now() % 1_000_000

/** The cost of our Caddyfile, compared with a minimal Caddy. */
export const caddyAlone: Row = {
  id: 'caddy-alone',
  title: 'CPU of Caddy a check-in, before a bare server, connections kept',
  unit: 'µs',
  warm: true,
  async open(scale) {
    const bare = await startBare('check-in')
    const [ours, cheapest] = await Promise.all([startProxy([bare]), startProxy([bare], CHEAPEST)])
    const cost = (name: string, role: Contender['role'], { url, pid }: CaddyServer): Contender => ({
      name,
      role,
      async measure() {
        const args = ['/api/event/checkin', PILGRIMS, seed++]
        const { cpu } = await withCpu({ Caddy: pid }, () =>
          load({ script: 'check-in', url, args, seconds: scale.seconds }),
        )
        return cpu['Caddy']!
      },
    })
    return {
      contenders: [cost('our Caddyfile', 'ours', ours), cost('the cheapest Caddyfile', 'limit', cheapest)],
      goals: [{ of: 'the cheapest Caddyfile', atMost: 1.1 }],
      close: () => closeAll([ours, cheapest, bare]),
    }
  },
}

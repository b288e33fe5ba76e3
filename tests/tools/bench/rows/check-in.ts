/** A check-in of tracking alone with Redis, compared with a bare server and an alternative. */
import { join } from 'node:path'
import type { Server } from '#tests/helpers/process.ts'
import { startCollector } from '#tests/traces/collector.ts'
import { load } from '../load.ts'
import type { Contender, Row, Sample, Scale } from '../measure.ts'
import {
  closeAll,
  postmaster,
  type Processes,
  startBare,
  startDatabase,
  startPeer,
  startPinned,
  startStore,
  withCpu,
} from '../measured-processes.ts'
import { installPeers } from '../peers/install.ts'

const PILGRIMS = 100_000
const PATH = '/api/event/checkin'
let seed = Date.now() % 1_000_000

export interface CheckIns {
  readonly url: string
  /** The processes involved in a check-in. */
  readonly processes: Processes
  /** `new`: a new connection for each check-in (default: persistent connections). */
  readonly connections?: 'new'
}

/** Check-ins per second that a server accepts, each from another pilgrim. */
async function checkIns({ url, processes, connections }: CheckIns, scale: Scale): Promise<Sample> {
  const args = [PATH, Math.ceil(PILGRIMS * Math.max(scale.share, 0.1)), seed++, connections ?? 'kept']
  const { loaded, cpu } = await withCpu(processes, () =>
    load({ script: 'check-in', url, args, seconds: scale.seconds }),
  )
  return { figure: loaded.requests / loaded.seconds, cpu }
}

export const contender = (name: string, role: Contender['role'], to: CheckIns, scale: Scale): Contender => ({
  name,
  role,
  measure: () => checkIns(to, scale),
})

/** Fastify on Node, with an insert per request. */
export async function startFastify(databaseUrl: string): Promise<Server> {
  const dir = await installPeers()
  const node = Bun.which('node') ?? process.execPath
  return startPeer('fastify', (port) => [node, join(dir, 'fastify-pg.mjs'), `${port}`, databaseUrl])
}

const DURABLE = 'bare Bun.serve + one HSET a turn'

const checkInRow = (appendfsync: 'everysec' | 'always', atLeast: number, ofDurable: number): Row => ({
  id: `check-in-${appendfsync}`,
  title: `check-in, tracking alone, Redis appendfsync ${appendfsync}`,
  unit: 'check-ins/s',
  peers: true,
  warm: true,
  untested: appendfsync === 'always',
  async open(scale) {
    const [database, redis, other, plain] = await Promise.all([
      startDatabase(),
      startStore(appendfsync),
      startStore(appendfsync),
      startStore(appendfsync),
    ])
    const dir = await installPeers()
    const servers = await Promise.all([
      startPinned('tracking', { DATABASE_URL: database.url, REDIS_URL: redis.url }),
      startBare('check-in'),
      startFastify(database.url),
      startPeer('hono', (port) => [process.execPath, join(dir, 'hono-redis.mjs'), `${port}`, other.url]),
      startBare('durable', plain.url),
    ])
    const [tracking, bare, fastify, hono, durable] = servers
    const at = ({ url }: Server, processes: Processes): CheckIns => ({ url, processes })
    const ours = at(tracking, { tracking: tracking.pid, Redis: redis.pid })
    const inserts = at(fastify, { Fastify: fastify.pid, Postgres: await postmaster(database.url) })
    const pipelines = at(hono, { Hono: hono.pid, Redis: other.pid })
    return {
      contenders: [
        contender('tracking', 'ours', ours, scale),
        contender('bare Bun.serve', 'limit', at(bare, { Bun: bare.pid }), scale),
        contender(DURABLE, 'limit', at(durable, { Bun: durable.pid, Redis: plain.pid }), scale),
        contender('Fastify on Node + pg, an insert each', 'peer', inserts, scale),
        contender('Hono on Bun + a pipeline each', 'peer', pipelines, scale),
      ],
      goals: [
        { of: 'bare Bun.serve', atLeast },
        { of: 'bare Bun.serve', cpu: { ours: ['tracking'], other: ['Bun'] }, atMost: 2 },
        { of: null, cpu: { ours: ['Redis'] }, atMost: 12 },
        { of: DURABLE, atLeast: ofDurable },
        { of: 'Hono on Bun + a pipeline each', atLeast: 1.5 },
        ...(appendfsync === 'everysec' ? [{ of: 'Fastify on Node + pg, an insert each', atLeast: 4 }] : []),
      ],
      close: () => closeAll([...servers, database, redis, other, plain]),
    }
  },
})

export const checkInEverysec = checkInRow('everysec', 0.6, 0.75)
export const checkInAlways = checkInRow('always', 0.4, 0.85)

/**
 * The cost of traces, with the default share of traced requests. Without a collector a span is a plain call.
 */
export const tracedCheckIn: Row = {
  id: 'check-in-traced',
  title: 'check-in, tracking alone, traces sent to a collector',
  unit: 'check-ins/s',
  warm: true,
  async open(scale) {
    const collector = startCollector()
    const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url }
    const servers = await Promise.all([
      startPinned('tracking', { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
      startPinned('tracking', env),
    ])
    const [traced, plain] = servers.map(({ url, pid }) => ({ url, processes: { tracking: pid } }))
    return {
      contenders: [
        contender('traced', 'ours', traced!, scale),
        contender('without traces', 'limit', plain!, scale),
      ],
      goals: [{ of: 'without traces', cpu: { ours: ['tracking'], other: ['tracking'] }, atMost: 1.1 }],
      async close() {
        await closeAll([...servers, database, redis])
        await collector.stop()
      },
    }
  },
}

/** A check-in, tracking alone before Redis, beside a bare server and what people would write instead. */
import { join } from 'node:path'
import type { Server } from '#tests/helpers/process.ts'
import { load } from '../load.ts'
import type { Contender, Row, Scale } from '../measure.ts'
import { closeAll, startBare, startDatabase, startPeer, startPinned, startStore } from '../parts.ts'
import { installPeers } from '../peers/install.ts'

const PILGRIMS = 100_000
const PATH = '/api/event/checkin'
let seed = Date.now() % 1_000_000

/** Check-ins a second that a server takes, one of another pilgrim each. */
export async function checkIns(url: string, scale: Scale): Promise<number> {
  const args = [PATH, Math.ceil(PILGRIMS * Math.max(scale.share, 0.1)), seed++]
  const { requests, seconds } = await load({ script: 'check-in', url, args, seconds: scale.seconds })
  return requests / seconds
}

export const contender = (name: string, role: Contender['role'], url: string, scale: Scale): Contender => ({
  name,
  role,
  measure: () => checkIns(url, scale),
})

/** Fastify on Node, an insert a request. */
export async function startFastify(databaseUrl: string): Promise<Server> {
  const dir = await installPeers()
  const node = Bun.which('node') ?? process.execPath
  return startPeer('fastify', (port) => [node, join(dir, 'fastify-pg.mjs'), `${port}`, databaseUrl])
}

const checkInRow = (appendfsync: 'everysec' | 'always', atLeast: number): Row => ({
  id: `check-in-${appendfsync}`,
  title: `check-in, tracking alone, Redis appendfsync ${appendfsync}`,
  unit: 'check-ins/s',
  peers: true,
  warm: true,
  untested: appendfsync === 'always',
  async open(scale) {
    const [database, redis, other] = await Promise.all([
      startDatabase(),
      startStore(appendfsync),
      startStore(appendfsync),
    ])
    const dir = await installPeers()
    const servers = await Promise.all([
      startPinned('tracking', { DATABASE_URL: database.url, REDIS_URL: redis.url }),
      startBare('check-in'),
      startFastify(database.url),
      startPeer('hono', (port) => [process.execPath, join(dir, 'hono-redis.mjs'), `${port}`, other.url]),
    ])
    const [tracking, bare, fastify, hono] = servers
    return {
      contenders: [
        contender('tracking', 'ours', tracking.url, scale),
        contender('bare Bun.serve', 'limit', bare.url, scale),
        contender('Fastify on Node + pg, an insert each', 'peer', fastify.url, scale),
        contender('Hono on Bun + a pipeline each', 'peer', hono.url, scale),
      ],
      goals: [
        { of: 'bare Bun.serve', atLeast },
        ...(appendfsync === 'everysec' ? [{ of: 'Fastify on Node + pg, an insert each', atLeast: 4 }] : []),
      ],
      close: () => closeAll([...servers, database, redis, other]),
    }
  },
})

export const checkInEverysec = checkInRow('everysec', 0.6)
export const checkInAlways = checkInRow('always', 0.4)

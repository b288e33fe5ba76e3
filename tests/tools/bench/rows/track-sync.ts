/**
 * Tracks of 100 points per batch, compared with parsing and validating alone, and with one multi-row insert
 * per batch.
 */
import { load } from '../load.ts'
import type { Contender, Row } from '../measure.ts'
import {
  closeAll,
  postmaster,
  type Processes,
  startBare,
  startDatabase,
  startPinned,
  startStore,
  withCpu,
} from '../measured-processes.ts'
import { startFastify } from './check-in.ts'

const POINTS = 100
const PILGRIMS = 20_000
let seed = Date.now() % 1_000_000

export const trackSync: Row = {
  id: 'track-sync',
  title: `track/sync, ${POINTS} points a batch, Redis appendfsync everysec`,
  unit: 'points/s',
  peers: true,
  warm: true,
  async open(scale) {
    const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
    const servers = await Promise.all([
      startPinned('tracking', { DATABASE_URL: database.url, REDIS_URL: redis.url }),
      startBare('track'),
      startFastify(database.url),
    ])
    const contender = (
      name: string,
      role: Contender['role'],
      url: string,
      processes: Processes,
    ): Contender => ({
      name,
      role,
      async measure() {
        const args = ['/api/event/track/sync', PILGRIMS, seed++, POINTS]
        const { loaded, cpu } = await withCpu(processes, () =>
          load({ script: 'sync', url, args, seconds: scale.seconds }),
        )
        return { figure: (loaded.requests * POINTS) / loaded.seconds, cpu }
      },
    })
    const [tracking, bare, fastify] = servers
    const contenders = [
      contender('tracking', 'ours', tracking.url, { tracking: tracking.pid, Redis: redis.pid }),
      contender('JSON.parse + check only', 'limit', bare.url, { Bun: bare.pid }),
      contender('Fastify on Node + pg, a multi-row insert each', 'peer', fastify.url, {
        Fastify: fastify.pid,
        Postgres: await postmaster(database.url),
      }),
    ]
    return {
      contenders,
      goals: [
        { of: 'JSON.parse + check only', atLeast: 0.4 },
        { of: 'Fastify on Node + pg, a multi-row insert each', atLeast: 5 },
      ],
      close: () => closeAll([...servers, database, redis]),
    }
  },
}

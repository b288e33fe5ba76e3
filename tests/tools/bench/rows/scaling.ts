/** CPU per check-in, by part, with one and with two processes of tracking behind Caddy. */
import type { Server } from '#tests/helpers/process.ts'
import { load } from '../load.ts'
import type { Row, Scale } from '../measure.ts'
import { closeAll, cpuSeconds, startDatabase, startPinned, startStore } from '../measured-processes.ts'
import { startProxy } from './caddy.ts'

const PILGRIMS = 50_000
let seed = Date.now() % 1_000_000

interface Parts {
  readonly tracking: readonly Server[]
  readonly redis: Server
  readonly caddy: Server
}

/** CPU microseconds per check-in of tracking, Redis and Caddy. */
async function cpuOf({ tracking, redis, caddy }: Parts, scale: Scale): Promise<number[]> {
  const groups = [tracking, [redis], [caddy]]
  const used = () => groups.map((group) => group.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0))
  const before = used()
  const args = ['/api/event/checkin', PILGRIMS, seed++]
  const { requests } = await load({ script: 'check-in', url: caddy.url, args, seconds: scale.seconds })
  return used().map((seconds, i) => ((seconds - before[i]!) / requests) * 1e6)
}

export const scaling: Row = {
  id: 'scaling',
  title: 'CPU of tracking and Redis a check-in, with two processes of tracking and with one',
  unit: 'µs',
  warm: true,
  async open(scale) {
    const [database, redis] = await Promise.all([startDatabase(), startStore('always')])
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url }
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => startPinned('tracking', env)))
    const alone = { tracking: [one!], redis, caddy: await startProxy([one!]) }
    const pair = { tracking: [two!, three!], redis, caddy: await startProxy([two!, three!]) }
    let last: number[] = []
    const part = (name: string, i: number) => ({
      name: `one process: ${name}`,
      role: 'peer' as const,
      measure: async () => last[i]!,
    })
    return {
      contenders: [
        {
          name: 'two processes: tracking + Redis',
          role: 'ours',
          async measure() {
            const [tracking, redisCpu] = await cpuOf(pair, scale)
            return tracking! + redisCpu!
          },
        },
        {
          name: 'one process: tracking + Redis',
          role: 'limit',
          async measure() {
            last = await cpuOf(alone, scale)
            return last[0]! + last[1]!
          },
        },
        part('tracking', 0),
        part('Redis', 1),
        part('Caddy with TLS', 2),
      ],
      goals: [{ of: 'one process: tracking + Redis', atMost: 1.1 }],
      close: () => closeAll([alone.caddy, pair.caddy, one!, two!, three!, database, redis]),
    }
  },
}

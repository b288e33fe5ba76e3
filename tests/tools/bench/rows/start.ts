/** The duration of a start, and the memory afterwards. */
import { startEmbedded } from '#tests/helpers/embedded.ts'
import { load } from '../load.ts'
import type { Opened, Row, Scale } from '../measure.ts'
import {
  closeAll,
  residentMb,
  startDatabase,
  startPinned,
  startStore,
  UNLIMITED,
} from '../measured-processes.ts'

const CHECK_INS = 100_000
let seed = Date.now() % 1_000_000

const since = (started: number): number => (performance.now() - started) / 1_000

async function firstCheckIn(fetch: (path: string, init: RequestInit) => Promise<Response>): Promise<void> {
  const body = JSON.stringify({ user_id: crypto.randomUUID(), lat: 24.15, lng: 120.67 })
  const { status } = await fetch('/api/event/checkin', { method: 'POST', body })
  if (status !== 202) throw new Error(`the first check-in was answered ${status}`)
}

/** Sends until this many check-ins are accepted. */
async function takeMany(url: string, scale: Scale): Promise<void> {
  for (let taken = 0; taken < CHECK_INS * scale.share;)
    taken += (
      await load({
        script: 'check-in',
        url,
        args: ['/api/event/checkin', CHECK_INS, seed++],
        seconds: scale.seconds,
      })
    ).requests
}

export const startOfEmbedded: Row = {
  id: 'start-embedded',
  untested: true,
  title: 'start of the embedded run on its own data, to the first 202',
  unit: 's',
  async open() {
    const first = await startEmbedded()
    await first.stop()
    return {
      contenders: [
        {
          name: 'embedded',
          role: 'ours',
          async measure() {
            const started = performance.now()
            const run = await startEmbedded({ EVENT_DATA_DIR: first.dataDir })
            await firstCheckIn(run.fetch)
            const seconds = since(started)
            await run.stop()
            return seconds
          },
        },
      ],
      goals: [{ of: null, atMost: 4 }],
      close: async () => first.remove(),
    }
  },
}

type Service = Awaited<ReturnType<typeof startPinned>>

/** A tracking service that is restarted for each figure. */
async function freshTracking(
  atMost: number,
  fsync: Parameters<typeof startStore>[0],
  measure: (service: Service, startedS: number) => number | Promise<number>,
): Promise<Opened> {
  const [database, redis] = await Promise.all([startDatabase(), startStore(fsync)])
  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url }
  return {
    contenders: [
      {
        name: 'tracking',
        role: 'ours',
        async measure() {
          const started = performance.now()
          const service = await startPinned('tracking', env)
          const figure = await measure(service, since(started))
          await service.close()
          return figure
        },
      },
    ],
    goals: [{ of: null, atMost }],
    close: () => closeAll([database, redis]),
  }
}

export const startOfService: Row = {
  id: 'start-service',
  title: 'start of a service (tracking), to its readiness',
  unit: 's',
  open: () => freshTracking(1, 'always', (_service, startedS) => startedS),
}

export const memoryOfService: Row = {
  id: 'memory-service',
  title: 'memory of a service (tracking) after 100,000 check-ins',
  unit: 'MB',
  rounds: 3,
  open: (scale) =>
    freshTracking(150, 'everysec', async ({ url, pid }) => {
      await takeMany(url, scale)
      return residentMb(pid)
    }),
}

export const memoryOfEmbedded: Row = {
  id: 'memory-embedded',
  untested: true,
  title: 'memory of the embedded run after 100,000 check-ins',
  unit: 'MB',
  rounds: 1,
  async open(scale) {
    const run = await startEmbedded(UNLIMITED)
    return {
      contenders: [
        {
          name: 'embedded',
          role: 'ours',
          async measure() {
            await takeMany(run.url, scale)
            return residentMb(run.pid)
          },
        },
      ],
      goals: [{ of: null, atMost: 1_000 }],
      async close() {
        await run.stop()
        run.remove()
      },
    }
  },
}

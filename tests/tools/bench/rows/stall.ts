/** The longest stall of tracking's event loop, with ten times the event on the live map. */
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { readMetric } from '#tests/helpers/metrics.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { until } from '#tests/helpers/wait.ts'
import { onError } from '#tests/kv/drivers.ts'
import { fillJournal, fillPositions, type Size, walkerId } from '#tests/tools/scale/fill.ts'
import type { Row } from '../measure.ts'
import { closeAll, startDatabase, startPinned, startStore } from '../measured-processes.ts'

const PILGRIMS = 500_000
const JOURNALED = 20_000
const CHECK_INS_A_SECOND = 50
const SECONDS = 10

export const stall: Row = {
  id: 'stall',
  title:
    'longest stall of tracking: 500,000 positions, a reader with changing queries, erasures, check-ins, a journal adopted',
  unit: 'ms',
  // Waiting for the journal alone takes ten seconds.
  untested: true,
  rounds: 3,
  async open(scale) {
    const of = (whole: number): number => Math.max(100, Math.round(whole * scale.share))
    const size: Size = {
      pilgrims: of(PILGRIMS),
      journaled: of(JOURNALED),
      stored: 0,
      pending: 0,
      late: 0,
      events: 0,
    }
    const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
    const kv = await openKv({ url: redis.url, partitions: 1, path: '', onError })
    await fillPositions(kv, size, Date.now())
    let [erased, turn] = [0, 0]

    async function measure(): Promise<number> {
      const dir = await newDirectory('data')
      await fillJournal(dir, size, Date.now())
      const env = {
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        EVENT_DATA_DIR: dir,
        EVENT_MAP_CROWD: '5',
      }
      await using service = await startPinned('tracking', env)
      const ask = async (path: string, init?: RequestInit): Promise<void> => {
        const answer = await fetch(`${service.url}/api/event/${path}`, init)
        await answer.arrayBuffer()
        if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
      }
      const checkIn = () => {
        const visit = { user_id: `visitor-${turn++}`, lat: 24, lng: 120.6 }
        return ask('checkin', { method: 'POST', body: JSON.stringify(visit) })
      }
      const read = () => ask(`data?limit=1000&bbox=119.5,23,${121.5 + (turn % 1_000) / 1_000},25`)
      const erase = () => kv.erase(walkerId(erased++), { generation: 1, erasedMs: Date.now() })
      const loadFor = async (seconds: number): Promise<void> => {
        const calls: Promise<unknown>[] = []
        for (let tick = 0; tick < seconds * CHECK_INS_A_SECOND; tick++) {
          calls.push(checkIn())
          if (tick % 5 === 0) calls.push(read())
          if (tick % CHECK_INS_A_SECOND === 0) calls.push(erase())
          await Bun.sleep(1_000 / CHECK_INS_A_SECOND)
        }
        await Promise.all(calls)
      }
      let [longestMs, journaled] = [0, 0]
      // Each read of the longest stall resets it.
      const look = async (): Promise<void> => {
        longestMs = Math.max(longestMs, 1_000 * (await readMetric(service, 'event_loop_stall_seconds')))
        journaled = await readMetric(service, 'event_journal_check_ins')
      }
      const hasMap = async () => (await fetch(`${service.url}/api/event/data`)).ok
      await until(hasMap, 'the map', { timeoutMs: 60_000 })
      // The first half while the journal is adopted; after that no check-in may go to the journal, because
      // Redis is fine.
      await loadFor(SECONDS / 2)
      const isEmpty = async () => (await look(), journaled === 0)
      await until(isEmpty, 'the journal to be empty', { timeoutMs: 60_000 })
      let isLoading = true
      const loading = loadFor(SECONDS / 2).finally(() => (isLoading = false))
      let highest = 0
      for (; isLoading; await Bun.sleep(100)) {
        await look()
        highest = Math.max(highest, journaled)
      }
      await loading
      if (highest > 0) throw new Error(`${highest} check-ins were journaled while Redis was well`)
      return longestMs
    }

    return {
      contenders: [{ name: 'tracking', role: 'ours', measure }],
      goals: [{ of: null, atMost: 50 }],
      async close() {
        await kv.close()
        await closeAll([database, redis])
      },
    }
  },
}

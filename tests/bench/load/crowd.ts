/** A crowd that walks along the demo's route, by the kv alone, so that nothing but the map costs CPU. */
import { join } from 'node:path'
import { readRoute } from '#shared/runtime/config/read-route.ts'
import type { Submission } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { onError, rules } from '#tests/kv/drivers.ts'
import { walkerId } from '../aggregates/fill.ts'

export const ROUTE = join(import.meta.dir, '../../crowd/route.geojson')

/** The procession is this long; everybody walks at the same speed. */
const SPREAD_M = 12_000
const METRES_A_SECOND = 1.2
/** Each pilgrim is heard this often. */
const HEARD_S = 30

/** Places the crowd and moves it. @returns ends it */
export async function startCrowd(redisUrl: string, pilgrims: number): Promise<() => Promise<void>> {
  const { route } = readRoute(ROUTE, [])
  const kv = await openKv({ url: redisUrl, partitions: 1, path: '', onError })
  const startedMs = Date.now()
  let id = 0
  const heard = (i: number): Submission => {
    const t = Date.now()
    const walkedM = ((t - startedMs) / 1_000) * METRES_A_SECOND
    const { lat, lng } = route!.at(20_000 + (i / pilgrims) * SPREAD_M + walkedM)
    return {
      id: `${startedMs}-${id++}`,
      userId: walkerId(i),
      kind: 'sync',
      entries: [],
      duplicateKey: '',
      recordedMs: t,
      position: {
        t,
        lat,
        lng,
      },
    }
  }
  const everybody = Array.from({ length: pilgrims }, (_, i) => i)
  await kv.restore(0, everybody.map(heard), rules())
  let turn = 0
  let moving: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    turn = (turn + 1) % HEARD_S
    const now = everybody.filter((i) => i % HEARD_S === turn).map(heard)
    moving = moving.then(() => kv.restore(0, now, rules()))
  }, 1_000)
  return async () => {
    clearInterval(timer)
    await moving
    await kv.close()
  }
}

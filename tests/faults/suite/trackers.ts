/**
 * Tracker apps that send batches as Overland does: everything from a dead zone at once, repeated until it is
 * accepted.
 */
import { newTracker } from '#tests/helpers/trackers.ts'
import type { Random } from '#tests/helpers/random.ts'
import { json, type RecordedRequests, send } from './recorded-requests.ts'
import type { TestSystem } from './test-system.ts'

/** Batches of one app during the walk, each larger than one admission of a phone's track. */
const BATCHES = 3
const SMALLEST = 1_100
const LARGEST = 2_600
const RETRY_MS = 1_000
const HOUR_MS = 3_600_000
const SECOND_MS = 1_000

export interface TrackerApps {
  /** Sends the rest; resolves when everything is accepted. */
  finish(patienceMs: number): Promise<void>
}

/** Registers a tracker for each of `count` pilgrims and starts its app. */
export async function startTrackerApps(
  { stack }: TestSystem,
  recorded: RecordedRequests,
  random: Random,
  count: number,
  forMs: number,
): Promise<TrackerApps> {
  const fromMs = Math.floor(Date.now() / SECOND_MS) * SECOND_MS - 8 * HOUR_MS
  let endsAt = Infinity

  const walk = async (userId: string, key: string): Promise<void> => {
    let nextMs = fromMs
    for (let batch = 0; batch < BATCHES; batch++) {
      const points = SMALLEST + Math.floor(random() * (LARGEST - SMALLEST))
      const times = Array.from({ length: points }, () => (nextMs += 3 * SECOND_MS))
      while ((await deliver(key, times)) !== 200) {
        if (performance.now() > endsAt)
          return recorded.complain('a tracker app could not deliver its points', userId)
        await Bun.sleep(RETRY_MS * (0.5 + random()))
      }
      recorded.promise(
        userId,
        times.map((t) => `t${t}`),
      )
      await Bun.sleep((forMs / BATCHES) * (0.3 + 0.6 * random()))
    }
  }

  const deliver = async (key: string, times: readonly number[]): Promise<number> => {
    const locations = times.map((t) => ({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [120.5, 23.8 + (t - fromMs) / 4e9] },
      properties: { timestamp: new Date(t).toISOString(), horizontal_accuracy: 8 },
    }))
    const path = `/api/event/ingest/${key}/overland`
    return (await send(stack.fetch, recorded, path, json({ locations }))).status
  }

  const userIds = Array.from({ length: count }, (_, n) => `${recorded.name}.tracker-${n}`)
  const keys = await Promise.all(userIds.map(async (userId) => (await newTracker(stack, userId)).key))
  const walks = userIds.map((userId, n) => walk(userId, keys[n]!))
  return {
    async finish(patienceMs) {
      endsAt = performance.now() + patienceMs
      await Promise.all(walks)
    },
  }
}

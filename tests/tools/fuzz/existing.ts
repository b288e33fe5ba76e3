/** Rows of the fuzzed service, so that requests get past the first look-up. */
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { newTracker } from '#tests/helpers/trackers.ts'
import { appId, APP_IDS } from './schema.ts'

export interface Existing {
  /** The key of a tracker that no request revokes. */
  readonly trackerKey: string
  readonly trackers: readonly string[]
  readonly shares: readonly string[]
}

/** App pilgrims with a walk, a link and a tracker each. */
export async function createExisting(stack: TestStack): Promise<Existing> {
  const { key } = await newTracker(stack, 'fuzz-tracker')
  const [trackers, shares]: [string[], string[]] = [[], []]
  for (let i = 0; i < APP_IDS; i++) {
    const user_id = appId(i)
    const points = [0, 1, 2].map((k) => ({
      lat: 24 + k * 1e-3,
      lng: 120.6,
      timestamp: Date.now() - k * 60_000,
    }))
    await post(stack, 'track/sync', { user_id, points })
    const live_hours = i % 2 === 0 ? 240 : null
    const share = await post(stack, 'shares', { user_id, live_hours, show_name: i % 3 === 0 })
    shares.push((await dataOf(share, createShareEndpoint)).id)
    if (i % 4 === 0) trackers.push((await newTracker(stack, user_id)).id)
  }
  return { trackerKey: key, trackers, shares }
}

/** Existing values of a path parameter; none if requests generate their own. */
export function existingValues(
  { trackerKey, trackers, shares }: Existing,
  path: string,
  name: string,
): readonly string[] {
  if (name === 'key') return [trackerKey]
  if (path === '/s/{file}') return shares.flatMap((id) => [id, `${id}.png`])
  if (path === '/api/event/shares/{id}') return shares
  return path === '/api/event/trackers/{id}' ? trackers : []
}

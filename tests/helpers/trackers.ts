/** Trackers of a pilgrim, and requests of their apps. */
import { expect } from 'bun:test'
import { createTrackerEndpoint, listTrackersEndpoint, type NewTracker } from '#shared/contracts/trackers.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import type { Fix, Sent } from '#tests/tracking/tracker-bodies.ts'

const MINUTE_MS = 60_000

export const newTracker = async (stack: TestStack, userId: string, label?: string): Promise<NewTracker> =>
  dataOf(await post(stack, 'trackers', { user_id: userId, label }), createTrackerEndpoint)

export const send = (
  stack: TestStack,
  key: string,
  { app, method, query, type, body }: Sent,
): Promise<Response> =>
  stack.fetch(`/api/event/ingest/${key}/${app}${query === undefined ? '' : `?${query}`}`, {
    method,
    ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
    ...(body === undefined ? {} : { body }),
  })

/** An app's success: OwnTracks expects a list, Overland exactly this result. */
export async function expectTaken(response: Response, { app }: Pick<Sent, 'app'>): Promise<void> {
  const body = await response.text()
  const wanted = app === 'owntracks' ? '[]' : '{"result":"ok"}'
  expect({ app, status: response.status, body }).toEqual({ app, status: 200, body: wanted })
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('cache-control')).toBe('no-store')
}

export const listed = async (stack: TestStack, userId: string) =>
  (await dataOf(await stack.fetch(`/api/event/trackers?user_id=${userId}`), listTrackersEndpoint)).items

export const revoke = (stack: TestStack, userId: string, id: string): Promise<Response> =>
  stack.fetch(`/api/event/trackers/${id}?user_id=${userId}`, { method: 'DELETE' })

/** A walk in whole seconds, a minute and about 80 m per step; the last one a minute ago. */
export function walk(count: number): Fix[] {
  const endMs = Math.floor(Date.now() / 1_000) * 1_000 - MINUTE_MS
  return Array.from({ length: count }, (_, i) => ({
    lat: 24.1234567 + i * 0.0007,
    lng: 120.7654321 - i * 0.0003,
    ms: endMs - (count - 1 - i) * MINUTE_MS,
    speedMs: 1.4,
  }))
}

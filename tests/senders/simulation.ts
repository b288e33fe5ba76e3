/**
 * The tracking service in simulated time. Its embedded stores use the same clock. Senders schedule the
 * actions of their apps; a day passes as fast as the service responds.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createTracking } from '#services/tracking/app.ts'
import type { NewTracker, TrackerList, Trouble } from '#shared/contracts/trackers.ts'
import { readablePoints } from '#shared/points/point.ts'
import type { Environment } from '#shared/runtime/config/config.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'
import type { Sent } from '#tests/tracking/tracker-bodies.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000

type Step = () => Promise<void>

/** Steps in order of time. Steps of the same instant run concurrently. */
class Schedule {
  nowMs = Date.UTC(2026, 3, 12, 20)
  readonly #steps: { readonly atMs: number; readonly step: Step }[] = []

  /** Runs a step after `delayMs`. */
  after(delayMs: number, step: Step): void {
    this.#steps.push({ atMs: this.nowMs + delayMs, step })
  }

  /** Runs every step up to `untilMs`, including newly scheduled ones, then sets the clock to it. */
  async run(untilMs: number): Promise<void> {
    for (;;) {
      const nextMs = Math.min(...this.#steps.map(({ atMs }) => atMs))
      if (nextMs > untilMs) break
      this.nowMs = nextMs
      const due = this.#steps.filter(({ atMs }) => atMs === nextMs)
      for (const one of due) this.#steps.splice(this.#steps.indexOf(one), 1)
      await Promise.all(due.map(({ step }) => step()))
    }
    this.nowMs = untilMs
  }
}

export interface Simulation extends AsyncDisposable {
  readonly time: Schedule
  newTracker(userId: string): Promise<NewTracker>
  send(key: string, sent: Sent): Promise<Response>
  request(path: string, init?: RequestInit): Promise<Response>
  setStatus(status: 'active' | 'paused'): Promise<void>
  revoke(userId: string, trackerId: string): Promise<void>
  /** The trouble shown for the pilgrim's only tracker. */
  troubleOf(userId: string): Promise<Trouble | null>
  /** Times of the pilgrim's points in the buffer, ascending. */
  storedMs(userId: string): Promise<number[]>
}

export async function openSimulation(settings: Environment = {}): Promise<Simulation> {
  const time = new Schedule()
  const now = () => time.nowMs
  const parts = await openServiceParts(settings, { now })
  const path = await newDirectory('simulation')
  const kv = await openEmbeddedKv({ path: join(path, 'kv'), onError: () => undefined, now })
  // Each tracker has its own address, because the rate limit of an address does not use simulated time.
  const context = { ...parts.context('tracking'), kv, addressOf: ({ url }: Request) => new URL(url).pathname }
  const tracking = createTracking(context)
  await tracking.start()
  let version = 1_000
  const request = async (path: string, init?: RequestInit): Promise<Response> =>
    tracking.fetch(new Request(`http://event.test${path}`, init))
  return {
    time,
    request,
    async newTracker(userId) {
      const response = await request('/api/event/trackers', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ user_id: userId }),
      })
      if (!response.ok) throw new Error(await response.text())
      return ((await response.json()) as { data: NewTracker }).data
    },
    send: (key, { app, method, query, type, body }) =>
      request(`/api/event/ingest/${key}/${app}${query === undefined ? '' : `?${query}`}`, {
        method,
        ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
        ...(body === undefined ? {} : { body }),
      }),
    async setStatus(status) {
      await kv.setStatus({ status, version: ++version, message: null })
    },
    async revoke(userId, trackerId) {
      const path = `/api/event/trackers/${trackerId}?user_id=${userId}`
      const response = await request(path, { method: 'DELETE' })
      if (!response.ok) throw new Error(await response.text())
    },
    async troubleOf(userId) {
      const response = await request(`/api/event/trackers?user_id=${userId}`)
      const { data } = (await response.json()) as { data: TrackerList }
      return data.items[0]!.refused?.reason ?? null
    },
    storedMs: async (userId) =>
      readablePoints(await kv.peek(userId))
        .map(({ recordedMs }) => recordedMs)
        .sort((a, b) => a - b),
    async [Symbol.asyncDispose]() {
      await tracking.stop()
      await kv.close()
      await parts.close()
      await rm(path, { recursive: true })
    },
  }
}

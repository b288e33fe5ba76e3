/** The demo's crowd pauses while its own service does not store fast enough. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchFlush } from './flush-watch.ts'
import { type Client, createClient } from '#shared/client/index.ts'
import { type Embedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'

let service: Embedded
let client: Client
const stopping = new AbortController()
const { signal } = stopping

beforeAll(async () => {
  service = await startMigratedEmbedded({ EVENT_FLUSH_SECONDS: '1' })
  const ca = await Bun.file(service.caFile).text()
  const trusting = (url: string, init: RequestInit) => fetch(url, { ...init, tls: { ca } } as RequestInit)
  client = createClient({ baseUrl: service.url, fetch: trusting })
})
afterAll(async () => {
  stopping.abort()
  await service?.stop()
  service?.remove()
})

test('nobody waits while flushes end in time; everybody while none has ended', async () => {
  const [limitMs, everyMs] = [5_000, 200]
  const inTime = watchFlush(client, { limitMs, everyMs, signal })
  const neverIsTooLong = watchFlush(client, { limitMs: -1, everyMs, signal })
  // Longer than the limit, which counts from the last flush and not from the start.
  await sleep(limitMs + 1_000)
  expect(inTime.isBehind).toBe(false)
  await inTime.caughtUp()

  expect(neverIsTooLong.isBehind).toBe(true)
  let hasPassed = false
  const passed = neverIsTooLong.caughtUp().then(() => (hasPassed = true))
  await sleep(500)
  expect(hasPassed).toBe(false)
  // Ctrl-C.
  stopping.abort()
  await passed
})

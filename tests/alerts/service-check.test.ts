/** A service without any reporting process causes an alert within a minute; an outage of the kv does not. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { createServiceCheck } from '#shared/service/alerts/health-checks.ts'
import { LOOK_EVERY_MS } from '#shared/service/alerts/when-to-alert.ts'
import { SILENT_MS } from '#shared/service/heartbeat.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { onError } from '#tests/kv/drivers.ts'

let dir = ''
let kv: Kv
beforeAll(async () => {
  dir = await newDirectory('service-check')
  kv = await openEmbeddedKv({ path: join(dir, 'kv.sqlite'), onError })
})
afterAll(async () => {
  await kv?.close()
  await rm(dir, { recursive: true, force: true })
})

const reported = async (name: ServiceName, agoMs: number) =>
  kv.cache(`heartbeat:${name}`, String((await kv.clock()) - agoMs), 3_600_000)
beforeEach(() => Promise.all(ServiceName.options.map((name) => kv.forget(`heartbeat:${name}`))))

test('a service that was never started is not missed', async () => {
  const check = createServiceCheck({ kv })
  await reported('tracking', 0)
  expect([await check(), await check()]).toEqual([null, null])
})

test('a silent service is named from the second check on, until it reports', async () => {
  const check = createServiceCheck({ kv })
  for (const name of ServiceName.options) await reported(name, 1_000)
  expect(await check()).toBeNull()
  await reported('admin', SILENT_MS + 1_000)
  // The kv's clock has been set back by an hour.
  await reported('line-bot', -3_600_000)
  expect(await check()).toBeNull()
  expect(await check()).toMatchObject({
    key: 'service',
    failure: false,
    text: expect.stringMatching(/：admin, line-bot ·/),
  })
  await reported('admin', 0)
  await reported('line-bot', 0)
  expect(await check()).toBeNull()
})

test.each(['tracking', 'scheduler'] as const)(
  'without %s points are not taken or not stored: a failure',
  async (name) => {
    const check = createServiceCheck({ kv })
    await reported(name, SILENT_MS + 1_000)
    await check()
    expect(await check()).toMatchObject({ key: 'service', failure: true })
  },
)

test('after an outage of the kv no service is missed that reports again', async () => {
  const check = createServiceCheck({ kv })
  for (const name of ServiceName.options) await reported(name, 5 * SILENT_MS)
  expect(await check()).toBeNull()
  for (const name of ServiceName.options) await reported(name, 1_000)
  expect(await check()).toBeNull()
})

test('two checks after the silence end within a minute', () => {
  expect(SILENT_MS + 2 * LOOK_EVERY_MS).toBeLessThan(60_000)
})

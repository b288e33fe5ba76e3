/**
 * Expiry of the public hosts' certificates: read by the scheduler, reported in /health, the metrics and an
 * alert.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createHealth } from '#services/admin/lifecycle/health.ts'
import { createCertificateReader, readCertificate } from '#shared/service/alerts/certificates.ts'
import { createAlertWatch } from '#shared/service/alerts/when-to-alert.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type LineServer, lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { startTlsServer } from '#tests/helpers/tls-server.ts'
import { until } from '#tests/helpers/wait.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const DAY_MS = 86_400_000
const HALF_A_DAY = 0.5
const ALIAS = 'alias.invalid'
let parts: ServiceParts
let line: LineServer
let nowMs = Date.now()

beforeAll(async () => {
  const settings = { EVENT_ALERT_USER_ID: lineUser(1), ALIAS_HOST: ALIAS }
  parts = await openServiceParts(settings, { now: () => nowMs })
})
beforeEach(async () => {
  nowMs = Date.now()
  line = startLineServer()
  const day = Math.floor(nowMs / DAY_MS)
  for (const key of ['certificate:localhost', `certificate:${ALIAS}`, `certificate-notice:${day}`])
    await parts.ports.kv.forget(key)
})
afterEach(() => line?.stop())
afterAll(() => parts?.close())

/** The context of a service whose first public host is on this port. */
const at = (port: number): ServiceContext => {
  const context = parts.context()
  return {
    ...context,
    config: {
      ...context.config,
      publicUrl: `https://localhost:${port}`,
      line: readConfig(lineSettings(line)).line,
    },
  }
}

/** The known state of a server's certificate after the scheduler has read it. */
async function known(port: number) {
  const context = at(port)
  await createCertificateReader(context).run()
  const { certificates } = await createHealth(context)()
  const [, due] =
    /^event_certificate_due_timestamp_seconds\{.*host="localhost".*\} (.+)$/m.exec(
      await context.metrics.page(),
    ) ?? []
  await createAlertWatch(context).look()
  return { certificates, dueMs: Number(due) * 1_000, notices: notices() }
}

/** Alerts about certificates. */
const notices = (): string[] =>
  line.sent
    .map(({ messages }) => messages[0]!.text as string)
    .filter((text) => text.includes('The certificate'))

test('a certificate that ends in ten days is told to the owner, once a day whoever watches', async () => {
  const server = await startTlsServer(10)
  const { certificates, dueMs, notices: told } = await known(server.port)
  expect(certificates).toEqual({ localhost: new Date(server.endsMs).toISOString(), [ALIAS]: null })
  expect(dueMs).toBe(server.endsMs - 14 * DAY_MS)
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('The certificate of localhost is not renewed; it ends ')
  expect(told[0]).toContain(new Date(server.endsMs).toISOString().slice(0, 16))
  expect((await known(server.port)).notices).toHaveLength(1)
  nowMs += DAY_MS
  await createAlertWatch(at(server.port)).look()
  expect(notices()).toHaveLength(2)
  server.stop()
})

test.each([
  { what: 'with 15 of 90 days left', left: 15, life: 90, isDue: false },
  { what: 'that has ended', left: -1, life: 90, isDue: true },
  {
    what: 'of twelve hours with eight left, as Caddy signs them',
    left: 8 / 24,
    life: HALF_A_DAY,
    isDue: false,
  },
  { what: 'of twelve hours that Caddy has not renewed', left: 2 / 24, life: HALF_A_DAY, isDue: true },
])('a certificate $what', async ({ left, life, isDue }) => {
  const server = await startTlsServer(left, life)
  const { certificates, dueMs, notices } = await known(server.port)
  expect(certificates.localhost).toBe(new Date(server.endsMs).toISOString())
  expect(dueMs < nowMs).toBe(isDue)
  expect(notices).toHaveLength(isDue ? 1 : 0)
  server.stop()
})

test('a host that cannot be reached is unknown, and no report of health connects to it', async () => {
  const server = await startTlsServer(10)
  const health = createHealth(at(server.port))
  expect((await health()).certificates).toEqual({ localhost: null, [ALIAS]: null })
  expect(server.connections()).toBe(0)
  server.stop()
  const { certificates, dueMs, notices } = await known(server.port)
  expect(certificates).toEqual({ localhost: null, [ALIAS]: null })
  expect(dueMs).toBeNaN()
  expect(notices).toEqual([])
})

test('a host that listens later than the reader starts is known soon after, and read no more until it is due (long)', async () => {
  const port = freePort()
  const context = at(port)
  const reader = createCertificateReader(context)
  const read = async () => (await createHealth(context)()).certificates.localhost
  await reader.run()
  expect(await read()).toBeNull()
  reader.start(false)
  const server = await startTlsServer(10, 120, port)
  try {
    await until(async () => (await read()) !== null, 'the certificate')
    await reader.run()
    await reader.run()
    expect(server.connections()).toBe(1)
    nowMs += 11 * 60_000
    await reader.run()
    expect(server.connections()).toBe(2)
  } finally {
    await reader.stop()
    server.stop()
  }
})

test('a server that accepts and says nothing holds nothing up (long)', async () => {
  const mute = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const startedMs = performance.now()
  expect((await known(mute.port)).certificates.localhost).toBeNull()
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  mute.stop(true)
})

test('a public host may be an address', async () => {
  const server = await startTlsServer(30)
  expect(await readCertificate('127.0.0.1', server.port)).toMatchObject({ distrust: expect.any(String) })
  server.stop()
})

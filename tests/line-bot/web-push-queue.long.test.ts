/**
 * The Web Push queue: devices whose push service does not respond delay others by at most one round of calls.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createPushSender } from '#services/line-bot/web-push/send-deliveries.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { openTestDatabase, testRedisUrl, type TestDatabase } from '#tests/helpers/database.ts'
import { newDevice, startPushService } from '#tests/helpers/push-service.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const INVENTED = 200
/** Concurrent calls of both lanes. */
const AT_ONCE = 25

describeOnServers('devices that do not answer', () => {
  let database: TestDatabase
  let parts: ServiceParts
  let context: ServiceContext
  let service: Awaited<ReturnType<typeof startPushService>>
  /** Accepts connections and never responds. */
  let calls = 0
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void calls++, data: () => undefined },
  })

  beforeAll(async () => {
    service = await startPushService()
    // The server has its own certificate; the tests of the stacks trust it by its file.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    database = await openTestDatabase()
    parts = await openServiceParts({
      ...SETTINGS,
      ...service.settings,
      EVENT_PUSH_SERVICES: `${service.settings.EVENT_PUSH_SERVICES},127.0.0.1:${silent.port}`,
      DATABASE_URL: database.url,
      REDIS_URL: await testRedisUrl(),
    })
    context = parts.context()
  })
  afterAll(async () => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    silent.stop(true)
    await parts?.close()
    await database?.drop()
    await service?.stop()
  })

  /** Plans one delivery to each of these devices, in this order. */
  async function plan(endpoints: readonly string[], cause = 'push'): Promise<void> {
    const { subscription } = newDevice('https://x/')
    const rows = JSON.stringify(endpoints.map((endpoint, n) => ({ n, endpoint })))
    await context.db.sql`
      WITH message AS (
        INSERT INTO messages (id, cause, cause_key, audience, forced, state, recipients, left_out, notices, created_at)
        VALUES (gen_random_uuid(), ${cause}, gen_random_uuid()::text, '{}', false, 'sent', 0, '{}',
          '{"en": {"title": "t", "body": "b"}}', now()) RETURNING id
      ), device AS (
        SELECT n, gen_random_uuid()::text AS user_id, endpoint, gen_random_uuid() AS id
        FROM jsonb_to_recordset(${rows}::text::jsonb) AS d (n int, endpoint text)
      ), people AS (
        INSERT INTO pilgrims (user_id, created_at, updated_at) SELECT user_id, now(), now() FROM device
      ), subscribed AS (
        INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at)
        SELECT id, user_id, endpoint, ${subscription.keys.p256dh}, ${subscription.keys.auth}, now() FROM device
      )
      INSERT INTO push_deliveries (message_id, subscription_id, user_id, language, state, created_at, due_at)
      SELECT message.id, device.id, user_id, 'en', 'waiting', now(), now() FROM device, message ORDER BY n`
  }
  const stateOf = async (endpoint: string): Promise<string> => {
    const [row] = await context.db.sql<{ state: string }[]>`
      SELECT d.state FROM push_deliveries d LEFT JOIN push_subscriptions s ON s.id = d.subscription_id
      WHERE s.endpoint = ${endpoint}`
    return row!.state
  }

  test('an alert of an emergency is sent before messages that wait for longer', async () => {
    const endpoints = Array.from({ length: 61 }, () => service.subscribe().subscription.endpoint)
    const reached: string[] = []
    for (const endpoint of endpoints)
      service.mishaps.set(endpoint, () => {
        reached.push(endpoint)
        return new Response(null, { status: 201 })
      })
    const alert = endpoints.pop()!
    await plan(endpoints)
    await plan([alert], 'emergency')
    const sender = createPushSender(context)!
    sender.start()
    await until(async () => reached.length === 61, 'all to be sent')
    await sender.stop()
    expect(reached.indexOf(alert)).toBeLessThan(AT_ONCE)
    await context.db.sql`TRUNCATE push_deliveries, push_subscriptions`
  })

  test('delay others by one round of calls, however many were invented', async () => {
    const device = service.subscribe()
    const { endpoint } = device.subscription
    service.mishaps.set(endpoint, () => new Response(null, { status: 201 }))
    const invented = Array.from({ length: INVENTED }, () => newDevice(`https://127.0.0.1:${silent.port}/`))
    await plan([...invented.map(({ subscription }) => subscription.endpoint), endpoint])
    const sender = createPushSender(context)!
    sender.start()
    try {
      await until(
        async () => (await stateOf(endpoint)) === 'sent',
        'the message behind those of invented devices',
        { timeoutMs: 60_000 },
      )
      expect(calls).toBeLessThanOrEqual(2 * AT_ONCE)
      const [waiting] = await context.db.sql`
        SELECT count(*)::int AS n FROM push_deliveries WHERE state = 'waiting'`
      expect(waiting).toEqual({ n: INVENTED })
    } finally {
      await sender.stop()
    }
    const [told] = await context.db.sql`SELECT detail FROM push_deliveries WHERE detail IS NOT NULL LIMIT 1`
    expect(told!.detail).toContain('did not answer in time')
    expect(await context.metrics.page()).toMatch(/event_web_push_calls_total\{.*outcome="silent"/)
  }, 120_000)
})

/** Timing of emergency alerts: schedule, confirmation, several replicas, clock changes, many false alarms. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { confirmEmergency } from '#services/admin/supervision/emergencies.ts'
import { isExpired } from '#services/line-bot/sending/expiry.ts'
import { alertEmergencies, GAPS_MIN } from '#services/line-bot/sending/schedule-emergency-alerts.ts'
import { createPressSpool } from '#services/tracking/emergencies/record-press.ts'
import { listMessages } from '#services/line-bot/sending/read-messages.ts'
import { readEmergencyReach, reachesNobody } from '#shared/service/alerts/emergency-reach.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'

const OWNER = lineUser(0x505)
const OPERATOR = { role: 'manager', level: 2, name: 'lin', fingerprint: 'f', requestId: 'r' } as const

let parts: ServiceParts
let context: ServiceContext
beforeAll(async () => {
  parts = await openServiceParts()
  context = parts.context()
})
afterAll(() => parts?.close())
beforeEach(async () => {
  const { sql } = context.db
  for (const table of ['emergencies', 'messages', 'role_assignments', 'push_subscriptions', 'pilgrim_totals'])
    await sql`DELETE FROM ${sql(table)}`
  await sql`INSERT INTO role_assignments VALUES (${OWNER}, 'owner', 'x', now())`
})

async function raise(userId = newAppId()): Promise<string> {
  const pressedMs = Date.now()
  const press = { userId, source: 'traccar', sentMs: pressedMs, pressedMs, receivedMs: pressedMs } as const
  const spool = createPressSpool(context)
  await spool.keep([{ ...press, place: { lat: 24.5, lng: 120.5, accuracy: 9, atMs: pressedMs } }])
  await spool.drain()
  const [row] = await context.db.sql<{ id: string }[]>`SELECT id FROM emergencies WHERE user_id = ${userId}`
  return row!.id
}
const walked = (userId: string) => context.db.sql`
  INSERT INTO pilgrim_totals (user_id, last_seen) VALUES (${userId}, now())`
/** Advances time, for the table and for planned messages. */
async function pass(minutes: number): Promise<void> {
  const { sql } = context.db
  await sql`UPDATE emergencies SET raised_at = raised_at - ${minutes} * interval '1 minute',
    next_alert_at = next_alert_at - ${minutes} * interval '1 minute'`
  await sql`UPDATE messages SET created_at = created_at - ${minutes} * interval '1 minute'`
}
/** All replicas check at the same time. @returns the keys of the messages that they planned */
async function look(): Promise<string[]> {
  const before = new Set((await planned()).map(({ key }) => key))
  await Promise.all([1, 2, 3].map(() => alertEmergencies(context, true)))
  return (await planned()).map(({ key }) => key).filter((key) => !before.has(key))
}
const planned = async () => [
  ...(await context.db.sql<{ key: string; state: string; text: string; ms: number }[]>`
    SELECT cause_key AS key, m.state, coalesce(body::text, '') AS text, (extract(epoch FROM created_at) * 1000)::float8 AS ms
    FROM messages m LEFT JOIN message_chunks c ON c.message_id = m.id ORDER BY created_at, cause_key`),
]

test('an emergency that nobody confirms alerts at once, again after 3, 10 and 40 minutes, and no more after 220', async () => {
  await raise()
  const minutes: number[] = []
  for (let minute = 0; minute <= 300; minute++) {
    const keys = await look()
    expect(keys.length).toBeLessThanOrEqual(1)
    if (keys.length === 1) minutes.push(minute)
    await pass(1)
  }
  expect(minutes).toEqual([0, 3, 10, 40, 70, 100, 130, 160, 190, 220])
  expect(minutes).toHaveLength(GAPS_MIN.length + 1)
  const texts = (await planned()).map(({ text }) => text)
  expect(texts[0]).not.toContain('分鐘沒有人確認')
  expect(texts[2]).toContain('已 10 分鐘沒有人確認')
}, 120_000)

test('a confirmation ends the alerts, also those that wait to be sent, and a later alert those before it', async () => {
  const id = await raise()
  await look()
  await pass(3)
  await look()
  const expired = async () =>
    Promise.all((await planned()).map(({ key, ms }) => isExpired(context, context.db, key, ms)))
  expect(await expired()).toEqual([true, false])
  await confirmEmergency(context, OPERATOR, id)
  expect(await expired()).toEqual([true, true])
  await pass(60)
  expect(await look()).toEqual([])
})

test('name and place of an emergency are in no list of messages, and in no message once it is confirmed', async () => {
  const { sql } = context.db
  const contents = async () =>
    JSON.stringify(
      await sql`SELECT body, notices FROM messages m JOIN message_chunks c ON c.message_id = m.id`,
    )
  const id = await raise()
  await look()
  await sql`UPDATE messages SET notices = '{"en": {"title": "Lin", "body": "24.50000"}}'`
  expect(await contents()).toContain('24.50000')
  const { items } = await listMessages(context, { cause: 'emergency', limit: 50, cursor: undefined })
  expect(items).toMatchObject([{ cause: 'emergency', text: null }])
  await confirmEmergency(context, OPERATOR, id)
  expect(JSON.parse(await contents())).toEqual([{ body: [], notices: null }])
})

test('a clock that is set forward or back by hours brings one alert forward, and a day later all are expired', async () => {
  const id = await raise()
  await look()
  for (const hours of [8, -8, -8]) {
    await pass(hours * 60)
    const { length } = await look()
    expect(length).toBeLessThanOrEqual(1)
    for (let i = 0; i < 3; i++) expect(await look()).toEqual([])
    // It continues from there.
    await pass(30)
    expect(await look()).toHaveLength(1)
  }
  await pass(2 * 1_440)
  const [key] = await look()
  expect((await planned()).find((one) => one.key === key)).toMatchObject({ state: 'expired' })
  expect(key).toStartWith(`emergency:${id}:`)
  expect(await look()).toEqual([])
})

test('emergencies that have expired leave a new one its own alert', async () => {
  for (let i = 0; i < 30; i++) await raise()
  await context.db.sql`UPDATE emergencies SET raised_at = raised_at - interval '2 days'`
  expect(await look()).toHaveLength(30)
  const id = await raise()
  expect(await look()).toEqual([`emergency:${id}:1`])
})

test('a mass of invented ones costs 25 messages in an hour, is not forgotten, and hides no true one', async () => {
  for (let i = 0; i < 60; i++) await raise()
  expect((await look()).map((key) => key.split(':')[0])).toEqual([
    ...Array(1).fill('emergencies'),
    ...Array(5).fill('emergency'),
  ])
  const pilgrim = newAppId()
  await walked(pilgrim)
  const id = await raise(pilgrim)
  expect(await look()).toEqual([`emergency:${id}:1`])
  let messages = 7
  for (let minute = 1; minute < 60; minute++) {
    await pass(1)
    messages += (await look()).length
  }
  // One for the pilgrim whenever it is due, and one for all others.
  expect(messages).toBeLessThanOrEqual(25)
  const shared = (await planned()).findLast(({ key }) => key.startsWith('emergencies:'))!
  expect(shared.text).toContain('61 起求救還沒有人確認，其中 1 起')
  // Each is claimed with every alert.
  const [least] = await context.db.sql`SELECT min(alerts)::int AS n FROM emergencies`
  expect(least!.n).toBeGreaterThanOrEqual(4)
}, 120_000)

test('how many an SOS reaches: people by LINE, devices by Web Push, and nobody without both', async () => {
  const { sql } = context.db
  const reach = (config: Partial<ServiceContext['config']> = {}) =>
    readEmergencyReach({ db: context.db, config: { ...context.config, ...config } })
  expect(await reach()).toEqual({ line: 0, web_push: 0 })
  const line = { ...context.config.line, accessToken: 'token' }
  expect(await reach({ line })).toEqual({ line: 1, web_push: 0 })
  expect(await reach({ line, alertUserId: lineUser(0x506) })).toEqual({ line: 2, web_push: 0 })
  await sql`INSERT INTO followers (user_id, reachable, changed_at) VALUES (${OWNER}, false, now())`
  expect(reachesNobody(await reach({ line }))).toBe(true)
  await sql`
    INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at)
    VALUES (gen_random_uuid(), ${OWNER}, 'https://push.example/1', 'p', 'a', now())`
  expect(reachesNobody(await reach({ line }))).toBe(true)
  const push = { subject: '', publicKey: '', privateKey: '', services: [] }
  expect(await reach({ push })).toEqual({ line: 0, web_push: 1 })
  await sql`DELETE FROM followers`
  // What the pilgrim's app receives.
  const id = await raise()
  await alertEmergencies(context, false)
  const [row] = await sql`SELECT reached FROM emergencies WHERE id = ${id}`
  expect(row!.reached).toBe(0)
})

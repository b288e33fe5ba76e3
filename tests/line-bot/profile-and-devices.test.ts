/** What a pilgrim typed stays, a failed request costs no quota, and a delivery names why it was not sent. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readPilgrim } from '#services/line-bot/bot/load-pilgrim-context.ts'
import { subscribe } from '#services/line-bot/web-push/manage-subscriptions.ts'
import { EXPIRED } from '#services/line-bot/sending/expiry.ts'
import { createPushSender } from '#services/line-bot/web-push/send-deliveries.ts'
import type { Line } from '#shared/service/line/line-client.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { newDevice, newPushKeys } from '#tests/helpers/push-service.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'
import { until } from '#tests/helpers/wait.ts'

let parts: ServiceParts
beforeAll(async () => {
  parts = await openServiceParts({
    ...newPushKeys(),
    EVENT_PUSH_SERVICES: 'push.example',
    EVENT_IDENTITY: 'open',
  })
})
afterAll(() => parts?.close())

const addPilgrim = (userId: string) => parts.ports.db.sql`
  INSERT INTO pilgrims (user_id, created_at, updated_at) VALUES (${userId}, now(), now())`

test('a name typed while LINE is asked for the profile stays', async () => {
  const { sql } = parts.ports.db
  const [typed, silent] = [lineUser(1), lineUser(2)]
  for (const userId of [typed, silent]) await addPilgrim(userId)
  const profileOf = async (userId: string) => {
    if (userId === typed)
      await sql`UPDATE pilgrims SET display_name = '林美玉', language = 'ja' WHERE user_id = ${userId}`
    return { displayName: 'LINE name', pictureUrl: null, language: 'en' }
  }
  const line = { profile: profileOf } as unknown as Line
  const context = parts.context()
  expect(await readPilgrim(context, line, typed, true)).toMatchObject({
    displayName: '林美玉',
    language: 'ja',
  })
  expect(await readPilgrim(context, line, silent, true)).toMatchObject({
    displayName: 'LINE name',
    language: 'en',
  })
})

test('a device that is refused does not use up the three that an address may add in a day', async () => {
  const { sql } = parts.ports.db
  const userId = lineUser(3)
  const { subscription } = newDevice('https://push.example/')
  const add = (name: string) =>
    subscribe(
      parts.context(),
      { user_id: userId, ...subscription, endpoint: `https://push.example/${name}` },
      'address',
    )
  await addPilgrim(userId)
  await sql`INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at)
    SELECT gen_random_uuid(), ${userId}, 'https://push.example/old' || i, '', '', now() FROM generate_series(1, 10) i`
  for (const name of ['a', 'b', 'c']) expect(await rejection(add(name))).toMatchObject({ reason: 'conflict' })
  await sql`DELETE FROM push_subscriptions WHERE user_id = ${userId}`
  for (const name of ['a', 'b', 'c', 'a']) await add(name)
  expect(await rejection(add('d'))).toMatchObject({ reason: 'rate-limited' })
})

test('a delivery that a confirmation stopped is recorded as expired, not as of a removed device', async () => {
  const { sql } = parts.ports.db
  const [userId, device, message] = [lineUser(4), crypto.randomUUID(), crypto.randomUUID()]
  await addPilgrim(userId)
  await sql`INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at)
    VALUES (${device}, ${userId}, 'https://push.example/x', 'x', 'x', now())`
  await sql`INSERT INTO messages (id, cause, cause_key, audience, forced, state, recipients, left_out, created_at)
    VALUES (${message}, 'emergency', ${`emergency:${crypto.randomUUID()}:1`}, '{}', true, 'sent', 0, '{}', now())`
  await sql`INSERT INTO push_deliveries (message_id, subscription_id, user_id, language, state, created_at, due_at)
    VALUES (${message}, ${device}, ${userId}, 'en', 'waiting', now(), now())`
  const sender = createPushSender(parts.context())!
  sender.start()
  const detail = await until(async () => {
    const [row] = await sql<{ detail: string | null }[]>`SELECT detail FROM push_deliveries`
    return row!.detail
  }, 'the delivery to be settled')
  await sender.stop()
  expect(detail).toBe(EXPIRED)
})

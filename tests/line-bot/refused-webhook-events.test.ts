/** Webhook events that the database refuses are set aside with the reason and do not block others. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { createWebhookReceiver } from '#services/line-bot/webhook/receive-webhook.ts'
import { createWebhookSpool } from '#services/line-bot/webhook/store-webhook-events.ts'
import { deleteExpired } from '#services/scheduler/maintenance.ts'
import { webhookEndpoint } from '#shared/contracts/bot.ts'
import { eraseUserEndpoint } from '#shared/contracts/reports.ts'
import { DEDUPLICATION_WINDOW_MS } from '#shared/service/line/line-client.ts'
import { deleteSpooled } from '#shared/stores/objects/spool.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent, textEvent } from '#tests/helpers/line-webhook.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { callAs, readAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const line = startLineServer()
afterAll(() => line.stop())

/** Values that Postgres rejects, in each field of an event that allows them. Text values are cleaned before. */
const poisons = (userId: string): Record<string, unknown>[] => {
  const photo = () => lineEvent(userId, { type: 'message', message: { type: 'image', id: '1' } })
  const deep = JSON.parse(`${'{"a":'.repeat(2_400)}1${'}'.repeat(2_400)}`) as unknown
  return [
    { ...photo(), 'key\u0000': 1 },
    { ...photo(), '\ud800': 1 },
    { ...photo(), deliveryContext: { nested: { 'a\u0000b': true } } },
    { ...photo(), webhookEventId: `a\u0000${crypto.randomUUID()}` },
    { ...photo(), webhookEventId: '\u0000' },
    { ...photo(), deep: { 'x\u0000': deep } },
  ]
}

describeBothStacks(
  'an event that no column holds',
  (stack) => {
    const setAsideOf = async (userId: string) => {
      const answer = await readAs(stack, 'owner', `admin/users/${userId}/export`)
      const { refused_line_events: rows } = (await answer.json()) as {
        refused_line_events: { reason: string; event: string }[]
      }
      return rows
    }

    test('one is set aside with its reason, the others are answered, and an erasure deletes it', async () => {
      const [userId, neighbour] = [lineUser(0xf00), lineUser(0xf01)]
      const bad = poisons(userId)
      const good = [textEvent(userId, 'help'), textEvent(neighbour, 'help')]
      const events = [good[0]!, ...bad, good[1]!]
      // LINE may redeliver any event: the same event is the same row.
      for (let i = 0; i < 2; i++) await dataOf(await deliver(stack, events), webhookEndpoint)
      // On a busy machine all of them go through the spool, which is drained every 15 s.
      for (const { replyToken } of good)
        await until(
          () => line.sent.some(({ kind, to }) => kind === 'reply' && to[0] === replyToken),
          'an answer to a neighbour',
          { timeoutMs: 40_000 },
        )
      const rows = await until(
        async () => {
          const found = await setAsideOf(userId)
          return found.length >= bad.length && found
        },
        'all of them to be set aside',
        { timeoutMs: 40_000, everyMs: 200 },
      )
      expect(rows).toHaveLength(bad.length)
      for (const { reason } of rows) expect(reason).toMatch(/\((22|54)...\)$|^Maximum call stack/)
      expect(rows.map(({ event }) => JSON.parse(event) as unknown)).toContainEqual(bad[0]!)
      const erased = await callAs(stack, 'owner', 'DELETE', `admin/users/${userId}`)
      expect((await dataOf(erased, eraseUserEndpoint)).erased.refused_line_events).toBe(bad.length)
      expect(stack.complaints()).toEqual([])
    }, 100_000)
  },
  lineSettings(line),
)

describe('the spool', () => {
  let parts: ServiceParts
  let ports: ServiceParts['ports']
  beforeAll(async () => {
    parts = await openServiceParts()
    ;({ ports } = parts)
  })
  afterAll(() => parts?.close())

  test('is drained, although some events cannot be stored', async () => {
    const { db, objects } = ports
    const context = parts.context()
    const spooled = [
      ...poisons('U1').map((event) => JSON.stringify(event)),
      'no JSON \u0000',
      '{"type":"message"}',
      JSON.stringify(lineEvent('U1', { type: 'follow' })),
    ]
    for (const [i, text] of spooled.entries())
      await objects.put(`webhooks/event-${i}`, Buffer.from(text), {
        contentType: 'application/json',
      })
    await createWebhookSpool(context).drain()
    expect(await Array.fromAsync(objects.list('webhooks/'))).toEqual([])
    const rowsOf = async (table: string) => (await db.sql.unsafe(`SELECT FROM ${table}`)).length
    expect(await rowsOf('line_events')).toBe(1)
    expect(await rowsOf('refused_line_events')).toBe(spooled.length - 1)
    await deleteExpired(db, Date.now() + DEDUPLICATION_WINDOW_MS + 1_000, context)
    expect(await rowsOf('refused_line_events')).toBe(0)
  })

  test('goes on behind an event whose file is damaged, and an erasure deletes that file', async () => {
    const { db, objects } = ports
    await db.sql`TRUNCATE line_events, refused_line_events`
    for (const name of ['a', 'b', 'c', 'd'])
      await objects.put(
        `webhooks/${name}`,
        Buffer.from(JSON.stringify(lineEvent('U1', { type: 'follow' }))),
        {
          contentType: 'application/json',
        },
      )
    const folder = join(ports.config.dataDir, 'objects/webhooks')
    truncateSync(
      join(
        folder,
        readdirSync(folder).find((name) => name.endsWith('~b'))!,
      ),
      20,
    )
    const context = parts.context()
    for (let round = 0; round < 2; round++) await createWebhookSpool(context).drain()
    expect(await Array.fromAsync(objects.list('webhooks/'))).toEqual(['webhooks/b'])
    expect(await db.sql`SELECT FROM line_events`).toHaveLength(3)
    expect(await context.metrics.page()).toMatch(
      /event_failed_items_total\{.*queue="spooled webhook events".*\} 2/,
    )
    // Its sender is unknown.
    await deleteSpooled(objects, 'U2', Date.now())
    expect(await Array.fromAsync(objects.list('webhooks/'))).toEqual([])
    await db.sql`TRUNCATE line_events`
  })

  test('takes a crowd of deliveries: behind a busy database few of them wait, and each is stored once', async () => {
    const { db, objects } = ports
    const context = parts.context()
    const receive = createWebhookReceiver(context, createWebhookSpool(context))
    // LINE redelivers what a slow disk did not accept in time.
    const delivered = async (body: Buffer): Promise<{ received: number }> => {
      for (let attempt = 1; ; attempt++)
        try {
          return await receive(body, null)
        } catch (error) {
          if (!(error instanceof Refusal && error.httpStatus === 503) || attempt === 10) throw error
          // At a random delay: sixty simultaneous writes would be as slow again.
          await Bun.sleep(Math.random() * 200 * attempt)
        }
    }
    const held = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = db.transaction(async () => {
      isHeld.resolve()
      await held.promise
    })
    await isHeld.promise
    const before = await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const events = [lineEvent(lineUser(0xf10 + i), { type: 'follow' })]
        return delivered(Buffer.from(JSON.stringify({ destination: 'U0', events })))
      }),
    )
    expect(before).toEqual(Array.from({ length: 60 }, () => ({ received: 1 })))
    expect(await Array.fromAsync(objects.list('webhooks/'))).toHaveLength(60)
    held.resolve()
    await holding
    // The database's queue is first come, first served: everything queued earlier is stored by now.
    const stored = async () => (await db.sql`SELECT FROM line_events`).length
    const fromQueue = await stored()
    await createWebhookSpool(context).drain()
    expect(await stored()).toBe(60)
    expect(fromQueue).toBe(16)
    expect(await Array.fromAsync(objects.list('webhooks/'))).toEqual([])
  })
})

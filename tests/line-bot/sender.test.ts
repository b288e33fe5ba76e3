/** The sender alone, on a real database, with a simulated clock: when it retries, and what it postpones. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { notifyVolunteers, sendNotification } from '#services/line-bot/sending/announcements.ts'
import { EXPIRED, isExpired } from '#services/line-bot/sending/expiry.ts'
import { DEFAULT_SLOTS } from '#shared/service/line/scheduled-notifications.ts'
import { time } from '#shared/contracts/fields.ts'
import { planMessage } from '#services/line-bot/sending/plan-message.ts'
import {
  createSender,
  type Chunk,
  recordDelivery,
  splitChunk,
} from '#services/line-bot/sending/send-messages.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createLineClient } from '#shared/service/line/line-client.ts'
import { activity, messageChunks, messages } from '#shared/stores/schema/tables.ts'
import { openTestDatabase, testRedisUrl, type TestDatabase } from '#tests/helpers/database.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const START = Date.parse('2026-04-12T00:00:00Z')
const MINUTE = 60_000

describeOnServers('the sender', () => {
  const line = startLineServer()
  let database: TestDatabase
  let parts: ServiceParts
  let context: ServiceContext
  let clockMs = START

  beforeAll(async () => {
    database = await openTestDatabase()
    const stores = { DATABASE_URL: database.url, REDIS_URL: await testRedisUrl() }
    parts = await openServiceParts({ ...SETTINGS, ...lineSettings(line), ...stores }, { now: () => clockMs })
    context = parts.context()
  })
  afterAll(async () => {
    await parts?.close()
    await database?.drop()
    await line.stop()
  })
  beforeEach(async () => {
    clockMs = START
    line.mishap = () => 'none'
    line.quota = null
    line.received.clear()
    await context.db.sql`TRUNCATE messages, message_chunks`
  })

  let planned = 0
  /** Stores a message to this many people. @returns its id */
  const plan = async (
    people: number,
    causeKey?: string,
    cause: 'push' | 'emergency' = 'push',
  ): Promise<string> => {
    const n = ++planned
    const ids = Array.from({ length: people }, (_, i) => lineUser(1_000 * n + i))
    const { id } = (await planMessage(context.db, {
      cause,
      causeKey: causeKey ?? `push:${n}`,
      audience: { user_ids: ids },
      selected: {
        byLanguage: new Map([['en', ids]]),
        count: people,
        everybody: new Map(),
        leftOut: { unreachable: 0, withdrawn: 0, no_line_id: 0 },
        lacksBuffer: false,
      },
      content: () => [{ type: 'text', text: 'x' }],
      configured: true,
      nowMs: clockMs,
    }))!
    return id
  }
  const chunksOf = (id: string): Promise<Chunk[]> =>
    context.db.orm
      .select()
      .from(messageChunks)
      .where(eq(messageChunks.messageId, id))
      .orderBy(messageChunks.id)
  const chunkOf = async (id: string): Promise<Chunk> => (await chunksOf(id))[0]!
  const pauseAt = (ms: number) =>
    context.db.orm.update(activity).set({ status: 'paused', changedAt: new Date(ms) })
  /** Runs a sender until a condition holds; a call in progress is completed. */
  const work = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    const sender = createSender(context, createLineClient(context.config.line)!)
    sender.start()
    await until(isSo, what)
    await sender.stop()
  }

  test('a call without an answer of LINE is retried with a back-off that doubles up to a minute', async () => {
    const id = await plan(1)
    line.mishap = (path) => (path.endsWith('/multicast') ? 'before' : 'none')
    for (let attempt = 1; attempt <= 8; attempt++) {
      await work(`attempt ${attempt}`, async () => (await chunkOf(id)).attempts === attempt)
      const { state, dueAt, triedAt } = await chunkOf(id)
      const longest = Math.min(1_000 * 2 ** (attempt - 1), MINUTE)
      expect(dueAt.getTime() - clockMs).toBeWithin(longest / 2, longest + 1)
      expect({ state, triedAt }).toEqual({ state: 'waiting', triedAt: new Date(START) })
      clockMs = dueAt.getTime()
    }
  })

  test('a message that comes too late is recorded as expired, planned or waiting, and is not sent', async () => {
    const { sql } = context.db
    const stateOf = async (cause: string) =>
      (await sql<{ state: string }[]>`SELECT state FROM messages WHERE cause = ${cause}`)[0]?.state
    const paused = { status: 'paused', version: 2, message: null, changed_at: time(START) } as const
    const notice = { day: '2026-04-12', slot: { ...DEFAULT_SLOTS[0]!, hour: 8 } }
    const announce = async (state: 'sent' | 'expired') => {
      await sql`TRUNCATE messages, message_chunks`
      await notifyVolunteers(context, true, paused)
      await sendNotification(context, true, notice)
      expect([await stateOf('pause'), await stateOf('notification')]).toEqual([state, state])
    }
    // Eight o'clock in Taipei, and nine.
    await pauseAt(START)
    await announce('sent')
    await sql`UPDATE activity SET status = 'active'`
    clockMs = START + 60 * MINUTE
    await announce('expired')
    clockMs = START
    await sql`TRUNCATE messages, message_chunks`
    const waiting = [await plan(2, 'pause:2'), await plan(2, 'notification:morning:2026-04-12')]
    clockMs = START + 60 * MINUTE
    for (const id of waiting) {
      await work('it to be settled', async () => (await chunkOf(id)).state !== 'waiting')
      expect(await chunkOf(id)).toMatchObject({ state: 'failed', attempts: 0, detail: EXPIRED })
    }
  })

  test('the message of an earlier pause is not sent during a later one', async () => {
    await pauseAt(START)
    const id = await plan(2, 'pause:2')
    clockMs = START + MINUTE
    await pauseAt(clockMs)
    await work('it to be settled', async () => (await chunkOf(id)).state !== 'waiting')
    expect(await chunkOf(id)).toMatchObject({ state: 'failed', attempts: 0, detail: EXPIRED })
  })

  test('the message of a pause is sent, though the clock is behind that of the process that paused', async () => {
    const pausedMs = START + MINUTE
    await pauseAt(pausedMs)
    const paused = { status: 'paused', version: 3, message: null, changed_at: time(pausedMs) } as const
    await notifyVolunteers(context, true, paused)
    const [planned] = await context.db.orm.select().from(messages).where(eq(messages.causeKey, 'pause:3'))
    expect(await isExpired(context, context.db, 'pause:3', planned!.createdAt.getTime())).toBe(false)
  })

  test('an alert of an emergency whose first call failed is sent before all that waits', async () => {
    const alert = await plan(1, undefined, 'emergency')
    const [owner] = (await chunkOf(alert)).recipients
    line.mishap = (path) => (path.endsWith('/multicast') ? 'before' : 'none')
    await work('the first call', async () => (await chunkOf(alert)).attempts === 1)
    const waiting = [await plan(1), await plan(1), await plan(1)]
    clockMs = (await chunkOf(alert)).dueAt.getTime()
    line.mishap = () => 'none'
    const already = line.sent.length
    await work('all to be sent', async () => (await chunkOf(waiting.at(-1)!)).state === 'sent')
    expect(line.sent[already]!.to).toEqual([owner!])
  })

  test('a message that was planned by a clock that was ahead is sent', async () => {
    clockMs = START + 60 * MINUTE
    const id = await plan(1)
    clockMs = START
    await work('it to be sent', async () => (await chunkOf(id)).state === 'sent')
  })

  test('LINE is asked for the quota with a pause, also for a message of a clock that was ahead', async () => {
    line.mishap = (path) => (path.endsWith('/quota') ? 'before' : 'none')
    clockMs = START + 60 * MINUTE
    const id = await plan(1)
    clockMs = START
    await work('the quota to be asked for', async () => (await chunkOf(id)).detail !== null)
    expect((await chunkOf(id)).dueAt.getTime() - clockMs).toBeWithin(500, 1_001)
  })

  test('a message is postponed while the quota cannot be read, unless it is forced', async () => {
    line.mishap = (path) => (path.endsWith('/quota') ? 'before' : 'none')
    const [id, forced] = [await plan(1), await plan(1)]
    await context.db.orm.update(messages).set({ forced: true }).where(eq(messages.id, forced))
    await work('the forced one to be sent', async () => (await chunkOf(forced)).state === 'sent')
    const { state, attempts, detail, dueAt } = await chunkOf(id)
    expect({ state, attempts }).toEqual({ state: 'waiting', attempts: 0 })
    expect(detail).toStartWith('the quota is not known: ')
    expect(dueAt.getTime() - clockMs).toBeWithin(500, 1_001)
    line.mishap = () => 'none'
    clockMs = dueAt.getTime()
    await work('it to be sent', async () => (await chunkOf(id)).state === 'sent')
  })

  test('a quota that cannot be read is asked for with a back-off that doubles, once for all messages', async () => {
    line.mishap = (path) => (path.endsWith('/quota') ? 'before' : 'none')
    const ids = [await plan(1), await plan(1), await plan(1)]
    const asked = () => line.calls.filter(({ path }) => path.endsWith('/quota')).length
    const before = asked()
    const sender = createSender(context, createLineClient(context.config.line)!)
    sender.start()
    for (let miss = 1; miss <= 8; miss++) {
      sender.wake()
      const waits = () => Promise.all(ids.map(async (id) => (await chunkOf(id)).dueAt.getTime() - clockMs))
      const isPostponed = async () => (await waits()).every((ms) => ms > 0)
      await until(isPostponed, `postponement ${miss}`)
      const longest = Math.min(1_000 * 2 ** (miss - 1), MINUTE)
      for (const ms of await waits()) expect(ms).toBeWithin(longest / 2, longest + 1)
      expect(asked() - before).toBe(miss)
      clockMs += longest
    }
    await sender.stop()
  })

  test('a message is postponed while undecided calls may still use its share of the quota', async () => {
    line.quota = line.used + 20
    const first = await plan(10)
    line.mishap = (path) => (path.endsWith('/multicast') ? 'limited' : 'none')
    await work('the first to be tried', async () => (await chunkOf(first)).attempts > 0)
    const second = await plan(10)
    // The quota is enough for one of them, but not for both.
    line.quota -= 5
    await work('the second to be looked at', async () => (await chunkOf(second)).detail !== null)
    expect(await chunkOf(second)).toMatchObject({
      state: 'waiting',
      attempts: 0,
      detail: 'postponed for the quota: other calls are undecided',
    })
    line.mishap = () => 'none'
    await work('both to be decided', async () => {
      clockMs += MINUTE
      return (await Promise.all([first, second].map(chunkOf))).every(({ state }) => state !== 'waiting')
    })
    expect(await chunkOf(first)).toMatchObject({ state: 'sent' })
    expect(await chunkOf(second)).toMatchObject({ state: 'failed', detail: 'over the monthly quota' })
    expect(line.received.size).toBe(10)
  })

  test('a message that does not fit beside undecided calls holds up no smaller one', async () => {
    line.quota = line.used + 600
    const stuck = await plan(200)
    const [recipient] = (await chunkOf(stuck)).recipients
    line.mishap = (_path, body) => (body.includes(recipient!) ? 'before' : 'none')
    await work('the first to be tried', async () => (await chunkOf(stuck)).attempts > 0)
    const large = await plan(500)
    const small = await plan(1)
    await work('the small one to be sent', async () => (await chunkOf(small)).state === 'sent')
    expect((await chunkOf(large)).state).toBe('waiting')
  })

  const decide = (chunk: Chunk, settlement: Parameters<typeof recordDelivery>[2], atMs: number) =>
    context.db.transaction((tx) => recordDelivery(tx, chunk, settlement, new Date(atMs)))

  test('a message that LINE never takes holds up no other, and tells why it waits', async () => {
    const bad = await plan(1)
    const [recipient] = (await chunkOf(bad)).recipients
    line.mishap = (_path, body) => (body.includes(recipient!) ? 'before' : 'none')
    const good = await plan(1)
    await work('the message behind it', async () => (await chunkOf(good)).state === 'sent')
    expect(await chunkOf(bad)).toMatchObject({
      state: 'waiting',
      attempts: 1,
      detail: expect.stringContaining('5'),
    })
  })

  test('a decision is not changed by a later answer', async () => {
    const id = await plan(2)
    const held = await chunkOf(id)
    await decide(held, { state: 'sent', requestId: 'first' }, START)
    await decide(held, { state: 'failed', detail: 'too late' }, START + MINUTE)
    expect(await chunkOf(id)).toMatchObject({
      state: 'sent',
      lineRequestId: 'first',
      detail: null,
      settledAt: new Date(START),
    })
    const [message] = await context.db.orm.select().from(messages).where(eq(messages.id, id))
    expect(message).toMatchObject({ state: 'sent', completedAt: new Date(START) })
  })

  test('a call that was split is neither decided nor split again', async () => {
    const id = await plan(3)
    const held = await chunkOf(id)
    const split = () => context.db.transaction((tx) => splitChunk(tx, held, 'one bad id', new Date(START)))
    await split()
    await split()
    await decide(held, { state: 'sent' }, START + MINUTE)
    const chunks = await chunksOf(id)
    expect(chunks.map(({ state, size, recipients }) => [state, size, recipients.length])).toEqual([
      ['split', 3, 3],
      ['waiting', 1, 1],
      ['waiting', 2, 2],
    ])
    expect(chunks.slice(1).flatMap(({ recipients }) => recipients)).toEqual(held.recipients)
    const [message] = await context.db.orm.select().from(messages).where(eq(messages.id, id))
    expect(message).toMatchObject({ state: 'sending', completedAt: null })
  })
})

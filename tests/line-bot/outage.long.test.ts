/** The bot during outages of its stores, and the alert watch as the two services run it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { webhookEndpoint } from '#shared/contracts/bot.ts'
import { photoCountEndpoint } from '#shared/contracts/profile.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent, textEvent } from '#tests/helpers/line-webhook.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { readAs } from '#tests/helpers/test-stack.ts'
import { type OwnedTestStack, openOwnedTestStack } from '#tests/helpers/test-stack-real.ts'

const OWNER = lineUser(0xb055)

describeOnServers('the bot without its stores', () => {
  const line = startLineServer()
  let stack: OwnedTestStack
  beforeAll(async () => {
    stack = await openOwnedTestStack({ settings: lineSettings(line) })
  })
  afterAll(async () => {
    await stack?.close()
    await line.stop()
  })

  let person = 0xe000
  const photo = (sender = lineUser(++person)) =>
    lineEvent(sender, { type: 'message', message: { type: 'image' } })
  const senderOf = (event: Record<string, unknown>) => (event.source as { userId: string }).userId
  const photosOf = async (event: Record<string, unknown>) =>
    (
      await dataOf(
        await stack.fetch(`/api/event/photos/count?user_id=${senderOf(event)}`),
        photoCountEndpoint,
      )
    ).photo_count
  const counted = (events: readonly Record<string, unknown>[]) =>
    until(
      async () => (await Promise.all(events.map(photosOf))).every((count) => count === 1),
      'every photo to count once',
      { timeoutMs: 60_000, everyMs: 200 },
    )
  const timed = async (events: readonly unknown[]) => {
    const started = performance.now()
    const response = await deliver(stack, events)
    // LINE ignores a later answer.
    expect(performance.now() - started).toBeLessThan(2_000)
    return response
  }

  test('without NATS events are accepted immediately and handled', async () => {
    await stack.nats.stop()
    const events = [photo(), photo()]
    expect(await dataOf(await timed(events), webhookEndpoint)).toEqual({ received: 2 })
    await counted(events)
    await stack.nats.restart()
  }, 90_000)

  test('while Postgres is stopped or frozen, events are accepted in time and count once afterwards', async () => {
    const events = [photo(), photo(), photo(), photo()]
    await stack.postgres.stop()
    expect((await timed(events.slice(0, 2))).status).toBe(200)
    await stack.postgres.restart()
    stack.postgres.pause()
    expect((await timed(events.slice(1, 3))).status).toBe(200)
    stack.postgres.resume()
    expect((await timed(events)).status).toBe(200)
    await counted(events)
  }, 120_000)

  test('without Redis the bot still answers', async () => {
    await stack.redis.stop()
    const event = textEvent(lineUser(++person), 'help')
    expect((await timed([event])).status).toBe(200)
    await until(() => line.sent.some(({ to }) => to[0] === event.replyToken), 'the answer', {
      timeoutMs: 30_000,
    })
    await stack.redis.restart()
  })

  test('without Redis a photo is answered, and the cached count is updated afterwards', async () => {
    const first = photo()
    await dataOf(await timed([first]), webhookEndpoint)
    await counted([first])
    await stack.redis.stop()
    const second = photo(senderOf(first))
    expect((await timed([second])).status).toBe(200)
    await until(() => line.sent.some(({ to }) => to[0] === second.replyToken), 'the answer', {
      timeoutMs: 30_000,
    })
    await stack.redis.restart()
    await until(async () => (await photosOf(first)) === 2, 'both photos to count', {
      timeoutMs: 60_000,
      everyMs: 200,
    })
  }, 120_000)

  test('while the line-bot is stopped the answer is 503; events after its return are accepted', async () => {
    const bot = stack.service('line-bot')
    await bot.stop('SIGKILL')
    const event = photo()
    await sentenceOf(await deliver(stack, [event]), 503, 'unavailable')
    await bot.restart()
    expect((await deliver(stack, [event])).status).toBe(200)
    await counted([event])
  }, 90_000)

  test('the text of an event is deleted once it is answered', async () => {
    const sql = postgres(stack.postgres.url, { max: 1 })
    const event = textEvent(lineUser(++person), 'my secret help')
    await deliver(stack, [event])
    await until(() => line.sent.some(({ to }) => to[0] === event.replyToken), 'the answer', {
      timeoutMs: 30_000,
    })
    await until(
      async () =>
        (
          await sql`SELECT FROM outbox WHERE payload::text LIKE '%secret%' OR payload::text LIKE ${`%${senderOf(event)}%`}`
        ).length === 0,
      'the words to be forgotten',
    )
    await sql.end()
  })
})

// On fresh stores, because an outage within a minute of another one belongs to the same incident, whose next alert
// comes only after ten minutes.
describeOnServers('the watch of the two services', () => {
  const line = startLineServer()
  let stack: OwnedTestStack
  beforeAll(async () => {
    stack = await openOwnedTestStack({ settings: { ...lineSettings(line), EVENT_ALERT_USER_ID: OWNER } })
  })
  afterAll(async () => {
    await stack?.close()
    await line.stop()
  })

  const alerts = () =>
    line.sent.filter(({ to }) => to[0] === OWNER).map(({ messages }) => messages[0]!.text as string)

  test('with Postgres down and the scheduler dead, the two watchers send one alert and one recovery', async () => {
    await until(async () => (await stack.fetch('/health')).status === 200, 'health', { timeoutMs: 30_000 })
    expect(alerts()).toEqual([])
    await stack.service('scheduler').stop('SIGKILL')
    await stack.postgres.stop()
    await until(() => alerts().length > 0, 'the alert', { timeoutMs: 60_000, everyMs: 100 })
    expect(alerts().at(-1)).toContain('database does not answer')
    await stack.service('scheduler').restart()
    await stack.postgres.restart()
    await until(() => alerts().length > 1, 'the recovery', { timeoutMs: 150_000, everyMs: 200 })
    expect(alerts().slice(1)).toEqual([expect.stringContaining('All is well')])
    expect((await readAs(stack, 'volunteer', 'line-usage')).status).toBe(200)
  }, 300_000)
})

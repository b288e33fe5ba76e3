/** The bot's answer to "card": the current picture, under an address that LINE has not cached yet. */
import { afterAll, expect, test } from 'bun:test'
import { webhookEndpoint } from '#shared/contracts/bot.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, textEvent } from '#tests/helpers/line-webhook.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { checkIn } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const line = startLineServer()
afterAll(() => line.stop())

describeBothStacks(
  'the bot and the card',
  (stack) => {
    let person = 0xc4d0
    const answerTo = async (userId: string, wish: string) => {
      const event = textEvent(userId, wish)
      await dataOf(await deliver(stack, [event]), webhookEndpoint)
      const sent = () => line.sent.find(({ kind, to }) => kind === 'reply' && to[0] === event.replyToken)
      return (await until(sent, { timeoutMs: 10_000, what: 'an answer of the bot' })).messages[0]!
    }

    test('a changed card has a new address and shows the current figures', async () => {
      const userId = lineUser(++person)
      line.profiles.set(userId, { displayName: 'Anna', language: 'en' })
      const address = async () => (await answerTo(userId, 'my card')).originalContentUrl as string
      const picture = (url: string) =>
        until(
          async () => {
            const { headers } = await stack.fetch(url.slice(new URL(url).origin.length))
            return headers.get('cache-control') === 'private, no-cache' && headers.get('etag')
          },
          { timeoutMs: 45_000, what: 'the card of this moment' },
        )
      const addresses = [await address()]
      expect(await address()).toBe(addresses[0]!)
      await checkIn(stack, userId)
      addresses.push(await address())
      const before = await picture(addresses[1]!)
      const sync = (fields: object) =>
        stack.fetch('/api/event/user/sync', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ user_id: userId, ...fields }),
        })
      await sync({ display_name: '林美玉' })
      addresses.push(await address())
      expect(await picture(addresses[2]!)).not.toBe(before)
      await sync({ transport: { bus: 40 } })
      addresses.push(await address())
      expect(new Set(addresses).size).toBe(addresses.length)
    })
  },
  { ...lineSettings(line), EVENT_LIMIT_USER_WRITE: '1000' },
)

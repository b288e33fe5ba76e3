/** Pilgrims' use of the bot, and the bot's messages to them. */
import { type LineServer, lineUser, type Sent } from './line-server.ts'
import { deliver, lineEvent } from './line-webhook.ts'
import { until } from './wait.ts'
import type { TestStack } from './test-stack.ts'

let person = 0xd000
/** An id that no other test uses. */
export const newLineUser = (): string => lineUser(++person)

/** A new person follows the bot, in a language, and gets the welcome message. */
export async function follow(stack: TestStack, line: LineServer, language: string): Promise<string> {
  const userId = newLineUser()
  line.profiles.set(userId, { displayName: 'P', language })
  const event = lineEvent(userId, { type: 'follow' })
  await deliver(stack, [event])
  await until(() => line.sent.some(({ to }) => to[0] === event.replyToken), 'the welcome', {
    timeoutMs: 45_000,
  })
  return userId
}

/** Waits for a push or multicast to a person that contains this text. */
export const messageTo = (line: LineServer, userId: string, containing: string): Promise<Sent> =>
  until(
    () =>
      line.sent.find(
        ({ kind, to, messages }) =>
          kind !== 'reply' && to.includes(userId) && JSON.stringify(messages).includes(containing),
      ),
    `a message with ${containing}`,
    { timeoutMs: 45_000, everyMs: 100 },
  )

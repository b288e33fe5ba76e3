/** What tests of the bot do in the name of people: operators who call, pilgrims who follow. */
import type { Role } from '#shared/contracts/fields.ts'
import { type LineServer, lineUser, type Sent } from './line-server.ts'
import { deliver, lineEvent } from './line-webhook.ts'
import { until } from './wait.ts'
import { admin, type World } from './test-stack.ts'

/** Calls as an operator of a tier. */
export const callAs = (
  stack: World,
  role: Role,
  method: string,
  path: string,
  body?: object,
): Promise<Response> =>
  stack.fetch(path, {
    method,
    headers: { 'Content-Type': 'application/json', ...admin(role) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

let person = 0xd000
/** An id that no other test has. */
export const newLineUser = (): string => lineUser(++person)

/** Someone follows, in their language, and has been welcomed. */
export async function follow(stack: World, line: LineServer, language: string): Promise<string> {
  const userId = newLineUser()
  line.profiles.set(userId, { displayName: 'P', language })
  const event = lineEvent(userId, { type: 'follow' })
  await deliver(stack, [event])
  await until(() => line.sent.some(({ to }) => to[0] === event.replyToken), {
    timeoutMs: 45_000,
    what: 'the welcome',
  })
  return userId
}

/** Waits for a push or multicast to someone that contains this text. */
export const messageTo = (line: LineServer, userId: string, containing: string): Promise<Sent> =>
  until(
    () =>
      line.sent.find(
        ({ kind, to, messages }) =>
          kind !== 'reply' && to.includes(userId) && JSON.stringify(messages).includes(containing),
      ),
    { timeoutMs: 45_000, what: `a message with ${containing}`, everyMs: 100 },
  )

/** Webhook deliveries as LINE sends them: an envelope of events, signed over its bytes. */
import { createHmac } from 'node:crypto'
import { LINE_SECRET } from './line-server.ts'
import type { TestStack } from './test-stack.ts'

let count = 0

/** A webhook event of a person, with its own id; the fields override the defaults. */
export const lineEvent = (userId: string, fields: object): Record<string, unknown> => ({
  webhookEventId: `event-${++count}-${crypto.randomUUID().slice(0, 8)}`,
  timestamp: Date.now(),
  mode: 'active',
  source: { type: 'user', userId },
  deliveryContext: { isRedelivery: false },
  replyToken: crypto.randomUUID(),
  ...fields,
})

export const textEvent = (userId: string, text: string, fields: object = {}): Record<string, unknown> =>
  lineEvent(userId, { type: 'message', message: { type: 'text', id: '1', text }, ...fields })

export const signatureOf = (body: string, secret = LINE_SECRET): string =>
  createHmac('sha256', secret).update(body).digest('base64')

/** Sends a delivery (default: with the correct signature). */
export function deliver(
  stack: Pick<TestStack, 'fetch'>,
  events: readonly unknown[],
  signature?: string | null,
): Promise<Response> {
  const body = JSON.stringify({ destination: 'U0', events })
  const given = signature === undefined ? signatureOf(body) : signature
  return stack.fetch('/api/event/webhook', {
    method: 'POST',
    body,
    headers: given === null ? {} : { 'X-Line-Signature': given },
  })
}

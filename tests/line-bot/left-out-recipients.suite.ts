/** Who gets no LINE message, by name. */
import { expect, test } from 'bun:test'
import type { ErrorCode } from '#shared/contracts/errors.ts'
import { pushEndpoint, type LeftOutRecipient, leftOutRecipientsEndpoint } from '#shared/contracts/messages.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { callAs, follow, newLineUser } from '#tests/helpers/line-people.ts'
import type { LineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent } from '#tests/helpers/line-webhook.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'

type Page = { readonly items: readonly LeftOutRecipient[]; readonly next_cursor: string | null }

export function leftOutRecipientsTests(stack: TestStack, line: LineServer): void {
  test('who gets no LINE message is listed by name, page by page, of a message and of an audience', async () => {
    const reached = await follow(stack, line, 'en')
    const blocked = await follow(stack, line, 'en')
    await deliver(stack, [lineEvent(blocked, { type: 'unfollow', replyToken: undefined })])
    const paused = newLineUser()
    // Most languages sort a before B; the pages must not depend on the language of the database.
    const phones = ['Phone-B', 'phone-C', 'phone-a']
    for (const userId of [paused, ...phones])
      await post(stack, 'user/sync', { user_id: userId, display_name: `Name of ${userId}` })
    await post(stack, 'participant-status', { user_id: paused, status: 'withdrawn' })
    const leftOut = async (query: string) => {
      const found: LeftOutRecipient[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const path: string = `/api/event/push/left-out?${query}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
        const page: Page = await dataOf(
          await callAs(stack, 'manager', 'GET', path),
          leftOutRecipientsEndpoint,
        )
        expect(page.items.length).toBeLessThanOrEqual(2)
        found.push(...page.items)
        cursor = page.next_cursor
      }
      return found
    }
    const named = (userId: string, reason: LeftOutRecipient['reason']) => ({
      userId,
      reason,
      devices: 0,
      display_name: `Name of ${userId}`,
    })
    const users = { user_ids: [phones[2]!, reached, paused, blocked, phones[0]!, phones[1]!], text: 'x' }
    const pushed = await callAs(stack, 'manager', 'POST', '/api/event/push', users)
    const { id, left_out } = await dataOf(pushed, pushEndpoint)
    expect(left_out).toEqual({ unreachable: 1, withdrawn: 1, no_line_id: 3 })
    expect(await leftOut(`message=${id}`)).toEqual([
      { userId: blocked, display_name: 'P', reason: 'unreachable', devices: 0 },
      named(paused, 'withdrawn'),
      ...phones.map((userId) => named(userId, 'no_line_id')),
    ])
    const everybody = await leftOut('audience=all')
    expect(everybody).toContainEqual(named('Phone-B', 'no_line_id'))
    expect(everybody.map(({ userId }) => userId)).not.toContain(reached)
    expect(new Set(everybody.map(({ userId }) => userId)).size).toBe(everybody.length)
    expect(await leftOut('audience=owners')).toEqual([])
    const refused = async (query: string, status: number, code: ErrorCode) =>
      sentenceOf(await callAs(stack, 'manager', 'GET', `/api/event/push/left-out${query}`), status, code)
    await refused('', 400, 'invalid-request')
    await refused(`?audience=all&message=${id}`, 400, 'invalid-request')
    await refused('?audience=all&hours=3', 400, 'invalid-request')
    await refused('?audience=inactive&hours=0', 400, 'invalid-request')
    await refused('?audience=all&cursor=x', 400, 'invalid-request')
    await refused(`?message=${crypto.randomUUID()}`, 404, 'not-found')
  })
}

/** Reports that a manager has removed from the public board. */
import { expect, test } from 'bun:test'
import { marksOf } from '#services/feedback-media/feedback/reports.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import {
  type FeedbackItem,
  feedbackStatusEndpoint,
  listFeedbackEndpoint,
  submitFeedbackEndpoint,
  updateFeedbackEndpoint,
} from '#shared/contracts/feedback.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { callAs, newAppId, readAs } from '#tests/helpers/test-stack.ts'

describeBothStacks('a report off the public board', (stack) => {
  test('is not listed or counted for the public, is for operators, and can be put back', async () => {
    const category = `hidden-${crypto.randomUUID()}`
    const description = 'Lin Mei-hua, room 302, 0912-345-678'
    const { id } = await dataOf(
      await post(stack, 'feedback', { category, description }),
      submitFeedbackEndpoint,
    )
    const set = (body: object, role: 'manager' | 'volunteer' = 'manager') =>
      callAs(stack, role, 'PATCH', `feedback/${id}`, body)
    const publicly = async () => {
      const { items, counts } = await dataOf(
        await stack.fetch(`/api/event/feedback/status?category=${category}`),
        feedbackStatusEndpoint,
      )
      const list = await dataOf(
        await stack.fetch(`/api/event/feedback?category=${category}`),
        listFeedbackEndpoint,
      )
      return [items.length, counts.new, list.items.length]
    }
    expect(await publicly()).toEqual([1, 1, 1])
    expect(await sentenceOf(await set({ hidden: true }), 400, 'invalid-request')).toContain('reason')
    await sentenceOf(await set({ hidden: true, reason: 'x' }, 'volunteer'), 403, 'forbidden')
    const hidden = await dataOf(await set({ hidden: true, reason: 'names a person' }), updateFeedbackEndpoint)
    expect(hidden).toMatchObject({ status: 'new', hidden_reason: 'names a person', marks: ['phone'] })
    expect(await publicly()).toEqual([0, 0, 0])
    const read = await readAs(stack, 'manager', `feedback?category=${category}`)
    const [item] = (await dataOf(read, listFeedbackEndpoint)).items as FeedbackItem[]
    expect(item!.hidden_at).not.toBeNull()

    expect((await dataOf(await set({ hidden: false }), updateFeedbackEndpoint)).hidden_at).toBeNull()
    expect(await publicly()).toEqual([1, 1, 1])
    const { items } = await dataOf(await readAs(stack, 'owner', 'admin/audit?limit=50'), auditEndpoint)
    const changes = items.filter(({ details }) => (details as { id?: number }).id === id)
    expect(changes.map(({ details }) => (details as { hidden?: boolean }).hidden)).toEqual([false, true])
    expect(changes[1]!.details).toMatchObject({ reason: 'names a person' })
  })
})

test('words that look like a telephone number or an id are marked, and others are not', () => {
  const marked: [string, FeedbackItem['marks']][] = [
    ['Call 0912-345-678', ['phone']],
    ['+886 912 345 678', ['phone']],
    [`I am ${newAppId()}`, ['id']],
    [`U${'0123456789abcdef'.repeat(2)}`, ['id']],
    ['Station 12 at 14:30, 2026-04', []],
    ['The water station after the bridge is closed.', []],
  ]
  for (const [words, marks] of marked)
    expect({ words, marks: marksOf(words) }).toMatchObject({ words, marks })
})

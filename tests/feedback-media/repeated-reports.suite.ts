/** A report that is sent again, because its answer was lost, is stored once. */
import { expect, test } from 'bun:test'
import {
  listFeedbackEndpoint,
  submitFeedbackEndpoint,
  updateFeedbackEndpoint,
} from '#shared/contracts/feedback.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, type TestStack } from '#tests/helpers/test-stack.ts'
import { json } from './requests.ts'

const PATH = submitFeedbackEndpoint.path

export function repeatedReportTests(stack: TestStack): void {
  const send = (fields: object) => stack.fetch(PATH, json({ description: 'No water', ...fields }))
  const submit = async (fields: object) => dataOf(await send(fields), submitFeedbackEndpoint)

  test('a report that is sent again with its id, also at the same time, is stored once', async () => {
    const report_id = crypto.randomUUID()
    const category = `again-${report_id}`
    const [first, ...repeated] = await Promise.all(
      Array.from({ length: 5 }, () => submit({ report_id, category })),
    )
    for (const answer of repeated) expect(answer).toEqual(first!)
    const fixing = { ...json({ status: 'fixing' }, admin('manager')), method: 'PATCH' }
    await dataOf(await stack.fetch(`${PATH}/${first!.id}`, fixing), updateFeedbackEndpoint)
    expect(await submit({ report_id, category })).toEqual({ id: first!.id, status: 'fixing' })
    const listed = await dataOf(await stack.fetch(`${PATH}?category=${category}`), listFeedbackEndpoint)
    expect(listed.items).toHaveLength(1)
    expect((await submit({ category })).id).not.toBe((await submit({ category })).id)
    const others = await send({ report_id, category, description: 'No bread' })
    expect(await sentenceOf(others, 409, 'conflict')).toContain('report_id')
    const refused = await send({ report_id: 'x', category })
    expect(await sentenceOf(refused, 400, 'invalid-request')).toContain('report_id')
  })
}

/** Operators search reports by their words; the public board has no search. */
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

export function feedbackSearchTests(stack: TestStack): void {
  test('a search finds words of a report, of its category and of its note, and counts what it finds', async () => {
    const word = `Brunnen${crypto.randomUUID().slice(0, 8)}`
    const report = async (category: string, description: string) =>
      (await dataOf(await stack.fetch(PATH, json({ category, description })), submitFeedbackEndpoint)).id
    const byText = await report('service', `Kein Wasser am ${word}`)
    const byCategory = await report(word.toUpperCase(), 'x')
    const byNote = await report('route', '100 % _ nothing')
    const note = {
      ...json({ admin_note: `siehe ${word}`, status: 'fixing' }, admin('manager')),
      method: 'PATCH',
    }
    await dataOf(await stack.fetch(`${PATH}/${byNote}`, note), updateFeedbackEndpoint)
    const find = async (query: string) => {
      const found = await stack.fetch(`${PATH}?${query}`, { headers: admin('volunteer') })
      return dataOf(found, listFeedbackEndpoint)
    }
    const found = await find(`search=${word.toLowerCase()}`)
    expect(found.items.map(({ id }) => id)).toEqual([byNote, byCategory, byText])
    expect(found).toMatchObject({ counts: { new: 2, fixing: 1, fixed: 0 } })
    const page = await find(`search=${word}&limit=2`)
    expect(page.items).toHaveLength(2)
    expect((await find(`search=${word}&limit=2&cursor=${page.next_cursor}`)).items).toMatchObject([
      { id: byText },
    ])
    expect((await find(`search=${word}&status=fixing`)).items).toMatchObject([{ id: byNote }])
    expect((await find(`search=${word}&category=service`)).items).toMatchObject([{ id: byText }])
    // What has a meaning in a pattern is a character like others.
    expect((await find(`search=${encodeURIComponent('100 % _')}`)).items.map(({ id }) => id)).toContain(
      byNote,
    )
    expect((await find(`search=${encodeURIComponent('%')}${word}`)).items).toEqual([])
    for (const path of [PATH, `${PATH}/status`])
      expect(await sentenceOf(await stack.fetch(`${path}?search=${word}`), 400, 'invalid-request')).toContain(
        'search',
      )
  })
}

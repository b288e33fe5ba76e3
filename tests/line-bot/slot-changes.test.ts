/** The audit log's description of schedule changes. */
import { expect, test } from 'bun:test'
import { slotChanges } from '#services/line-bot/sending/set-notifications.ts'
import type { NotificationSlot } from '#shared/contracts/messages.ts'

const slot = (fields: Partial<NotificationSlot>): NotificationSlot => ({
  id: 'noon',
  enabled: true,
  hour: 12,
  dates: null,
  audience: 'participants',
  text: { 'zh-Hant': '喝水', en: 'Drink' },
  ...fields,
})

test('slots that were added, removed and changed are told with what is different', () => {
  const before = [slot({}), slot({ id: 'evening', hour: 20 }), slot({ id: 'same' })]
  const after = [
    slot({ id: 'dawn', hour: 5, text: { 'zh-Hant': '早' } }),
    slot({ hour: 13, enabled: false, dates: ['2026-04-12'], text: { 'zh-Hant': '喝水喔' } }),
    slot({ id: 'same' }),
  ]
  expect(slotChanges(before, after)).toEqual([
    { id: 'dawn', hour: 5, change: 'added', texts: { 'zh-Hant': '早' } },
    {
      id: 'noon',
      hour: 13,
      change: 'changed',
      fields: {
        hour: { from: 12, to: 13 },
        enabled: { from: true, to: false },
        dates: { from: null, to: ['2026-04-12'] },
      },
      texts: { 'zh-Hant': '喝水喔', en: null },
    },
    { id: 'evening', hour: 20, change: 'removed' },
  ])
})

test('nothing is told of a list that is the same, and a long text is cut', () => {
  expect(slotChanges([slot({})], [slot({})])).toEqual([])
  const [change] = slotChanges([slot({})], [slot({ text: { 'zh-Hant': '雨'.repeat(500) } })])
  expect(change!.texts!['zh-Hant']).toBe(`${'雨'.repeat(120)}…`)
})

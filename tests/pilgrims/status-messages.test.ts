/** The message of a status by language, beside a release that stores the one text alone. */
import { expect, test } from 'bun:test'
import { messagesOf } from '#shared/pilgrims/activity-status.ts'

test.each([
  ['Stop', { en: 'Stop', ja: '止' }, { en: 'Stop', ja: '止' }],
  ['Stop', null, null],
  // The other release has changed the message, or deleted it.
  ['Go home', { en: 'Stop', ja: '止' }, null],
  [null, { en: 'Stop', ja: '止' }, null],
])('the message %p beside %p is shown as %p', (message, messages, shown) =>
  expect(messagesOf({ message, messages })).toEqual(shown),
)

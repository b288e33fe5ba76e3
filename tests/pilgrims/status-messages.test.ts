/** The status message by language, beside a release that stores only one text. */
import { expect, test } from 'bun:test'
import { messagesOf } from '#shared/pilgrims/activity-status.ts'

test.each([
  ['Stop', { en: 'Stop', ja: '止' }, { en: 'Stop', ja: '止' }],
  ['Stop', null, null],
  // The other release has changed or deleted the message.
  ['Go home', { en: 'Stop', ja: '止' }, null],
  [null, { en: 'Stop', ja: '止' }, null],
])('the message %p beside %p is shown as %p', (message, messages, shown) =>
  expect(messagesOf({ message, messages })).toEqual(shown),
)

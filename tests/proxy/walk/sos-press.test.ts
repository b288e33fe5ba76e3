/** The states of an SOS by the service's response, and when it is sent again. */
import { expect, test } from 'bun:test'
import type { ClientError, ClientErrorCode } from '#shared/client/index.ts'
import { isDue, isShown, type SosPress, stateOf } from '#proxy/pages/walk/emergency/sos-press.ts'

const NOW_MS = 1_800_000_000_000
const HOUR_MS = 3_600_000
const PRESS: SosPress = { userId: 'ann', pressedMs: NOW_MS, place: null, sentMs: null, seenMs: null }
const refusal = (code: ClientErrorCode, status = 400): ClientError => ({ code, status, message: 'No.' })
const HERE = { isCurrent: true, isHidden: false, isSignedOut: false, nowMs: NOW_MS }

test.each([
  ['network', 0, 'waits'],
  ['timeout', 0, 'waits'],
  ['unexpected', 403, 'waits'],
  ['unexpected', 502, 'waits'],
  ['internal', 500, 'waits'],
  ['unavailable', 503, 'waits'],
  ['rate-limited', 429, 'waits'],
  ['unauthorized', 401, 'waits'],
  ['forbidden', 403, 'other-account'],
  ['erased', 410, 'refused'],
  ['invalid-request', 400, 'refused'],
] as const)(
  'after %p (%p) a press %p, of whichever walk, and is sent again only if it waits',
  (code, status, state) => {
    const error = refusal(code, status)
    expect(stateOf(PRESS, error)).toBe(state)
    for (const isCurrent of [true, false])
      expect(isDue(PRESS, error, { ...HERE, isCurrent })).toBe(state === 'waits')
    expect(isShown(PRESS, { isCurrent: false, nowMs: NOW_MS })).toBe(true)
  },
)

test('without a log-in nothing is sent, and out of sight what waits is', () => {
  expect(isDue(PRESS, null, { ...HERE, isSignedOut: true })).toBe(false)
  expect(isDue(PRESS, null, { ...HERE, isHidden: true, isCurrent: false })).toBe(true)
})

test.each([
  ['sent', {}, 23, true, true],
  ['sent', {}, 25, false, false],
  ['unalerted', { isUnalerted: true }, 1, true, true],
  ['seen', { seenMs: NOW_MS }, 11, false, true],
  ['seen', { seenMs: NOW_MS }, 13, false, false],
] as const)('%p %p: after %p h it is asked about: %p, and shown: %p', (state, more, hours, due, shown) => {
  const press = { ...PRESS, sentMs: NOW_MS, ...more }
  const nowMs = NOW_MS + hours * HOUR_MS
  expect(stateOf(press, null)).toBe(state)
  expect(isDue(press, null, { ...HERE, nowMs })).toBe(due)
  expect(isShown(press, { isCurrent: true, nowMs })).toBe(shown)
  // A press of another walk is neither polled nor shown.
  expect(isDue(press, null, { ...HERE, nowMs, isCurrent: false })).toBe(false)
  expect(isShown(press, { isCurrent: false, nowMs })).toBe(false)
  // A hidden page does not poll, and a final error stays.
  expect(isDue(press, null, { ...HERE, nowMs, isHidden: true })).toBe(false)
  expect(isDue(press, refusal('forbidden', 403), { ...HERE, nowMs })).toBe(false)
})

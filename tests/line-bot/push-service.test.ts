/** Which browser push services are called, and how their responses are interpreted. */
import { describe, expect, test } from 'bun:test'
import { deliveryOf, isAllowedService } from '#services/line-bot/web-push/push-service.ts'

const NOW = Date.parse('2026-04-12T04:00:00Z')
const HOST = 'push.example'

describe('a push service', () => {
  const SERVICES = ['push.example', '*.notify.example']
  test.each([
    ['https://push.example/1', true],
    ['https://push.example:8443/1', false],
    ['https://a.notify.example/1', true],
    ['https://a.b.notify.example/1', true],
    ['https://notify.example/1', false],
    ['https://evilnotify.example/1', false],
    ['https://other.example/1', false],
    ['https://sub.push.example/1', false],
    ['http://push.example/1', false],
    ['https://user@push.example/1', false],
    ['https://:secret@push.example/1', false],
  ])('%s is allowed: %p', (address, allowed) => {
    expect(isAllowedService(SERVICES, address)).toBe(allowed)
  })
})

describe('an answer', () => {
  const answer = (status: number, retryAfter?: string) =>
    deliveryOf(
      HOST,
      { status, headers: new Headers(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }) },
      NOW,
    )
  test.each([
    [200, 'accepted'],
    [201, 'accepted'],
    [299, 'accepted'],
    [300, 'refused'],
    [400, 'refused'],
    [403, 'refused'],
    [404, 'gone'],
    [408, 'later'],
    [410, 'gone'],
    [413, 'refused'],
    [429, 'later'],
    [499, 'refused'],
    [500, 'later'],
    [503, 'later'],
  ] as const)('%d: %s', (status, outcome) => {
    expect(answer(status)).toMatchObject({ outcome })
    if (outcome !== 'accepted') expect(answer(status)).toMatchObject({ detail: `${HOST} answered ${status}` })
  })

  test.each([
    [undefined, 0],
    ['0', 0],
    ['90', 90_000],
    ['1e9', 3_600_000],
    ['-5', 0],
    ['Sun, 12 Apr 2026 04:02:00 GMT', 120_000],
    ['Sun, 12 Apr 2026 03:00:00 GMT', 0],
    ['Mon, 13 Apr 2026 04:00:00 GMT', 3_600_000],
    ['soon', 0],
  ])('a Retry-After of %p is a wait of %d ms', (retryAfter, waitMs) => {
    expect(answer(503, retryAfter)).toEqual({ outcome: 'later', detail: `${HOST} answered 503`, waitMs })
  })
})

/** Input of the queue: which times, places and pilgrims it accepts, and its errors for the others. */
import { expect, test } from 'bun:test'
import { createClient, createMemoryStore, createTrackQueue, type Identity } from '#shared/client/index.ts'
import { readTime } from '#shared/client/queue/queued-point.ts'
import { openSqliteStore } from '#shared/client/queue/sqlite-store.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { parseSentTime } from '#shared/core/rules/sent-time.ts'
import { at, phone } from './phone-harness.ts'

const TIMES = [
  '2026-11-22T12:00:00Z',
  '2026-11-22t12:00z',
  '2026-11-22T12:00:00.1234+08:00',
  '2026-11-22T12:00:00,5-0930',
  '2026-11-22T00:30+08',
  '2024-02-29T23:59:59Z',
  '2026-02-29T12:00:00Z',
  '2026-02-30T12:00:00+00:00',
  '2026-11-22T24:00:00Z',
  '2026-11-22T12:60:00Z',
  '2026-11-22T12:00:60Z',
  '2026-13-01T12:00:00Z',
  '2026-11-22T12:00:00+24:00',
  '2026-11-22T12:00:00+08:60',
  '2026-11-22T12:00:00',
  '2026-11-22 12:00:00Z',
  '2026-11-22',
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00+01:00',
  '2999-12-31T23:59:59Z',
  '3000-01-01T00:00:00Z',
  '0050-01-01T00:00:00Z',
  '5',
  '1760000000000',
  'yesterday',
  '',
  0,
  5.7,
  -1,
  32_503_680_000_000,
  NaN,
  Infinity,
]

test.each(TIMES)('reads the time %p as the service does', (given) => {
  const ms = readTime(given)
  expect(Number.isNaN(ms) ? null : ms).toBe(parseSentTime(given, createCalendar('Asia/Taipei')))
})

test('a Date is its instant; anything else is no time', () => {
  expect(readTime(new Date(1_760_000_000_123))).toBe(1_760_000_000_123)
  for (const given of [new Date('?'), true, [], {}, null, '2026:11:22 12:00:00'])
    expect(readTime(given)).toBeNaN()
})

test('seconds, and places that are not on Earth, are refused at once, and nothing of the call is kept', async () => {
  const { queue } = phone()
  const wrong = [
    [{ ...at(1), timestamp: 1_760_000_000 }, /^timestamp: 1760000000 looks like seconds/],
    [{ ...at(1), lat: NaN }, /^lat: NaN is no place on Earth/],
    [{ ...at(1), lat: 90.01 }, /^lat: 90.01 is no place/],
    [{ ...at(1), lng: -180.5 }, /^lng: -180.5 is no place .* from -180 to 180/],
    [{ ...at(1), lat: '24' as unknown as number }, /^lat: 24 is no place/],
    [{ ...at(1), lng: undefined as unknown as number }, /^lng: undefined is no place/],
  ] as const
  for (const [point, message] of wrong)
    for (const kept of [await queue.record([at(2), point]), await queue.checkIn(point)])
      expect(kept).toMatchObject({
        ok: false,
        error: { code: 'invalid-request', message: expect.stringMatching(message) },
      })
  expect(await queue.waiting()).toEqual([])
})

function queueOf(identity: () => Identity | undefined | Promise<Identity | undefined>) {
  const client = createClient({ baseUrl: '', identity, fetch: () => Promise.reject(new TypeError('cut')) })
  return createTrackQueue({ client, store: createMemoryStore() })
}

test.each(['', '.', 'a b', 'x'.repeat(129), '進香', 7 as unknown as string])(
  'the user id %p is no owner of points, and the device says so',
  async (userId) => {
    const queue = queueOf(() => ({ userId }))
    const error = { code: 'unauthorized', message: expect.stringContaining('must be 1 to 128 characters') }
    expect(await queue.record(at(1))).toMatchObject({ ok: false, error })
    expect(await queue.waiting()).toEqual([])
    expect(await queue.send()).toMatchObject({ why: 'unauthorized', message: error.message })
  },
)

test.each([
  [
    'throws',
    () => {
      throw new Error('LIFF is not ready')
    },
  ],
  ['rejects', () => Promise.reject(new Error('LIFF is not ready'))],
] as const)('an identity that %s is not told as a fault of the store', async (_, identity) => {
  const queue = queueOf(identity)
  const message = 'Who is signed in cannot be read: LIFF is not ready'
  expect(await queue.ready).toMatchObject({ loaded: false, why: 'unauthorized', message })
  expect(await queue.record(at(1))).toMatchObject({ ok: false, error: { code: 'unauthorized', message } })
  expect(await queue.send()).toMatchObject({ why: 'unauthorized', nextAttemptAt: expect.any(Number) })
  expect(await queue.waiting()).toEqual([])
  expect(await queue.rejected()).toEqual([])
  await queue.resume()
  await queue.dismiss([])
})

test('a store that cannot be opened says which file, and what it must be', () => {
  expect(() => openSqliteStore('/nonexistent/x.db')).toThrow(
    /^The store cannot be opened: \/nonexistent\/x.db must be a SQLite file or a new file in a folder that exists/,
  )
  expect(() => openSqliteStore(import.meta.path)).toThrow('file is not a database')
})

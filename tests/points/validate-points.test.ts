import { describe, expect, test } from 'bun:test'
import { acceptCheckIn, acceptTrack, latestPosition } from '#shared/points/accept.ts'
import type { Point } from '#shared/points/point.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { MEASURED, NOT_MEASURED } from '#tests/scheduler/walks.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'

const NOW = Date.parse('2026-04-10T12:00:00Z')
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const rules = {
  calendar: createCalendar('Asia/Taipei'),
  area: (lat: number) => lat > 20,
  maxAgeMs: 30 * DAY,
  clearedMs: () => null,
}
const place = { lat: 23.5, lng: 120.25 }

const checkIn = (timestamp?: number | string | null, more: object = {}): Point =>
  acceptCheckIn({ ...place, timestamp, ...more }, NOW, rules)

const refusal = (act: () => unknown): Refusal => {
  try {
    act()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('It was accepted.')
}

describe('a check-in', () => {
  test.each([[undefined], [null]])('without a timestamp (%p) has the time of receipt', (timestamp) => {
    expect(checkIn(timestamp)).toMatchObject({ kind: 'c', sentMs: NOW, recordedMs: NOW, receivedMs: NOW })
  })

  test.each([
    ['a second ago', NOW - SECOND],
    ['now', NOW],
    ['just young enough', NOW - 30 * DAY],
  ])('stands where it was sent: %s', (_, t) => {
    expect(checkIn(t)).toMatchObject({ sentMs: t, recordedMs: t, receivedMs: NOW })
  })

  test.each([
    ['a millisecond', 1],
    ['an hour', HOUR],
    ['24 hours', DAY],
  ])('%s ahead stands where it was received, and keeps the time it sent', (_, ahead) => {
    expect(checkIn(NOW + ahead)).toMatchObject({ sentMs: NOW + ahead, recordedMs: NOW, receivedMs: NOW })
  })

  test('what a phone still has of a cleared rehearsal is refused, and what came after is not', () => {
    const cleared = { ...rules, clearedMs: () => NOW - SECOND }
    const before = { ...place, timestamp: NOW - SECOND - 1 }
    expect(() => acceptCheckIn(before, NOW, cleared)).toThrow('rehearsal')
    const { points, rejected } = acceptTrack([before, { ...place, timestamp: NOW - SECOND }], NOW, cleared)
    expect([points.length, rejected]).toEqual([1, [{ index: 0, reason: 'too-old' }]])
    expect(acceptCheckIn({ ...place, timestamp: NOW - SECOND }, NOW, cleared).recordedMs).toBe(NOW - SECOND)
    const byFastClock = { ...rules, clearedMs: () => NOW + 3_600 * SECOND }
    expect(acceptTrack([before], NOW, byFastClock).rejected).toEqual([])
  })

  test.each([
    ['further ahead', NOW + DAY + 1, 'ahead'],
    ['years ahead', '2031-01-01T00:00:00Z', 'ahead'],
    ['too old', NOW - 30 * DAY - 1, '30 days'],
    ['in seconds', Math.floor(NOW / 1_000), 'send milliseconds'],
    ['in seconds of another year', 1_000_000_000, 'send milliseconds'],
    ['a time of 1970', 999_999_999, '30 days'],
    ['without a zone', '2026-04-10T12:00:00', 'zone'],
    ['on no day', '2026-02-30T12:00:00Z', 'zone'],
    ['with an empty time', '', 'zone'],
  ])('%s is refused, and the field is named', (_, timestamp, says) => {
    const { httpStatus, reason, message } = refusal(() => checkIn(timestamp))
    expect({ httpStatus, reason }).toEqual({ httpStatus: 400, reason: 'invalid-request' })
    expect(message).toStartWith('timestamp: ')
    expect(message).toContain(says)
  })

  test.each([
    ['ISO 8601', '2026-04-10T18:30:00+08:00'],
    ['epoch milliseconds', Date.parse('2026-04-10T10:30:00Z')],
    ['EXIF, in the event’s zone', '2026:04:10 18:30:00'],
  ])('with its time as %s', (_, timestamp) => {
    expect(checkIn(timestamp).sentMs).toBe(Date.parse('2026-04-10T10:30:00Z'))
  })

  test('null means absent', () => {
    expect(checkIn(NOW, NOT_MEASURED)).toEqual(checkIn(NOW))
  })

  test('keeps what was measured, and whether it lies in the area', () => {
    expect(checkIn(NOW, MEASURED)).toMatchObject({ ...place, ...MEASURED, inRange: true })
    expect(checkIn(NOW, { lat: 19 }).inRange).toBe(false)
  })
})

/** Validates one track point. @returns the point, or the reason for its rejection */
function trackPoint(given: unknown): Point | string {
  const { points, rejected } = acceptTrack([given], NOW, rules)
  expect(points.length + rejected.length).toBe(1)
  return points[0] ?? rejected[0]!.reason
}

describe('a track point', () => {
  test.each([
    ['no time', { ...place }, 'no-timestamp'],
    ['an empty object', {}, 'no-timestamp'],
    ['null for a time', { ...place, timestamp: null }, 'no-timestamp'],
    ['no time and no place', { accuracy: 5 }, 'no-timestamp'],
    ['null for both names of a time', { ...place, timestamp: null, datetime: null }, 'no-timestamp'],
    ['a time without a zone', { ...place, timestamp: '2026-04-10T12:00:00' }, 'invalid-timestamp'],
    ['a day that is none', { ...place, timestamp: '2026-02-29T12:00:00Z' }, 'invalid-timestamp'],
    ['an empty time', { ...place, timestamp: '' }, 'invalid-timestamp'],
    ['true for a time', { ...place, timestamp: true }, 'invalid-timestamp'],
    ['a list for a time', { ...place, timestamp: [NOW] }, 'invalid-timestamp'],
    ['infinity for a time', { ...place, timestamp: Infinity }, 'invalid-timestamp'],
    ['a negative time', { ...place, timestamp: -1 }, 'invalid-timestamp'],
    ['a time as long as a letter', { ...place, timestamp: 'x'.repeat(65) }, 'invalid-timestamp'],
    ['more than five minutes ahead', { ...place, timestamp: NOW + 5 * MINUTE + 1 }, 'in-the-future'],
    ['more than thirty days old', { ...place, timestamp: NOW - 30 * DAY - 1 }, 'too-old'],
    ['seconds for milliseconds', { ...place, timestamp: NOW / 1_000 }, 'in-seconds'],
    ['a latitude above 90', { ...place, lat: 90.0001, timestamp: NOW }, 'out-of-bounds'],
    ['a latitude below -90', { ...place, lat: -90.0001, timestamp: NOW }, 'out-of-bounds'],
    ['a longitude above 180', { ...place, lng: 180.0001, timestamp: NOW }, 'out-of-bounds'],
    ['a longitude below -180', { ...place, lng: -180.0001, timestamp: NOW }, 'out-of-bounds'],
    ['no latitude', { lng: 120, timestamp: NOW }, 'invalid-position'],
    ['null for a longitude', { lat: 23, lng: null, timestamp: NOW }, 'invalid-position'],
    ['a latitude in a string', { lat: '23.5', lng: 120, timestamp: NOW }, 'invalid-position'],
    ['infinity for a latitude', { lat: Infinity, lng: 120, timestamp: NOW }, 'invalid-position'],
    ['a mode that is a number', { ...place, timestamp: NOW, mode: 5 }, 'invalid-field'],
    ['a mode longer than its column', { ...place, timestamp: NOW, mode: 'x'.repeat(33) }, 'invalid-field'],
    ['a NUL in its source', { ...place, timestamp: NOW, source: 'a\u0000b' }, 'invalid-field'],
    ['a lone surrogate in its source', { ...place, timestamp: NOW, source: '\ud83d' }, 'invalid-field'],
    ['a speed that is text', { ...place, timestamp: NOW, speed: 'fast' }, 'invalid-field'],
    ['an accuracy that no column holds', { ...place, timestamp: NOW, accuracy: 1e308 }, 'invalid-field'],
    ['null', null, 'not-an-object'],
    ['a number', 5, 'not-an-object'],
    ['text', 'here', 'not-an-object'],
  ])('with %s is rejected', (_, given, reason) => {
    expect(trackPoint(given)).toBe(reason)
  })

  test.each([
    ['five minutes ahead', NOW + 5 * MINUTE],
    ['thirty days old', NOW - 30 * DAY],
    ['of now', NOW],
  ])('%s is taken, where it was sent', (_, timestamp) => {
    expect(trackPoint({ ...place, timestamp })).toMatchObject({
      kind: 't',
      sentMs: timestamp,
      recordedMs: timestamp,
      receivedMs: NOW,
    })
  })

  test.each([
    ['bounds', { lat: 90, lng: 180 }, true],
    ['opposite bounds', { lat: -90, lng: -180 }, false],
    ['a place outside the area', { lat: 0, lng: 0 }, false],
  ])('%s are taken', (_, at, inRange) => {
    expect(trackPoint({ ...at, timestamp: NOW })).toMatchObject({ ...at, inRange })
  })

  test('by the other names that clients use', () => {
    const taken = trackPoint({ ...place, timestamp: NOW - HOUR })
    const timestamp = '2026:04:10 19:00:00'
    expect(trackPoint({ latitude: 23.5, longitude: 120.25, datetime: timestamp })).toEqual(taken)
    expect(trackPoint({ latitude: 23.5, lon: 120.25, timestamp })).toEqual(taken)
    expect(
      trackPoint({ lat: null, latitude: 23.5, lng: 120.25, timestamp: null, datetime: timestamp }),
    ).toEqual(taken)
  })

  test('the plain name wins over another one', () => {
    expect(
      trackPoint({ ...place, latitude: 1, lon: 2, longitude: 3, timestamp: NOW, datetime: 'never' }),
    ).toEqual(trackPoint({ ...place, timestamp: NOW }))
  })

  test('null means absent, and what nobody asked for is ignored', () => {
    const more = { ...NOT_MEASURED, mood: 'low' }
    expect(trackPoint({ ...place, timestamp: NOW, ...more })).toEqual(
      trackPoint({ ...place, timestamp: NOW }),
    )
  })
})

test('in a track one bad point fails no other, and is named by its index', () => {
  const good = (t: number) => ({ ...place, timestamp: t })
  const given = [good(NOW - 2), {}, good(NOW - 1), 'here', { lat: 99, lng: 0, timestamp: NOW }, good(NOW)]
  const { points, rejected } = acceptTrack(given, NOW, rules)
  expect(points.map(({ sentMs }) => sentMs - NOW)).toEqual([-2, -1, 0])
  expect(rejected).toEqual([
    { index: 1, reason: 'no-timestamp' },
    { index: 3, reason: 'not-an-object' },
    { index: 4, reason: 'out-of-bounds' },
  ])
})

describe('the latest position', () => {
  const at = (t: number, lat: number) => ({ lat, lng: 120, timestamp: t })
  const latest = (...given: object[]) => latestPosition(acceptTrack(given, NOW, rules).points)

  test('is that of the latest point, in any order', () => {
    const expected = { t: NOW - 1, lat: 23, lng: 120 }
    expect(latest(at(NOW - 3, 21), at(NOW - 1, 23), at(NOW - 2, 22))).toEqual(expected)
    expect(latest(at(NOW - 2, 22), at(NOW - 3, 21), at(NOW - 1, 23))).toEqual(expected)
  })

  test('is by the place in time, not by the time sent', () => {
    const ahead = acceptCheckIn(at(NOW + HOUR, 24), NOW - MINUTE, rules)
    const track = acceptTrack([at(NOW, 23)], NOW, rules).points
    expect(latestPosition([ahead, ...track])).toEqual({ t: NOW, lat: 23, lng: 120 })
  })

  test('is rough only when no better one is of the last hour', () => {
    const rough = (t: number, lat: number) => ({ ...at(t, lat), accuracy: 100 })
    expect(latest(at(NOW - HOUR, 21), rough(NOW, 22))).toEqual({ t: NOW - HOUR, lat: 21, lng: 120 })
    expect(latest(at(NOW - HOUR - 1, 21), rough(NOW, 22))).toEqual({ t: NOW, lat: 22, lng: 120, rough: true })
    expect(latest({ ...at(NOW - 1, 21), accuracy: 99.9 }, rough(NOW, 22))).toMatchObject({ lat: 21 })
  })

  test('is never exactly 0,0', () => {
    const zero = { ...at(NOW, 0), lng: 0 }
    const accepted = acceptTrack([zero], NOW, { ...rules, area: () => true }).points
    expect(accepted).toHaveLength(1)
    expect(latestPosition(accepted)).toBeNull()
    const { points } = acceptTrack([at(NOW - 3, 21)], NOW, rules)
    expect(latestPosition([...points, ...accepted])).toMatchObject({ lat: 21 })
  })

  test('leaves out what lies outside the area', () => {
    expect(latest(at(NOW - 3, 21), at(NOW - 1, 5))).toEqual({ t: NOW - 3, lat: 21, lng: 120 })
  })

  test('is null where there is none', () => {
    expect(latest()).toBeNull()
    expect(latest(at(NOW, 5))).toBeNull()
  })
})

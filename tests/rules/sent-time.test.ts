import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { parseSentTime } from '#shared/core/rules/sent-time.ts'

const taipei = createCalendar('Asia/Taipei')
const berlin = createCalendar('Europe/Berlin')
const read = (value: number | string) => parseSentTime(value, taipei)
const utc = (iso: string) => Date.parse(iso)

/** Values that the contract accepts: any finite number, any string. */
const END_MS = Date.UTC(3000, 0, 1)

describe('ISO 8601 with a zone', () => {
  test.each([
    ['2026-04-10T08:30:00Z', '2026-04-10T08:30:00.000Z'],
    ['2026-04-10t08:30:00z', '2026-04-10T08:30:00.000Z'],
    ['2026-04-10T08:30Z', '2026-04-10T08:30:00.000Z'],
    ['2026-04-10T08:30:00.123Z', '2026-04-10T08:30:00.123Z'],
    ['2026-04-10T08:30:00,5Z', '2026-04-10T08:30:00.500Z'],
    ['2026-04-10T08:30:00.1239999Z', '2026-04-10T08:30:00.123Z'],
    ['2026-04-10T08:30:00+08:00', '2026-04-10T00:30:00.000Z'],
    ['2026-04-10T08:30:00+0800', '2026-04-10T00:30:00.000Z'],
    ['2026-04-10T08:30:00+08', '2026-04-10T00:30:00.000Z'],
    ['2026-04-10T08:30:00-03:30', '2026-04-10T12:00:00.000Z'],
    ['2026-04-10T08:30:00.250-0330', '2026-04-10T12:00:00.250Z'],
    ['2026-01-01T00:00:00+05:45', '2025-12-31T18:15:00.000Z'],
    ['2026-04-10T08:30:00-00:00', '2026-04-10T08:30:00.000Z'],
    ['2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000Z'],
    ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['2999-12-31T23:59:59.999Z', '2999-12-31T23:59:59.999Z'],
  ])('%s', (given, meant) => {
    expect(read(given)).toBe(utc(meant))
  })

  test.each([
    ['no zone', '2026-04-10T08:30:00'],
    ['a day alone', '2026-04-10'],
    ['a space for the T', '2026-04-10 08:30:00Z'],
    ['29 February in a common year', '2026-02-29T12:00:00Z'],
    ['29 February of 2100', '2100-02-29T12:00:00Z'],
    ['30 February', '2028-02-30T12:00:00Z'],
    ['31 April', '2026-04-31T12:00:00Z'],
    ['month 13', '2026-13-01T12:00:00Z'],
    ['month 0', '2026-00-10T12:00:00Z'],
    ['day 0', '2026-04-00T12:00:00Z'],
    ['24 o’clock', '2026-04-10T24:00:00Z'],
    ['minute 60', '2026-04-10T08:60:00Z'],
    ['a leap second', '2026-06-30T23:59:60Z'],
    ['zone hour 24', '2026-04-10T08:30:00+24:00'],
    ['zone minute 60', '2026-04-10T08:30:00+08:60'],
    ['a zone by name', '2026-04-10T08:30:00 Asia/Taipei'],
    ['before 1970', '1969-12-31T23:59:59.999Z'],
    ['before 1970 by its zone', '1970-01-01T00:00:00+08:00'],
    ['from the year 3000 on', '3000-01-01T00:00:00Z'],
    ['the year 75, which is not 1975', '0075-04-10T08:30:00Z'],
    ['five digits of a year', '12026-04-10T08:30:00Z'],
    ['something after it', '2026-04-10T08:30:00Z\n'],
    ['digits of another script', '２０２６-04-10T08:30:00Z'],
    ['a number in a string', '1775809800000'],
    ['words', 'yesterday'],
    ['nothing', ''],
  ])('%s: null', (_, given) => {
    expect(read(given)).toBeNull()
  })

  test.each([
    ['2026-00-10T12:00:00.000Z'],
    ['2026-13-01T12:00:00.000Z'],
    ['2026-04-00T12:00:00.000Z'],
    ['2026-02-29T12:00:00.000Z'],
    ['2028-02-30T12:00:00.000Z'],
    ['2026-04-31T12:00:00.000Z'],
    ['2026-04-10T24:00:00.000Z'],
    ['2026-04-10T08:60:00.000Z'],
    ['2026-06-30T23:59:60.000Z'],
    ['1969-12-31T23:59:59.999Z'],
    ['3000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z'],
  ])('%s, as computers write, is no time that there is', (given) => expect(read(given)).toBeNull())

  test('every time is read back in every zone', () => {
    const zones = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 })
    fc.assert(
      fc.property(fc.integer({ min: 86_400_000, max: END_MS - 86_400_001 }), zones, (ms, minutes) => {
        const two = (n: number) => String(n).padStart(2, '0')
        const ahead = Math.abs(minutes)
        const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
        const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1)
        expect(read(local + zone)).toBe(ms)
      }),
      { numRuns: 500 },
    )
  })
})

describe('epoch milliseconds', () => {
  test.each([
    [0, 0],
    [1_775_809_800_000, 1_775_809_800_000],
    [1_775_809_800_000.9, 1_775_809_800_000],
    [END_MS - 1, END_MS - 1],
  ])('%p', (given, ms) => {
    expect(read(given)).toBe(ms)
  })

  test.each([-1, -0.5, -1e300, END_MS, 1e300, Number.MAX_SAFE_INTEGER, NaN, Infinity, -Infinity])(
    '%p: null',
    (given) => {
      expect(read(given)).toBeNull()
    },
  )
})

describe('the EXIF form, in the event’s time zone', () => {
  test.each([
    ['Taipei', taipei, '2026:04:10 08:30:00', '2026-04-10T00:30:00Z'],
    ['Berlin in winter', berlin, '2026:01:10 08:30:00', '2026-01-10T07:30:00Z'],
    ['Berlin in summer', berlin, '2026:07:10 08:30:00', '2026-07-10T06:30:00Z'],
    ['an hour that comes twice: the first', berlin, '2026:10:25 02:30:00', '2026-10-25T00:30:00Z'],
    ['an hour that never comes: a clock not set', berlin, '2026:03:29 02:30:00', '2026-03-29T01:30:00Z'],
    ['29 February', taipei, '2028:02:29 00:00:00', '2028-02-28T16:00:00Z'],
  ])('%s', (_, calendar, given, meant) => {
    expect(parseSentTime(given, calendar)).toBe(utc(meant))
  })

  test.each([
    '2026:02:29 08:30:00',
    '2026:02:30 08:30:00',
    '2026:04:10 24:00:00',
    '2026:04:10 08:60:00',
    '2026:04:10 08:30:60',
    '0000:00:00 00:00:00',
    '0075:04:10 08:30:00',
    '1970:01:01 07:59:59',
    '3000:01:01 08:00:00',
    '2026:04:10 08:30',
    '2026:04:10T08:30:00',
    '2026:04:10 08:30:00Z',
    '2026:04:10 08:30:00.5',
  ])('%s: null', (given) => {
    expect(read(given)).toBeNull()
  })
})

test('every value of a client is parsed to null or to a whole time in range', () => {
  const digits = fc.stringMatching(/^\d{4}[-:]\d\d[-:]\d\d[T ]\d\d:\d\d:\d\d(Z|[+-]\d\d:?\d\d)?$/)
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.string(), digits), (value) => {
      const ms = read(value)
      expect(ms === null || (Number.isSafeInteger(ms) && ms >= 0 && ms < END_MS)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

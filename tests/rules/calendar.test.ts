import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Calendar, createCalendar } from '#shared/core/rules/calendar.ts'

const HOUR_MS = 3_600_000
const utc = (iso: string): number => Date.parse(iso)

/** Unusual zones too: quarter-hour offsets, a skipped or repeated midnight, and a half-hour change. */
const ZONES = [
  'Asia/Taipei',
  'Europe/Berlin',
  'UTC',
  'Asia/Kathmandu',
  'America/Santiago',
  'America/Havana',
  'Africa/Cairo',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
]
const calendars = new Map(ZONES.map((zone) => [zone, createCalendar(zone)]))

/** A wall clock that is independent of the code under test. */
const clocks = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
)
/** Local time as `YYYY-MM-DD HH:MM:SS`. */
const wall = (zone: string, ms: number): string => clocks.get(zone)!.format(ms)

const zones = fc.constantFrom(...ZONES)
const from = utc('2023-06-01T00:00:00Z')
const to = utc('2031-06-01T00:00:00Z')
const instants = fc.oneof(
  fc.integer({ min: from, max: to }),
  // At and near full hours, where days, hours and offsets change.
  fc
    .tuple(
      fc.integer({ min: from / HOUR_MS, max: to / HOUR_MS }),
      fc.constantFrom(0, 0.25, 0.5, 0.75),
      fc.constantFrom(-1, 0, 1),
    )
    .map(([hour, part, ms]) => (hour + part) * HOUR_MS + ms),
)

const everywhere = (holds: (calendar: Calendar, ms: number, zone: string) => void): void => {
  fc.assert(
    fc.property(zones, instants, (zone, ms) => holds(calendars.get(zone)!, ms, zone)),
    { numRuns: 2_000 },
  )
}

test('a zone that does not exist', () => {
  expect(() => createCalendar('Asia/Atlantis')).toThrow(RangeError)
})

describe('days', () => {
  test('are named as the zone’s clocks name them', () => {
    everywhere((calendar, ms, zone) => {
      expect(calendar.day(ms)).toBe(wall(zone, ms).slice(0, 10))
    })
  })

  test('span their instants and no others, without gaps', () => {
    everywhere((calendar, ms) => {
      const day = calendar.day(ms)
      const [start, end] = calendar.span(day)
      expect(start).toBeLessThanOrEqual(ms)
      expect(end).toBeGreaterThan(ms)
      expect(calendar.dayStart(ms)).toBe(start)
      expect(calendar.day(start)).toBe(day)
      expect(calendar.day(start - 1) < day).toBe(true)
      expect(calendar.day(end - 1)).toBe(day)
      expect(calendar.day(end) > day).toBe(true)
      expect(calendar.span(calendar.day(end))[0]).toBe(end)
    })
  })

  test.each([
    ['Asia/Taipei', '2026-04-10', '2026-04-09T16:00:00Z', 24],
    ['Asia/Kathmandu', '2026-04-10', '2026-04-09T18:15:00Z', 24],
    ['Europe/Berlin', '2026-03-28', '2026-03-27T23:00:00Z', 24],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', 23],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00Z', 24],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', 25],
    ['Europe/Berlin', '2026-10-26', '2026-10-25T23:00:00Z', 24],
    // Midnight is skipped: the day begins at one.
    ['America/Santiago', '2026-09-05', '2026-09-05T04:00:00Z', 24],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z', 23],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z', 23],
    // The hour before midnight occurs twice.
    ['America/Santiago', '2026-04-04', '2026-04-04T03:00:00Z', 25],
    // The hour after midnight occurs twice.
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z', 25],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00Z', 23.5],
  ] as const)('%s, %s: from %s, %p hours', (zone, day, start, hours) => {
    expect(calendars.get(zone)!.span(day)).toEqual([utc(start), utc(start) + hours * HOUR_MS])
  })
})

describe('hours', () => {
  test('start within the hour before, on the clock’s own hour, and not before the day', () => {
    everywhere((calendar, ms, zone) => {
      const start = calendar.hourStart(ms)
      expect(start).toBeLessThanOrEqual(ms)
      expect(start).toBeGreaterThan(ms - HOUR_MS)
      expect(calendar.hourStart(start)).toBe(start)
      expect(wall(zone, start).slice(0, 13)).toBe(wall(zone, ms).slice(0, 13))
      expect(start).toBeGreaterThanOrEqual(calendar.dayStart(ms))
    })
  })

  test('follow each other', () => {
    everywhere((calendar, ms) => {
      const start = calendar.hourStart(ms)
      expect(calendar.hourStart(start - 1)).toBeLessThan(start)
      expect(calendar.hourStart(start + HOUR_MS)).toBeGreaterThan(start)
    })
  })

  test.each([
    ['Asia/Kathmandu', '2026-04-10T08:30:00Z', '2026-04-10T08:15:00Z'],
    ['Europe/Berlin', '2026-03-29T01:10:00Z', '2026-03-29T01:00:00Z'],
    // The repeated hour from two to three counts as two hours.
    ['Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T00:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T01:00:00Z'],
    // Two o'clock is followed by half past two.
    ['Australia/Lord_Howe', '2026-10-03T15:45:00Z', '2026-10-03T15:30:00Z'],
  ] as const)('%s: %s is in the hour from %s', (zone, at, start) => {
    expect(calendars.get(zone)!.hourStart(utc(at))).toBe(utc(start))
  })

  test('a day of 25 hours has 25, one of 23 has 23', () => {
    const berlin = calendars.get('Europe/Berlin')!
    const hoursOf = (day: string) => {
      const [start, end] = berlin.span(day)
      const hours = new Set<number>()
      for (let ms = start; ms < end; ms += HOUR_MS / 4) hours.add(berlin.hourStart(ms))
      return hours.size
    }
    expect(['2026-10-25', '2026-03-29', '2026-03-28'].map(hoursOf)).toEqual([25, 23, 24])
  })
})

describe('wall-clock times', () => {
  test('lead back to their instant, or to the first of two', () => {
    everywhere((calendar, ms, zone) => {
      const shown = wall(zone, ms)
      const [year, month, day, hour, minute, second] = shown.split(/[- :]/).map(Number)
      const instant = calendar.instant(year!, month!, day!, hour!, minute!, second!)
      expect(wall(zone, instant)).toBe(shown)
      expect(instant).toBeLessThanOrEqual(ms)
      expect(instant).toBeGreaterThan(ms - HOUR_MS - 1_000)
    })
  })

  test('a time that occurs twice is the first one', () => {
    const berlin = calendars.get('Europe/Berlin')!
    expect(berlin.instant(2026, 10, 25, 2, 30, 0)).toBe(utc('2026-10-25T00:30:00Z'))
    expect(berlin.instant(2026, 10, 25, 3, 0, 0)).toBe(utc('2026-10-25T02:00:00Z'))
  })

  test('a time that never occurs is read with the offset before the change', () => {
    const berlin = calendars.get('Europe/Berlin')!
    expect(berlin.instant(2026, 3, 29, 1, 59, 59)).toBe(utc('2026-03-29T00:59:59Z'))
    expect(berlin.instant(2026, 3, 29, 2, 30, 0)).toBe(utc('2026-03-29T01:30:00Z'))
    expect(berlin.instant(2026, 3, 29, 3, 0, 0)).toBe(utc('2026-03-29T01:00:00Z'))
  })
})

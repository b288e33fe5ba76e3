import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCalendar, type Calendar } from '#shared/core/rules/calendar.ts'
import {
  type FoldPoint,
  addTotals,
  byInstant,
  type DayChange,
  refold,
  type StoredDay,
  type Totals,
  WholeFold,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import { recompute, type TotalsByPeriod } from './reference-fold.ts'
import { histories, placeAt, point, identity } from '../rules/walks.ts'

/** How far a phone's clock may be ahead of the effective time of its check-in. */
const CLOCK_AHEAD_MS = 86_400_000

const isNothing = (sums: object): boolean => Object.values(sums).every((figure) => figure === 0)

function write(periods: TotalsByPeriod, { day, delta, end }: DayChange): void {
  const { hours, modes, ...sums } = delta
  const stored = (periods.days[day] ??= { ...zeroTotals(), end })
  addTotals(stored, sums)
  stored.end = end
  for (const [hour, sums] of hours) addTotals((periods.hours[hour] ??= zeroTotals()), sums)
  for (const [mode, { distanceMm, carbonMg }] of modes) {
    const sums = (periods.modes[`${day} ${mode}`] ??= { distanceMm: 0, carbonMg: 0 })
    sums.distanceMm += distanceMm
    sums.carbonMg += carbonMg
  }
}

/** A pilgrim without points. */
function createStoredPilgrim(calendar: Calendar) {
  const points = new Map<string, FoldPoint>()
  const periods: TotalsByPeriod = { days: {}, hours: {}, modes: {} }

  /** The days from `from`, ascending, preceded by the last day before it. */
  const readDays = (from: string): StoredDay[] => {
    const days = Object.keys(periods.days).sort()
    const first = days.findLast((day) => day < from) ?? from
    return days.filter((day) => day >= first).map((day) => ({ day, end: periods.days[day]!.end }))
  }

  const readPoints = (day: string): FoldPoint[] => {
    const [fromMs, toMs] = calendar.span(day)
    return [...points.values()].filter(
      ({ t, sentMs }) => t >= fromMs && t < toMs && sentMs >= fromMs && sentMs < toMs + CLOCK_AHEAD_MS,
    )
  }

  return {
    /** Stores a batch and folds its new points. Returns the days whose points had to be read again. */
    flush(batch: readonly FoldPoint[]): string[] {
      const added = new Map<string, FoldPoint>()
      for (const point of batch)
        if (!points.has(identity(point))) added.getOrInsertComputed(identity(point), () => point)
      if (added.size === 0) return []
      for (const [id, point] of added) points.set(id, point)

      const from = calendar.day(Math.min(...[...added.values()].map(({ t }) => t)))
      const plan = refold(readDays(from), [...added.values()], calendar)
      const reread: string[] = []
      let step = plan.next()
      while (!step.done) {
        reread.push(step.value)
        const old = readPoints(step.value).filter((point) => !added.has(identity(point)))
        old.sort(byInstant)
        // Small pages of one to five points.
        for (const size = 1 + (old.length % 5); old.length > 0;)
          step = plan.next({ points: old.splice(0, size), isLast: false })
        step = plan.next({ points: [], isLast: true })
      }
      for (const change of step.value) write(periods, change)
      return reread
    },

    /** All stored figures; hours and modes that sum to zero are omitted. */
    periods(): TotalsByPeriod {
      const something = <T extends object>(record: Record<string, T>) =>
        Object.fromEntries(Object.entries(record).filter(([, sums]) => !isNothing(sums)))
      return { days: periods.days, hours: something(periods.hours), modes: something(periods.modes) }
    },

    totals(): Totals {
      const totals = zeroTotals()
      for (const day of Object.values(periods.days)) addTotals(totals, day)
      return totals
    },
  }
}

const RUNS = 500
const taipei = createCalendar('Asia/Taipei')
/** Midnight between 10 and 11 April. */
const MIDNIGHT = Date.parse('2026-04-11T00:00:00+08:00')
const HOUR = 3_600_000
const MINUTE = 60_000

/** Flushes batch by batch. After each, expects the same figures as from all points at once. */
function flushAll(batches: readonly (readonly FoldPoint[])[], calendar = taipei) {
  const pilgrim = createStoredPilgrim(calendar)
  const reread = batches.map((batch) => pilgrim.flush(batch))
  expect(pilgrim.periods()).toEqual(recompute([...new Set(batches.flat())], calendar))
  return { pilgrim, reread }
}

describe('any order, any split into flushes, any repetition', () => {
  test('after every flush the totals are those of the points so far', () => {
    fc.assert(
      fc.property(histories(), ({ calendar, batches }) => {
        const pilgrim = createStoredPilgrim(calendar)
        const sofar = new Set<FoldPoint>()
        for (const batch of batches) {
          pilgrim.flush(batch)
          for (const p of batch) sofar.add(p)
          expect(pilgrim.periods()).toEqual(recompute([...sofar], calendar))
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('points one by one, shuffled, together, and repeated give the same totals', () => {
    const shuffled = histories(25).chain((history) =>
      fc.record({
        history: fc.constant(history),
        order: fc.shuffledSubarray([...history.points], { minLength: history.points.length }),
      }),
    )
    fc.assert(
      fc.property(shuffled, ({ history: { calendar, points, batches }, order }) => {
        const atOnce = createStoredPilgrim(calendar)
        atOnce.flush(points)
        const single = createStoredPilgrim(calendar)
        for (const p of order) single.flush([p])
        expect(single.periods()).toEqual(atOnce.periods())
        for (const batch of batches) expect(single.flush(batch)).toEqual([])
        expect(single.periods()).toEqual(atOnce.periods())
      }),
      { numRuns: RUNS },
    )
  })
})

describe('what is read again', () => {
  test('no day, while points arrive in order', () => {
    fc.assert(
      fc.property(histories(), ({ calendar, points }) => {
        const pilgrim = createStoredPilgrim(calendar)
        // Points of the same instant arrive together.
        const instants = Map.groupBy(points, ({ t }) => t)
        for (const [, together] of [...instants].sort(([a], [b]) => a - b))
          expect(pilgrim.flush(together)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  test('one day, if its end is unchanged', () => {
    const walk = [-30, -20, -5, 5, 20].map((minute, n) => point(MIDNIGHT + minute * MINUTE, n * 500))
    const late = point(MIDNIGHT - 25 * MINUTE, 300)
    expect(flushAll([walk, [late]]).reread).toEqual([[], ['2026-04-10']])
  })

  test('also the next day, if the end of the day before changed, and no further', () => {
    const walk = [-20, 5, 20, 24 * 60 + 10].map((minute, n) => point(MIDNIGHT + minute * MINUTE, n * 500))
    const late = point(MIDNIGHT - 5 * MINUTE, 300)
    // The 10th has another last point now: the 11th starts from it and ends as before.
    const { reread, pilgrim } = flushAll([walk, [late]])
    expect(reread).toEqual([[], ['2026-04-11']])
    expect(pilgrim.totals().distanceMm).toBe(1_500_000)
  })

  test('through days that are skipped as a whole', () => {
    // A pilgrim rests at one place for two days; the third day's walk starts from the late point.
    const rest = [0, 24, 48].map((hour) => point(MIDNIGHT + hour * HOUR + 9 * HOUR, 3))
    const walk = point(MIDNIGHT + 60 * HOUR, 2_000)
    const late = point(MIDNIGHT - HOUR, 0)
    const { reread, pilgrim } = flushAll([[...rest, walk], [late]])
    expect(reread).toEqual([[], ['2026-04-11', '2026-04-12', '2026-04-13']])
    expect(pilgrim.totals().distanceMm).toBe(2_000_000)
  })
})

describe('a check-in at the instant of a track point', () => {
  const start = point(MIDNIGHT + 9 * HOUR, 0)
  const track = point(start.t + 10 * MINUTE, 1_000)
  const checkIn = point(track.t, 1_200, { kind: 'c', mode: 'car' })
  const onward = point(start.t + 20 * MINUTE, 2_000)
  const carMg = Math.round(1_200_000 * 0.30479)

  test.each([
    ['comes with it', [[start, track, checkIn, onward]]],
    ['comes first', [[start, checkIn], [track], [onward]]],
    ['comes after the track point was folded', [[start, track], [checkIn], [onward]]],
    ['comes days later', [[start, track, onward], [point(onward.t + 50 * HOUR, 2_000)], [checkIn]]],
  ])('counts whole, its place and its mode, when it %s', (_, batches) => {
    const { pilgrim } = flushAll(batches)
    const { distanceMm, checkins } = pilgrim.totals()
    expect({ distanceMm, checkins }).toEqual({ distanceMm: 2_000_000, checkins: 1 })
    expect(pilgrim.periods().modes['2026-04-11 car']).toEqual({ distanceMm: 1_200_000, carbonMg: carMg })
    expect(pilgrim.periods().modes['2026-04-11 walk']).toEqual({ distanceMm: 800_000, carbonMg: 0 })
  })
})

describe('the instant at which the anchor stands', () => {
  const start = point(MIDNIGHT + 9 * HOUR, 0)
  const rest = point(start.t + 10 * MINUTE, 2)

  test('is late', () => {
    // The anchor is at 0 m since `rest`; a check-in at that instant replaces the place.
    const checkIn = point(rest.t, 400, { kind: 'c' })
    const { reread, pilgrim } = flushAll([[start, rest], [checkIn]])
    expect(reread).toEqual([[], ['2026-04-11']])
    expect(pilgrim.totals().distanceMm).toBe(400_000)
  })

  test('is late by the anchor that a jump came back to', () => {
    const wrong = point(start.t + 10 * MINUTE, 0, placeAt(0, 900_000))
    const back = point(start.t + 20 * MINUTE, 500)
    const checkIn = point(back.t, 700, { kind: 'c' })
    const { reread, pilgrim } = flushAll([[start, wrong], [back], [checkIn]])
    expect(reread).toEqual([[], [], ['2026-04-11']])
    expect(pilgrim.totals().distanceMm).toBe(700_000)
  })

  test('and a millisecond later is not', () => {
    const { reread } = flushAll([[start, rest], [point(rest.t + 1, 400, { kind: 'c' })]])
    expect(reread).toEqual([[], []])
  })
})

describe('midnight', () => {
  test('a segment belongs to the day of its end, midnight itself to the new day', () => {
    const { pilgrim } = flushAll([
      [point(MIDNIGHT - 10 * MINUTE, 0)],
      [point(MIDNIGHT, 1_000)],
      [point(MIDNIGHT - 1, 950)],
    ])
    const { days } = pilgrim.periods()
    // The point a millisecond before midnight ends the segment; the one at midnight follows too soon.
    expect(days['2026-04-10']).toMatchObject({ points: 2, distanceMm: 950_000 })
    expect(days['2026-04-11']).toMatchObject({ points: 1, distanceMm: 0 })
  })

  test('a day whose points are all too soon ends as the day before it did', () => {
    const { pilgrim } = flushAll([
      [point(MIDNIGHT - 10, 0)],
      [point(MIDNIGHT + 10, 500)],
      [point(MIDNIGHT, 300)],
    ])
    const { days } = pilgrim.periods()
    expect(days['2026-04-11']!.end).toEqual(days['2026-04-10']!.end)
  })

  test('a wrong fix before it is mended after it', () => {
    const wrong = point(MIDNIGHT - MINUTE, 0, placeAt(0, 900_000))
    const { pilgrim } = flushAll([
      [point(MIDNIGHT - 10 * MINUTE, 0)],
      [wrong],
      [point(MIDNIGHT + 10 * MINUTE, 1_000)],
      [point(MIDNIGHT - 5 * MINUTE, 400)],
    ])
    expect(pilgrim.totals().distanceMm).toBe(1_000_000)
    expect(pilgrim.periods().days['2026-04-10']!.end.before).toMatchObject({ t: MIDNIGHT - 5 * MINUTE })
  })
})

test('a check-in whose clock ran ahead stands where it was received, on the day before the time it sent', () => {
  const received = MIDNIGHT - HOUR
  const checkIn = point(received, 1_000, { kind: 'c', sentMs: received + 24 * HOUR })
  const start = point(received - HOUR, 0)
  const late = point(received - HOUR / 2, 300)
  const { pilgrim, reread } = flushAll([[start, checkIn], [late], [checkIn]])
  expect(reread).toEqual([[], ['2026-04-10'], []])
  expect(pilgrim.periods().days).toMatchObject({
    '2026-04-10': { points: 3, checkins: 1, distanceMm: 1_000_000 },
  })
})

test('a whole walk gives the same days page by page as at once', () => {
  fc.assert(
    fc.property(histories(), fc.integer({ min: 1, max: 5 }), ({ calendar, points }, size) => {
      const walk = new WholeFold(calendar)
      const left = [...points].sort(byInstant)
      while (left.length > 0) walk.add(left.splice(0, size))
      expect(walk.days()).toEqual(refold([], points, calendar).next().value as DayChange[])
    }),
    { numRuns: RUNS },
  )
})

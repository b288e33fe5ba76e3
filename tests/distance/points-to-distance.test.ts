import { describe, expect, test } from 'bun:test'
import {
  byInstant,
  fold,
  type FoldPoint,
  type FoldState,
  isLate,
  sameState,
  type Segment,
  START,
} from '#shared/core/distance/points-to-distance.ts'
import { placeAt, point } from '../rules/walks.ts'

const T = Date.parse('2026-04-11T01:00:00Z')
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Sorts and folds; returns the segments and the final state. */
function foldAll(points: readonly FoldPoint[], from: FoldState = START) {
  const segments: Segment[] = []
  const end = fold(from, [...points].sort(byInstant), (segment) => segments.push(segment))
  const sum = (figure: 'distanceMm' | 'carbonMg') => segments.reduce((all, one) => all + one[figure], 0)
  return { segments, end, distanceMm: sum('distanceMm'), carbonMg: sum('carbonMg') }
}

describe('the three rules at their edges', () => {
  const segment = (metres: number, seconds: number) =>
    foldAll([point(T, 0), point(T + seconds * SECOND, metres)]).segments

  test.each([
    ['9.99 m', 9.99, 60, false],
    ['10 m', 10, 60, true],
    ['29 s', 100, 29, false],
    ['29.999 s', 100, 29.999, false],
    ['30 s', 100, 30, true],
    ['10 m in 30 s', 10, 30, true],
    ['299.9 km/h', 9_996.667, 120, true],
    ['300 km/h', 10_000, 120, true],
    ['a millimetre faster', 10_000.001, 120, false],
    ['300.1 km/h', 10_003.333, 120, false],
  ])('%s', (_, metres, seconds, counted) => {
    const distances = segment(metres, seconds).map(({ distanceMm }) => distanceMm)
    expect(distances).toEqual(counted ? [Math.round(metres * 1_000)] : [])
  })

  test.each([
    ['15.0 km/h', 1_000, 240, 'walk', 0],
    ['15.01 km/h', 1_000.667, 240, 'bus', 475_467],
    ['300 km/h', 10_000, 120, 'bus', 4_751_500],
  ] as const)('%s without a mode', (_, metres, seconds, mode, carbonMg) => {
    expect(segment(metres, seconds)).toMatchObject([{ mode, carbonMg }])
  })

  test.each([
    ['car', 'car', 304_790],
    ['walk', 'walk', 0],
    ['submarine', 'bus', 475_150],
  ] as const)('the mode of the point that ends it: %s', (given, mode, carbonMg) => {
    const { segments } = foldAll([
      point(T, 0, { mode: 'hsr' }),
      point(T + MINUTE, 1_000, { mode: given }),
      point(T + 20 * MINUTE, 2_000),
    ])
    expect(segments).toMatchObject([{ mode, carbonMg }, { mode: 'walk' }])
  })
})

describe('from the anchor', () => {
  test('the distance of a phone that records every ten seconds is counted', () => {
    const walk = Array.from({ length: 361 }, (_, i) => point(T + i * 10 * SECOND, i * 14))
    const { segments } = foldAll(walk)
    expect(segments).toHaveLength(120)
    expect(segments.every(({ distanceMm }) => distanceMm === 42_000)).toBe(true)
  })

  test('a drive after half an hour of rest has its own speed', () => {
    const dwelling = Array.from({ length: 181 }, (_, i) => point(T + i * 10 * SECOND, (i * 7) % 9))
    const drive = point(T + 31 * MINUTE, 1_000)
    const { segments, end } = foldAll([...dwelling, drive])
    // 1 km in the minute since the last rest is 60 km/h; since arrival it would be 2.
    expect(segments).toEqual([{ t: drive.t, distanceMm: 1_000_000, carbonMg: 475_150, mode: 'bus' }])
    expect(end.anchor).toEqual({ ...placeAt(1_000), t: drive.t })
  })

  test('a step under ten metres moves the anchor in time, not in place', () => {
    const { end } = foldAll([point(T, 0), point(T + MINUTE, 9.99), point(T + 2 * MINUTE, -9.99)])
    expect(end).toEqual({ anchor: { ...placeAt(0), t: T + 2 * MINUTE }, before: null })
  })

  test('many small steps add up', () => {
    const creep = Array.from({ length: 5 }, (_, i) => point(T + i * MINUTE, i * 4))
    expect(foldAll(creep).distanceMm).toBe(12_000)
  })
})

describe('jumps', () => {
  const walk = Array.from({ length: 10 }, (_, i) => point(T + i * MINUTE, i * 80))

  test('a single wrong fix far away leaves no trace', () => {
    const wrong = walk.map((p, i) => (i === 5 ? { ...p, ...placeAt(0, 500_000) } : p))
    const { distanceMm, carbonMg, end } = foldAll(wrong)
    expect({ distanceMm, carbonMg }).toEqual({ distanceMm: 720_000, carbonMg: 0 })
    expect(end).toEqual(foldAll(walk).end)
  })

  test('a wrong fix at the very start is left behind', () => {
    const wrong = walk.map((p, i) => (i === 0 ? { ...p, ...placeAt(0, 500_000) } : p))
    expect(foldAll(wrong).distanceMm).toBe(640_000)
  })

  test('a wrong fix at the end is decided by the next point', () => {
    const wrong = point(T + 10 * MINUTE, 0, placeAt(0, 500_000))
    const { end, distanceMm } = foldAll([...walk, wrong])
    expect(distanceMm).toBe(720_000)
    expect(end.before).toEqual({ ...placeAt(720), t: T + 9 * MINUTE })
    const back = foldAll([point(T + 11 * MINUTE, 880)], end)
    expect(back.segments).toMatchObject([{ distanceMm: 160_000, mode: 'walk' }])
  })

  test('after a wrong fix a rest at the old place counts nothing and goes on from there', () => {
    const { end, segments } = foldAll([
      point(T, 0),
      point(T + MINUTE, 0, placeAt(0, 500_000)),
      point(T + 2 * MINUTE, 3),
    ])
    expect(segments).toEqual([])
    expect(end).toEqual({ anchor: { ...placeAt(0), t: T + 2 * MINUTE }, before: null })
  })

  test('a real jump is not counted, and what is walked after it is', () => {
    const there = Array.from({ length: 10 }, (_, i) => point(T + (20 + i) * MINUTE, 500_000 + i * 80))
    const { segments, end } = foldAll([...walk, ...there])
    expect(segments).toHaveLength(18)
    expect(segments.every(({ distanceMm }) => distanceMm === 80_000)).toBe(true)
    expect(end).toEqual({ anchor: { ...placeAt(500_720), t: T + 29 * MINUTE }, before: null })
  })

  test('a rest where a jump led to makes it real', () => {
    const { end } = foldAll([point(T, 0), point(T + MINUTE, 500_000), point(T + 2 * MINUTE, 500_003)])
    expect(end).toEqual({ anchor: { ...placeAt(500_000), t: T + 2 * MINUTE }, before: null })
  })
})

describe('at one instant', () => {
  const start = point(T, 0)
  const track = point(T + 10 * MINUTE, 1_000, { mode: 'bike' })
  const checkIn = point(track.t, 900, { kind: 'c', mode: 'scooter' })

  test.each([[[start, track, checkIn]], [[checkIn, track, start]]])(
    'the check-in’s place and mode count whole, in any order',
    (points) => {
      expect(foldAll(points).segments).toEqual([
        { t: track.t, distanceMm: 900_000, carbonMg: 123_606, mode: 'scooter' },
      ])
    },
  )

  test('of two check-ins the one that was sent with the earlier time', () => {
    const corrected = { ...checkIn, ...placeAt(950), sentMs: checkIn.sentMs + 1 }
    expect(foldAll([start, corrected, checkIn]).distanceMm).toBe(900_000)
  })

  test('the first point of all is the check-in, too', () => {
    const checkIn = point(T, 40, { kind: 'c' })
    expect(foldAll([start, checkIn, point(T + MINUTE, 140)]).distanceMm).toBe(100_000)
  })
})

describe('what comes too late', () => {
  const { end } = foldAll([point(T, 0), point(T + MINUTE, 100), point(T + MINUTE + 10, 100)])

  test.each([
    ['before the anchor', T + MINUTE - 1, true],
    ['at the anchor', T + MINUTE, true],
    ['after the anchor, though before the last point', T + MINUTE + 1, false],
  ])('%s', (_, t, late) => {
    expect(isLate(end, t)).toBe(late)
  })

  test('nothing, at the start', () => {
    expect(isLate(START, 0)).toBe(false)
  })
})

describe('states', () => {
  const fix = { lat: 1, lng: 2, t: 3 }
  test.each([
    [{ anchor: fix, before: null }, { anchor: { ...fix }, before: null }, true],
    [{ anchor: fix, before: fix }, { anchor: fix, before: { ...fix } }, true],
    [START, { anchor: null, before: null }, true],
    [START, { anchor: fix, before: null }, false],
    [{ anchor: fix, before: null }, { anchor: fix, before: fix }, false],
    [{ anchor: fix, before: null }, { anchor: { ...fix, t: 4 }, before: null }, false],
    [{ anchor: fix, before: null }, { anchor: { ...fix, lat: 4 }, before: null }, false],
    [{ anchor: fix, before: null }, { anchor: { ...fix, lng: 4 }, before: null }, false],
  ])('%j and %j are the same: %p', (a, b, same) => {
    expect(sameState(a, b)).toBe(same)
    expect(sameState(b, a)).toBe(same)
  })
})

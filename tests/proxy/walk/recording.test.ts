/** Which of a phone's positions are recorded, and the entries of the pause log. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { figureRead, refused, sending, settled, tallyOf } from '#proxy/pages/walk/checkin/tally.ts'
import { cadenceOf } from '#proxy/pages/walk/state.ts'
import { leads } from '#shared/core/rules/palanquin.ts'
import { fold, type FoldPoint, START } from '#shared/core/distance/points-to-distance.ts'
import {
  hindered,
  NO_PAUSES,
  openPause,
  PAUSE_AFTER_MS,
  type PauseState,
  received,
  reopened,
  started,
  stopped,
} from '#proxy/pages/walk/recording/pause-log.ts'
import {
  afterCheckIn,
  EMPTY,
  filterFix,
  type FilterState,
  type Fix,
  isResting,
} from '#proxy/pages/walk/recording/position-filter.ts'

const fix = (t: number, lat = 24, fields: Partial<Fix> = {}): Fix => ({
  t,
  lat,
  lng: 120.6,
  accuracy: 8,
  altitude: null,
  speed: null,
  ...fields,
})

const record = (fixes: readonly Fix[], from: FilterState = EMPTY, isFollowed = false) => {
  let state = from
  const recorded = fixes.flatMap((one) => {
    const next = filterFix(state, one, isFollowed)
    state = next.state
    return next.record
  })
  return { state, recorded }
}

const kmOf = (points: readonly FoldPoint[]): number => {
  let sum = 0
  fold(START, points, ({ distanceMm }) => (sum += distanceMm))
  return sum
}
const trackPoint = ({ t, lat, lng }: Fix): FoldPoint => ({
  kind: 't',
  t,
  sentMs: t,
  lat,
  lng,
  mode: null,
  rough: false,
})

describe('the filter', () => {
  const north = (metres: number) => 24 + metres / 111_195
  const MINUTE = 60_000
  const every30s = (minutes: number, fixAt: (i: number) => Fix): Fix[] =>
    Array.from({ length: minutes * 2 + 1 }, (_, i) => fixAt(i))

  /** A walk: steps of up to 40 s and 80 m, with rests. */
  const walks = fc
    .array(fc.record({ s: fc.integer({ min: 1, max: 40 }), m: fc.integer({ min: 0, max: 80 }) }), {
      minLength: 1,
      maxLength: 200,
    })
    .map((steps) => {
      let [t, lat] = [0, 24]
      return steps.map(({ s, m }) => fix((t += s * 1_000), (lat += m / 111_195)))
    })

  test('leaves out points of a straight way without changing its distance, but for the last stretch', () => {
    fc.assert(
      fc.property(walks, fc.nat(200), (fixes, reloadAt) => {
        const before = record(fixes.slice(0, reloadAt))
        // A reload takes the state from storage.
        const after = record(fixes.slice(reloadAt), JSON.parse(JSON.stringify(before.state)) as FilterState)
        const recorded = [...before.recorded, ...after.recorded]
        const metres = (fixes.at(-1)!.lat - fixes[0]!.lat) * 111_195
        const missing = metres - kmOf(recorded.map(trackPoint)) / 1_000
        expect(missing).toBeGreaterThan(-1)
        // The circle, plus the distance walked within 30 s.
        expect(missing).toBeLessThan(30 + 30 * 80)
        for (const [i, { t }] of recorded.entries())
          if (i > 0) expect(t - recorded[i - 1]!.t).toBeGreaterThanOrEqual(30_000)
      }),
    )
  })

  test('records a place at rest once in ten minutes, as it is, and the position that leaves it', () => {
    const jitter = (i: number) => fix(i * 30_000, north(i % 3 === 0 ? 0 : (i % 5) * 4))
    const night = record(every30s(8 * 60, jitter))
    expect(night.recorded.length).toBeLessThanOrEqual(49)
    expect(new Set(night.recorded.map(({ lat }) => lat))).toEqual(new Set([24]))
    const gaps = night.recorded.slice(1).map(({ t }, i) => t - night.recorded[i]!.t)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10 * MINUTE)
    expect(Math.max(...gaps)).toBeLessThan(11 * MINUTE)
    const leaves = fix(8 * 60 * MINUTE + 30_000, north(60))
    expect(filterFix(night.state, leaves).record).toEqual([leaves])
  })

  test.each([true, false])(
    'at rest, a phone that is followed (%p) never counts as silent on the map',
    (isFollowed) => {
      const fixes = every30s(60, (i) => fix(i * 30_000, north((i % 5) * 4)))
      const { recorded } = record(fixes, EMPTY, isFollowed)
      const { collectMs } = cadenceOf('resting', isFollowed, false)
      // Just before the service has the next position.
      const ages = recorded.slice(1).map(({ t }, i) => t + 120_000 + collectMs - recorded[i]!.t)
      expect(ages.every((ms) => leads(0, ms))).toBe(isFollowed)
    },
  )

  test('the way out of a place at rest is no ride, whenever the place was recorded', () => {
    for (const minutes of [5, 11.5, 12, 12.5, 22, 60])
      for (const accuracy of [8, 40, 99]) {
        const rests = every30s(minutes, (i) => fix(i * 30_000, 24, { accuracy }))
        const walks = every30s(10, (i) =>
          fix((minutes * 2 + 1 + i) * 30_000, north((i + 1) * 40), { accuracy }),
        )
        const { recorded } = record([...rests, ...walks])
        expect(recorded.at(-1)!.lat).toBeGreaterThan(24)
        for (const [i, to] of recorded.entries()) {
          const from = recorded[i - 1]
          if (from === undefined) continue
          const kmh = (((to.lat - from.lat) * 111_195) / (to.t - from.t)) * 3_600
          expect({ minutes, accuracy, kmh }).toMatchObject({ kmh: expect.closeTo(Math.min(kmh, 15), 6) })
        }
      }
  })

  test('an error makes no ride of a walk, and a ride is recorded at once', () => {
    // 130 m in 30 s are 15.6 km/h, of which 30 m may be an error.
    expect(record([fix(0), fix(30_000, north(130))]).recorded).toHaveLength(1)
    expect(record([fix(0), fix(30_000, north(130)), fix(60_000, north(150))]).recorded).toHaveLength(2)
    expect(record([fix(0), fix(30_000, north(330))]).recorded).toHaveLength(2)
  })

  test('measures the circle by the errors of both positions', () => {
    const recordedAt = (metres: number, first: number, second: number) =>
      record([fix(0, 24, { accuracy: first }), fix(120_000, north(metres), { accuracy: second })]).recorded
        .length === 2
    expect([recordedAt(24, 3, 3), recordedAt(26, 3, 3)]).toEqual([false, true])
    expect([recordedAt(99, 0, 40), recordedAt(101, 0, 40)]).toEqual([false, true])
    expect([recordedAt(99, 40, 0), recordedAt(101, 40, 0)]).toEqual([false, true])
    expect([recordedAt(124, 30, 40), recordedAt(126, 30, 40)]).toEqual([false, true])
  })

  test('records no rough position at rest while there are exact ones', () => {
    const both = every30s(60, (i) => fix(i * 30_000, 24, i % 2 === 0 ? {} : { accuracy: 1_400 }))
    const { recorded } = record(both)
    expect(recorded.filter(({ accuracy }) => accuracy > 100)).toEqual([])
    expect(recorded).toHaveLength(6)
  })

  test('records a rough position only where nothing else was for five minutes, and as no beginning of a way', () => {
    const minutes = [0, 1, 4, 5, 6, 10]
    const rough = record(minutes.map((minute) => fix(minute * 60_000, 24, { accuracy: 800 })))
    expect(rough.recorded.map(({ t }) => t / 60_000)).toEqual([0, 5, 10])
    expect(rough.state.last).toBeNull()
    const beside = record([fix(0), fix(60_000, 25, { accuracy: 100 }), fix(300_000, 25, { accuracy: 100 })])
    expect(beside.recorded.map(({ t }) => t / 60_000)).toEqual([0, 5])
    expect(beside.state.last?.t).toBe(0)
    expect(filterFix(EMPTY, fix(0, 24, { accuracy: Number.NaN }))).toMatchObject({
      record: [],
      skipped: 'rough',
    })
  })

  test('records a jump only when the next position confirms it', () => {
    const wrong = record([fix(0), fix(60_000, 25), fix(120_000, 24.001)])
    expect(wrong.recorded.map(({ t }) => t)).toEqual([0, 120_000])
    const flown = record([fix(0), fix(60_000, 25), fix(120_000, 25.001)])
    expect(flown.recorded.map(({ t }) => t)).toEqual([0, 60_000, 120_000])
  })

  test('doubts a position that nobody can reach at 300 km/h, and no slower one', () => {
    // 298 and 302 km/h.
    expect(record([fix(0), fix(30_000, north(2_480))]).recorded).toHaveLength(2)
    expect(record([fix(0), fix(30_000, north(2_520))]).recorded).toHaveLength(1)
  })

  test('confirms a jump by a later position alone, not by one of the same time', () => {
    const far = fix(30_000, 24.1)
    expect(record([fix(0), far, fix(30_000, 24.1)]).recorded).toHaveLength(1)
    expect(record([fix(0), far, fix(30_001, 24.1)]).recorded).toHaveLength(3)
  })

  test('a check-in begins the next 30 s, also one from before a clock was set back', () => {
    const { state } = record([fix(600_000)])
    expect(afterCheckIn(state, { t: 610_000, lat: 24, lng: 120.6 }).last?.t).toBe(600_000)
    expect(afterCheckIn(state, { t: 630_000, lat: 24, lng: 120.6 }).last?.t).toBe(630_000)
    expect(afterCheckIn(state, { t: 590_000, lat: 24, lng: 120.6 }).last?.t).toBe(590_000)
  })

  test('widens the circle of a rest by half the accuracy', () => {
    const rests = (metres: number) =>
      isResting(record([fix(0), fix(150_000, north(metres), { accuracy: 60 })]).state, 150_000)
    expect([rests(50), rests(60)]).toEqual([true, false])
  })

  test('goes on after a clock was set back', () => {
    expect(record([fix(7_200_000), fix(0)]).recorded).toHaveLength(2)
  })

  test('sees a rest after two minutes, and its end', () => {
    const resting = record([fix(0), fix(60_000, 24.0001), fix(121_000, 24.00005)]).state
    expect(isResting(resting, 100_000)).toBe(false)
    expect(isResting(resting, 121_000)).toBe(true)
    expect(isResting(record([fix(150_000, 24.001)], resting).state, 150_000)).toBe(false)
  })
})

describe('the pause log', () => {
  const from = started(NO_PAUSES, 0)

  test('a short silence is no pause, a long one without a cause is a missing signal', () => {
    expect(received(from, PAUSE_AFTER_MS - 1).pauses).toEqual([])
    expect(received(from, PAUSE_AFTER_MS).pauses).toEqual([
      { from: 0, to: PAUSE_AFTER_MS, cause: 'no-signal' },
    ])
  })

  test.each([
    ['hidden', (state: PauseState) => hindered(state, 'hidden')],
    ['permission', (state: PauseState) => hindered(hindered(state, 'permission'), 'hidden')],
    ['closed', (state: PauseState) => reopened(hindered(state, 'hidden'))],
  ] as const)('names %s as the cause', (cause, happen) => {
    const state = happen(received(from, 60_000))
    expect(openPause(state, 660_000)).toEqual({ from: 60_000, to: 660_000, cause })
    const after = received(state, 660_000)
    expect(after.pauses).toEqual([{ from: 60_000, to: 660_000, cause }])
    expect(openPause(after, 700_000)).toBeNull()
    // The cause no longer applies.
    expect(received(after, 1_660_000).pauses[1]!.cause).toBe('no-signal')
  })

  test('nothing is missing while recording is switched off', () => {
    const off = stopped(from, 1_000)
    expect(openPause(off, 9e9)).toBeNull()
    expect(reopened(hindered(off, 'hidden'))).toEqual(off)
    expect(received(started(off, 9e9), 9e9 + 1_000).pauses).toEqual([])
    // A position known from before is not a pause of this recording.
    const old = received(started(off, 9e9), 9e9 - PAUSE_AFTER_MS)
    expect(received(old, 9e9 + 1_000).pauses).toEqual([])
  })

  test('keeps the last hundred', () => {
    let state = from
    for (let i = 1; i <= 150; i++) state = received(state, i * 100_000)
    expect(state.pauses).toHaveLength(100)
    expect(state.pauses.at(-1)!.to).toBe(15_000_000)
  })
})

describe('the tally of check-ins', () => {
  const known = tallyOf(4)

  test('takes a figure that was asked for and read while no check-in was on its way', () => {
    expect(figureRead(known, known, 7).counted).toBe(7)
  })

  test('takes no figure that was asked for, or read, while a check-in was on its way', () => {
    const sent = sending(known)
    const counted = settled(sent, true)
    expect(counted.counted).toBe(5)
    expect(figureRead(sent, known, 5)).toBe(sent)
    expect(figureRead(counted, known, 4)).toBe(counted)
    expect(figureRead(counted, sent, 4)).toBe(counted)
    expect(figureRead(counted, counted, 6).counted).toBe(6)
  })

  test('is in doubt until an attempt whose answer was lost is settled', () => {
    const lost = sending(known)
    const again = sending(lost)
    // A rate limit says nothing about the attempt before it.
    const limited = refused(again, lost)
    expect(figureRead(limited, limited, 5).counted).toBe(4)
    expect(figureRead(refused(lost, known), refused(lost, known), 5).counted).toBe(5)
    const counted = settled(sending(limited), true)
    expect(figureRead(counted, counted, 5).counted).toBe(5)
  })
})

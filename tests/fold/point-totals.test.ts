import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { byInstant, START } from '#shared/fold/fold.ts'
import {
  addSums,
  addTotals,
  zeroSums,
  emptyTotals,
  type Sums,
  type Tally,
  totalPoints,
} from '#shared/fold/point-totals.ts'
import { type History, histories } from '#tests/rules/walks.ts'

const tallyOf = ({ points, calendar }: History): Tally =>
  totalPoints(START, [...points].sort(byInstant), calendar).tally

const totals = ({ points, checkins, distanceMm, carbonMg }: Sums): Sums => ({
  points,
  checkins,
  distanceMm,
  carbonMg,
})

const figures = (tally: Tally): number[] => [
  ...Object.values(totals(tally)),
  ...[...tally.hours.values(), ...tally.modes.values()].flatMap((sums) => Object.values(sums)),
]

describe('totals', () => {
  test('are the sum of their hours, and of their modes', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const tally = tallyOf(history)
        const ofHours = zeroSums()
        for (const sums of tally.hours.values()) addSums(ofHours, sums)
        expect(ofHours).toEqual(totals(tally))
        const modes = [...tally.modes.values()]
        expect(modes.reduce((all, { distanceMm }) => all + distanceMm, 0)).toBe(tally.distanceMm)
        expect(modes.reduce((all, { carbonMg }) => all + carbonMg, 0)).toBe(tally.carbonMg)
      }),
    )
  })

  test('count every point and check-in once, in whole numbers', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const tally = tallyOf(history)
        expect(tally.points).toBe(history.points.length)
        expect(tally.checkins).toBe(history.points.filter(({ kind }) => kind === 'c').length)
        expect(figures(tally).every(Number.isSafeInteger)).toBe(true)
      }),
    )
  })

  test('are the sum of the totals of consecutive parts', () => {
    fc.assert(
      fc.property(histories(), fc.nat(), (history, cut) => {
        const sorted = [...history.points].sort(byInstant)
        const first = totalPoints(START, sorted.slice(0, cut % sorted.length), history.calendar)
        const second = totalPoints(first.end, sorted.slice(cut % sorted.length), history.calendar)
        const sum = emptyTotals()
        addTotals(sum, first.tally)
        addTotals(sum, second.tally)
        expect(sum).toEqual(tallyOf(history))
      }),
    )
  })

  test('of no points are 0, and the state stays', () => {
    fc.assert(
      fc.property(histories(5), ({ points, calendar }) => {
        const { end } = totalPoints(START, points, calendar)
        expect(totalPoints(end, [], calendar)).toEqual({ tally: emptyTotals(), end })
      }),
    )
  })
})

describe('adding', () => {
  test('and taking away leaves nothing but empty entries', () => {
    fc.assert(
      fc.property(histories(), histories(), (one, other) => {
        const sum = emptyTotals()
        addTotals(sum, tallyOf(one))
        addTotals(sum, tallyOf(other))
        addTotals(sum, tallyOf(one), -1)
        addTotals(sum, tallyOf(other), -1)
        expect(figures(sum).every((figure) => figure === 0)).toBe(true)
      }),
    )
  })

  test('keeps hours and modes apart and leaves what is added alone', () => {
    const sum = emptyTotals()
    const hour = { points: 2, checkins: 1, distanceMm: 30, carbonMg: 4 }
    const tally: Tally = {
      ...hour,
      hours: new Map([[0, hour]]),
      modes: new Map([['car', { distanceMm: 30, carbonMg: 4 }]]),
    }
    addTotals(sum, tally)
    addTotals(sum, {
      ...tally,
      hours: new Map([[3_600_000, hour]]),
      modes: new Map([['bus', { distanceMm: 30, carbonMg: 4 }]]),
    })
    addTotals(sum, tally)
    expect(sum).toEqual({
      points: 6,
      checkins: 3,
      distanceMm: 90,
      carbonMg: 12,
      hours: new Map([
        [0, { points: 4, checkins: 2, distanceMm: 60, carbonMg: 8 }],
        [3_600_000, hour],
      ]),
      modes: new Map([
        ['car', { distanceMm: 60, carbonMg: 8 }],
        ['bus', { distanceMm: 30, carbonMg: 4 }],
      ]),
    })
    expect(hour).toEqual({ points: 2, checkins: 1, distanceMm: 30, carbonMg: 4 })
  })
})

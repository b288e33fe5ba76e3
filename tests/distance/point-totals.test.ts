import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  addDetailedTotals,
  addTotals,
  byInstant,
  type DetailedTotals,
  emptyDetailedTotals,
  START,
  totalPoints,
  type Totals,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'
import { type History, histories } from '#tests/rules/walks.ts'

const totalsOf = ({ points, calendar }: History): DetailedTotals =>
  totalPoints(START, [...points].sort(byInstant), calendar).totals

const simpleTotals = ({ points, checkins, distanceMm, carbonMg }: Totals): Totals => ({
  points,
  checkins,
  distanceMm,
  carbonMg,
})

const figures = (totals: DetailedTotals): number[] => [
  ...Object.values(simpleTotals(totals)),
  ...[...totals.hours.values(), ...totals.modes.values()].flatMap((sums) => Object.values(sums)),
]

describe('totals', () => {
  test('are the sum of their hours, and of their modes', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const totals = totalsOf(history)
        const ofHours = zeroTotals()
        for (const sums of totals.hours.values()) addTotals(ofHours, sums)
        expect(ofHours).toEqual(simpleTotals(totals))
        const modes = [...totals.modes.values()]
        expect(modes.reduce((all, { distanceMm }) => all + distanceMm, 0)).toBe(totals.distanceMm)
        expect(modes.reduce((all, { carbonMg }) => all + carbonMg, 0)).toBe(totals.carbonMg)
      }),
    )
  })

  test('count every point and check-in once, in whole numbers', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const totals = totalsOf(history)
        expect(totals.points).toBe(history.points.length)
        expect(totals.checkins).toBe(history.points.filter(({ kind }) => kind === 'c').length)
        expect(figures(totals).every(Number.isSafeInteger)).toBe(true)
      }),
    )
  })

  test('are the sum of the totals of consecutive parts', () => {
    fc.assert(
      fc.property(histories(), fc.nat(), (history, cut) => {
        const sorted = [...history.points].sort(byInstant)
        const first = totalPoints(START, sorted.slice(0, cut % sorted.length), history.calendar)
        const second = totalPoints(first.end, sorted.slice(cut % sorted.length), history.calendar)
        const sum = emptyDetailedTotals()
        addDetailedTotals(sum, first.totals)
        addDetailedTotals(sum, second.totals)
        expect(sum).toEqual(totalsOf(history))
      }),
    )
  })

  test('of no points are 0, and the state stays', () => {
    fc.assert(
      fc.property(histories(5), ({ points, calendar }) => {
        const { end } = totalPoints(START, points, calendar)
        expect(totalPoints(end, [], calendar)).toEqual({ totals: emptyDetailedTotals(), end })
      }),
    )
  })
})

describe('adding', () => {
  test('and taking away leaves nothing but empty entries', () => {
    fc.assert(
      fc.property(histories(), histories(), (one, other) => {
        const sum = emptyDetailedTotals()
        addDetailedTotals(sum, totalsOf(one))
        addDetailedTotals(sum, totalsOf(other))
        addDetailedTotals(sum, totalsOf(one), -1)
        addDetailedTotals(sum, totalsOf(other), -1)
        expect(figures(sum).every((figure) => figure === 0)).toBe(true)
      }),
    )
  })

  test('keeps hours and modes apart and leaves what is added alone', () => {
    const sum = emptyDetailedTotals()
    const hour = { points: 2, checkins: 1, distanceMm: 30, carbonMg: 4 }
    const totals: DetailedTotals = {
      ...hour,
      hours: new Map([[0, hour]]),
      modes: new Map([['car', { distanceMm: 30, carbonMg: 4 }]]),
    }
    addDetailedTotals(sum, totals)
    addDetailedTotals(sum, {
      ...totals,
      hours: new Map([[3_600_000, hour]]),
      modes: new Map([['bus', { distanceMm: 30, carbonMg: 4 }]]),
    })
    addDetailedTotals(sum, totals)
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

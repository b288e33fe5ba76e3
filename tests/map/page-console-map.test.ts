/** Computations of the console's maps and moving charts: pure functions of the pages. */
import { expect, test } from 'bun:test'
import { cellZoom, freeSpot } from '#proxy/pages/console/map/cells.ts'
import { crowdOf } from '#proxy/pages/map/shapes.ts'
import { ticksOf, valuesOf, windowOf } from '#proxy/pages/console/rates.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 3, 12, 12)

test('cells have room for a number, and are never so small that a single pilgrim looks like a crowd', () => {
  const pxWide = (zoom: number) => (0.2 / 2 ** (cellZoom(zoom) - 6) / 360) * 256 * 2 ** zoom
  for (let zoom = 7; zoom < 15; zoom += 0.25) {
    expect(pxWide(zoom)).toBeGreaterThanOrEqual(18)
    expect(pxWide(zoom)).toBeLessThan(37)
  }
  expect(cellZoom(17)).toBe(14)
  expect(cellZoom(3)).toBe(6)
})

test('a number stands beside what would cover a part of it, and nowhere where everything is covered', () => {
  const number = [30, 10] as const
  expect(freeSpot([100, 100], number, [])).toEqual([100, 100])
  // The sign of a mark and its name to the left would cover half of the number.
  const mark = [
    [90, 80, 101, 110],
    [40, 90, 90, 110],
  ] as const
  expect(freeSpot([100, 100], number, mark)).toEqual([130, 100])
  expect(freeSpot([100, 100], number, [[0, 0, 300, 300]])).toBeNull()
})

test('neighbours with a few people have another colour than a hundred', () => {
  const crowd = crowdOf([7, 2, 102].map((people, i) => [2_400_000, 12_060_000 + i, 14, people]))
  const byAmount = new Map([...crowd.amounts].map((amount, i) => [amount, crowd.steps[i]]))
  expect([2, 7, 102].map((amount) => byAmount.get(amount))).toEqual([1, 1, 3])
})

test('the window of the chart grows with what was observed', () => {
  expect(windowOf(NOON - 2 * MINUTE, NOON).spanMs).toBe(5 * MINUTE)
  expect(windowOf(NOON - 12 * MINUTE, NOON).spanMs).toBe(15 * MINUTE)
  expect(windowOf(NOON - 300 * MINUTE, NOON).spanMs).toBe(30 * MINUTE)
  const ticks = ticksOf(NOON + 20_000, windowOf(NOON - 300 * MINUTE, NOON))
  expect(ticks.map(({ at }) => (at - NOON) / MINUTE)).toEqual([-25, -20, -15, -10, -5])
})

test('each step tells the minute before its end; one without events counts as zero, one not over or not observed is absent', () => {
  const since = NOON - 70_000
  const rates = [{ at: NOON - 60_000, points: 120, checkins: 6 }]
  const values = valuesOf(rates, 'points', since, NOON + 5_000)
  expect(values).toHaveLength(7)
  // Twenty points in the first ten seconds are twenty in that minute: a burst is not taken for a rate.
  expect(values.map(({ value }) => value)).toEqual([0, 20, 20, 20, 20, 20, 20])
  const later = valuesOf(rates, 'points', since, NOON + 25_000)
  expect(later.map(({ value }) => value).slice(-3)).toEqual([20, 0, 0])
})

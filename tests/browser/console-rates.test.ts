/** The console's data of the last hour: the service's counts from before it was opened, then the stream's. */
import { beforeEach, expect, test } from 'bun:test'
import {
  addCounts,
  addHistory,
  clearRates,
  rates,
  ratesSince,
  topOf,
  valuesOf,
} from '#proxy/pages/console/rates.ts'

const START = Date.parse('2026-04-12T02:00:00Z')
const at = (seconds: number): number => START + seconds * 1_000
const iso = (seconds: number): string => new Date(at(seconds)).toISOString()

/** Ten-second steps from the first to the last, each with two check-ins and five points. */
const history = (from: number, through: number) => ({
  since: iso(from),
  through: iso(through),
  points: 0,
  checkins: 0,
  steps: Array.from({ length: (through - from) / 10 }, (): [number, number] => [5, 2]),
})
const counts = (seconds: number, points: number, checkins: number) => ({
  at: iso(seconds),
  seconds: 1,
  points,
  checkins,
  duplicates: 0,
  totals: {
    points: 0,
    checkins: 0,
    duplicates: 0,
  },
})

beforeEach(clearRates)

/** Number of stored check-ins. */
const sumOfCheckIns = (): number => rates.value.reduce((sum, { checkins }) => sum + checkins, 0) / 6

test('the chart begins with what the service has counted', () => {
  addCounts(counts(1_800, 3, 1))
  addHistory(history(0, 1_800))
  addCounts(counts(1_804, 4, 1))
  const now = at(1_812)
  expect([sumOfCheckIns(), ratesSince.value]).toEqual([180 * 2 + 2, at(0)])
  const values = valuesOf(rates.value, 'checkins', ratesSince.value!, now)
  expect(values).toHaveLength(179)
  // Five steps of the service, and one of the stream.
  expect(values.at(-1)).toEqual({ at: at(1_800), value: 12 })
  expect(values.at(-2)).toEqual({ at: at(1_790), value: 12 })
})

test('a replica that began to count later takes nothing away, and nothing is counted twice', () => {
  addHistory(history(0, 1_800))
  addHistory(history(1_740, 1_830))
  expect([sumOfCheckIns(), ratesSince.value]).toEqual([183 * 2, at(0)])
  addHistory(history(0, 1_830))
  expect([sumOfCheckIns(), ratesSince.value]).toEqual([183 * 2, at(0)])
})

test('sixty minutes roll: what is older is not counted any more', () => {
  addHistory(history(0, 3_600))
  expect(sumOfCheckIns()).toBe(720)
  addHistory(history(600, 4_200))
  expect(sumOfCheckIns()).toBe(720)
})

/**
 * Check-ins shown in the chart's latest minutes, after the start of an event with a burst in its first step.
 */
function shown(minutes: number, burst: number) {
  const counted = history(0, minutes * 60)
  const [[points, checkins] = [0, 0], ...steps] = counted.steps
  addHistory({ ...counted, steps: [[points, checkins + burst], ...steps] })
  return valuesOf(rates.value, 'checkins', ratesSince.value!, at(minutes * 60))
}

test.each([5, 10, 30])('a burst at the start does not flatten the %i minutes after it', (minutes) => {
  const values = shown(minutes, 5_000)
  expect(Math.max(...values.map(({ value }) => value))).toBe(5_012)
  expect(topOf(values)).toBe(50)
})

test('a crowd that arrives now, an ordinary rise, and the first minutes alone are shown whole', () => {
  const arrival = Array.from({ length: 180 }, (_, i) => ({ at: at(i * 10), value: i < 140 ? 5 : 300 }))
  expect(topOf(arrival)).toBe(300)
  expect(topOf(shown(30, 20))).toBe(40)
  clearRates()
  expect(topOf(shown(2, 5_000))).toBe(6_000)
})

/** The explanation of a day's points: each outcome, with the same sum as the fold. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  byInstant,
  explainPoints,
  fold,
  type FoldPoint,
  START,
} from '#shared/core/distance/points-to-distance.ts'
import type { Mode } from '#shared/core/rules/carbon.ts'

const NOON = Date.parse('2026-04-12T04:00:00Z')
const at = (seconds: number, north: number, kind: 'c' | 't' = 't'): FoldPoint => ({
  kind,
  t: NOON + seconds * 1_000,
  sentMs: NOON + seconds * 1_000,
  lat: 24 + north / 111_195,
  lng: 120.6,
  mode: null,
  rough: false,
})

test('says of each point why it is left out', () => {
  const points = [
    at(0, 0),
    at(0, 0, 't'),
    at(10, 30),
    at(60, 4),
    at(120, 100),
    at(180, 90_000),
    { ...at(200, 500), rough: true },
    at(240, 90_060),
  ]
  expect(explainPoints(START, points).map(({ outcome }) => outcome)).toEqual([
    'first',
    'same-instant',
    'too-soon',
    'too-near',
    'counted',
    'too-fast',
    'rough',
    'counted',
  ])
})

test('a jump that is a single wrong position: the next point counts from the place before it', () => {
  const explained = explainPoints(START, [at(0, 0), at(60, 50_000), at(120, 100)])
  expect(explained.map(({ outcome }) => outcome)).toEqual(['first', 'too-fast', 'counted'])
  expect(explained[2]!.distanceMm / 1_000).toBeCloseTo(100, 0)
})

test('the explained lengths add up to what the fold counts, of each mode', () => {
  const point = fc
    .record({
      seconds: fc.integer({ min: 0, max: 7_200 }),
      north: fc.integer({ min: 0, max: 60_000 }),
      rough: fc.boolean(),
    })
    .map(({ seconds, north, rough }) => ({ ...at(seconds, north), rough }))
  fc.assert(
    fc.property(fc.array(point, { maxLength: 60 }), (given) => {
      const points = [...given].sort(byInstant)
      const sums: Partial<Record<Mode, number>> = {}
      fold(START, points, ({ mode, distanceMm }) => (sums[mode] = (sums[mode] ?? 0) + distanceMm))
      const explained: typeof sums = {}
      for (const { travelled, distanceMm } of explainPoints(START, points))
        if (travelled !== null) explained[travelled] = (explained[travelled] ?? 0) + distanceMm
      expect(explained).toEqual(sums)
    }),
    { numRuns: 200 },
  )
})

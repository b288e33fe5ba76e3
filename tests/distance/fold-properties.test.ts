import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  byInstant,
  fold,
  type FoldPoint,
  type FoldState,
  type Segment,
  START,
} from '#shared/core/distance/points-to-distance.ts'
import { distanceMm } from '#shared/core/rules/geo.ts'
import { plainFold, segmentOf } from './reference-fold.ts'
import { histories, placeAt, point } from '../rules/walks.ts'

const T = Date.parse('2026-04-11T01:00:00Z')

function foldAll(points: readonly FoldPoint[], from: FoldState = START) {
  const segments: Segment[] = []
  const end = fold(from, [...points].sort(byInstant), (segment) => segments.push(segment))
  return { segments, end }
}

test('the fold equals its pseudo-code', () => {
  fc.assert(
    fc.property(histories(), ({ points }) => {
      const segments: Segment[] = []
      let end: FoldState = START
      plainFold(
        points,
        (segment) => segments.push(segment),
        (_, state) => (end = state),
      )
      expect(foldAll(points)).toEqual({ segments, end })
    }),
    { numRuns: 500 },
  )
})

test('folding in two parts, or with every point twice, gives the same result', () => {
  fc.assert(
    fc.property(histories(), fc.nat(), ({ points }, cut) => {
      const whole = foldAll(points)
      const sorted = [...points].sort(byInstant)
      const first = foldAll(sorted.slice(0, cut % sorted.length))
      const second = foldAll(sorted.slice(cut % sorted.length), first.end)
      expect([...first.segments, ...second.segments]).toEqual(whole.segments)
      expect(second.end).toEqual(whole.end)
      expect(foldAll([...points, ...points])).toEqual(whole)
    }),
    { numRuns: 500 },
  )
})

test('it equals segments between neighbours, if all are far enough apart and none is too fast', () => {
  const step = fc.record({
    seconds: fc.integer({ min: 30, max: 2_000 }),
    // Between ten metres and 299 km/h.
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    turn: fc.double({ min: 0, max: 2 * Math.PI, noNaN: true }),
    mode: fc.option(fc.constantFrom('walk', 'car', 'submarine')),
    kind: fc.constantFrom('c', 't'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const walk = [point(T, 0)]
      let [north, east, t] = [0, 0, T]
      for (const { seconds, share, turn, mode, kind } of steps) {
        const metres = 10.1 + share ** 4 * ((299 / 3.6) * seconds - 10.1)
        t += seconds * 1_000
        east += metres * Math.sin(turn)
        // Stays near the equator, where a degree is as long in both directions.
        north -= Math.sign(north || 1) * metres * Math.abs(Math.cos(turn))
        walk.push(point(t, 0, { ...placeAt(north, east), mode, kind }))
      }
      const neighbours = walk.slice(1).map((p, i) => segmentOf(walk[i]!, p))
      expect(neighbours).not.toContain(null)
      expect(foldAll(walk).segments).toEqual(neighbours as Segment[])
    }),
    { numRuns: 300 },
  )
})

test('the counted distance is at most the distance between the points', () => {
  fc.assert(
    fc.property(histories(), ({ points }) => {
      const sorted = [...points].sort(byInstant)
      const between = sorted.slice(1).reduce((all, p, i) => all + distanceMm(sorted[i]!, p), 0)
      // Each distance is rounded to a millimetre.
      const counted = foldAll(points).segments.reduce((all, segment) => all + segment.distanceMm, 0)
      expect(counted).toBeLessThanOrEqual(between + points.length)
    }),
    { numRuns: 300 },
  )
})

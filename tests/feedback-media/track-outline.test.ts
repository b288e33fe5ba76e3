/** The outline of a track: its frame, its shape, and its length. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { outlineOf } from '#services/feedback-media/card-design/track-outline.ts'

const numbers = (path: string): [x: number, y: number][] =>
  path
    .split(/[ML]/)
    .slice(1)
    .map((pair) => pair.split(' ').map(Number) as [number, number])

test('a pilgrim who has not moved has no track', () => {
  expect(outlineOf([], 248)).toBeNull()
  expect(outlineOf([{ lat: 24, lng: 120 }], 248)).toBeNull()
  const noise = Array.from({ length: 500 }, (_, i) => ({
    lat: 24 + (i % 7) * 1e-5,
    lng: 120 + (i % 5) * 1e-5,
  }))
  expect(outlineOf(noise, 248)).toBeNull()
})

test('north is up, east is right, and the longer side fills the frame', () => {
  const outline = outlineOf(
    [
      { lat: 24, lng: 120 },
      { lat: 24.5, lng: 120 },
      { lat: 24.5, lng: 120.1 },
    ],
    200,
  )!
  const [[x0, y0], [, y1], [x2]] = numbers(outline.path) as [
    [number, number],
    [number, number],
    [number, number],
  ]
  expect([y0, y1]).toEqual([200, 0])
  expect(x2).toBeGreaterThan(x0)
  expect(outline.start).toEqual({ x: x0, y: y0 })
})

test('a track across the date line takes the shorter way', () => {
  const outline = outlineOf(
    [
      { lat: 0, lng: 179.9 },
      { lat: 0.1, lng: -179.9 },
    ],
    200,
  )!
  expect(numbers(outline.path)).toEqual([
    [0, 150],
    [200, 50],
  ])
})

test('any track stays in its frame and has a short line', () => {
  const fix = fc.record({
    lat: fc.double({ min: -80, max: 80, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(fix, { minLength: 2, maxLength: 300 }), (track) => {
      const outline = outlineOf(track, 248)
      if (outline === null) return
      for (const value of numbers(outline.path).flat()) {
        expect(value).toBeGreaterThanOrEqual(-0.1)
        expect(value).toBeLessThanOrEqual(248.1)
      }
    }),
    { numRuns: 200 },
  )
  const walk = Array.from({ length: 2_400 }, (_, i) => ({
    lat: 24 - i * 1e-4,
    lng: 120 + Math.sin(i / 400) * 0.05,
  }))
  expect(outlineOf(walk, 248)!.path.length).toBeLessThan(1_500)
})

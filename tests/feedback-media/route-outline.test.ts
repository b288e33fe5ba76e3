/** The outline of the event's route: its frame, its shape, and its length. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { outlineOf } from '#services/feedback-media/cards/card-route-map.ts'
import type { Place } from '#services/feedback-media/cards/card-facts.ts'

const numbers = (path: string): [x: number, y: number][] =>
  path
    .split(/[ML]/)
    .slice(1)
    .map((pair) => pair.split(' ').map(Number) as [number, number])

const outline = (line: readonly Place[], side: number) =>
  outlineOf({ lines: [line], passed: [line.slice(0, 2)], stations: [{ ...line[0]!, isPassed: true }] }, side)

test('north is up, east is right, and the longer side fills the frame', () => {
  const { whole, passed, stations } = outline(
    [
      { lat: 24, lng: 120 },
      { lat: 24.5, lng: 120 },
      { lat: 24.5, lng: 120.1 },
    ],
    200,
  )
  const [[x0, y0], [, y1], [x2]] = numbers(whole) as [[number, number], [number, number], [number, number]]
  expect([y0, y1]).toEqual([200, 0])
  expect(x2).toBeGreaterThan(x0)
  expect(numbers(passed)).toEqual(numbers(whole).slice(0, 2))
  expect(stations).toEqual([{ x: x0, y: y0, isPassed: true }])
})

test('a route across the date line takes the shorter way', () => {
  const line = [
    { lat: 0, lng: 179.9 },
    { lat: 0.1, lng: -179.9 },
  ]
  expect(numbers(outline(line, 200).whole)).toEqual([
    [0, 150],
    [200, 50],
  ])
})

test('any route stays in its frame and has a short line', () => {
  const place = fc.record({
    lat: fc.double({ min: -80, max: 80, noNaN: true }),
    lng: fc.double({ min: -80, max: 80, noNaN: true }),
  })
  const lines = fc
    .array(place, { minLength: 2, maxLength: 300 })
    .filter(([a, b]) => Math.hypot(a!.lat - b!.lat, a!.lng - b!.lng) > 1e-3)
  fc.assert(
    fc.property(lines, (line) => {
      for (const value of numbers(outline(line, 248).whole).flat()) {
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
  expect(outline(walk, 248).whole.length).toBeLessThan(1_500)
})

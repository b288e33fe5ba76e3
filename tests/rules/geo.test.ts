import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { distanceMm, EARTH_RADIUS_M } from '#shared/core/rules/geo.ts'

const places = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
})

const place = (lat: number, lng: number) => ({ lat, lng })
const HALF_ROUND_MM = Math.round(Math.PI * EARTH_RADIUS_M * 1_000)

test('the IUGG mean radius', () => {
  expect(EARTH_RADIUS_M).toBe(6_371_008.8)
})

describe('known figures', () => {
  test.each([
    // 392.2172595594006 km in the documentation of the Python package `haversine`, which uses the same radius.
    ['Lyon to Paris', place(45.7597, 4.8422), place(48.8567, 2.3508), 392_217_260],
    // π/180, π/2 and π times the radius.
    ['a degree of latitude', place(23, 120), place(24, 120), 111_195_080],
    ['a degree of longitude on the equator', place(0, 10), place(0, 11), 111_195_080],
    ['from the equator to a pole', place(0, 33), place(90, -70), 10_007_557_221],
    ['to the other side of the Earth', place(0, 0), place(0, 180), 20_015_114_442],
    ['from pole to pole', place(90, 0), place(-90, 77), 20_015_114_442],
    ['across the date line', place(0, 179.5), place(0, -179.5), 111_195_080],
    ['all longitudes meet in a pole', place(90, 0), place(90, 123), 0],
    ['nowhere', place(23.5, 120.5), place(23.5, 120.5), 0],
  ] as const)('%s', (_, a, b, mm) => {
    expect(distanceMm(a, b)).toBe(mm)
  })
})

test('whole millimetres, the same both ways, never more than half round the Earth', () => {
  fc.assert(
    fc.property(places, places, (a, b) => {
      const mm = distanceMm(a, b)
      expect(Number.isSafeInteger(mm)).toBe(true)
      expect(mm).toBe(distanceMm(b, a))
      expect(mm).toBeGreaterThanOrEqual(0)
      expect(mm).toBeLessThanOrEqual(HALF_ROUND_MM)
      expect(distanceMm(a, a)).toBe(0)
    }),
    { numRuns: 1_000 },
  )
})

test('a detour is never shorter', () => {
  fc.assert(
    fc.property(places, places, places, (a, b, c) => {
      // Each of the three is rounded; near the antipode the formula itself loses some millimetres.
      expect(distanceMm(a, c)).toBeLessThanOrEqual(distanceMm(a, b) + distanceMm(b, c) + 500)
    }),
    { numRuns: 1_000 },
  )
})

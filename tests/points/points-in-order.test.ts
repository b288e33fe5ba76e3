/** The walk of a claim that others see depends on nothing finer than its cells, and is about as long as the exact one. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fold, START } from '#shared/core/distance/points-to-distance.ts'
import { cellAt, cellBounds, cellCentre } from '#shared/core/map/cells.ts'
import { CLAIM_ZOOM } from '#shared/core/rules/claim-measures.ts'
import { METRES_PER_DEGREE, type Place } from '#shared/core/rules/geo.ts'
import { foldPointOf, type Point } from '#shared/points/point.ts'
import { walkInOrder } from '#shared/points/totals/points-in-order.ts'
import { point } from '#tests/scheduler/walks.ts'

const MINUTE_MS = 60_000
const NOTHING = { distanceMm: 0, carbonMg: 0, end: START }
const START_MS = Date.parse('2026-04-12T04:00:00Z')
const [WEST, SOUTH, EAST, NORTH] = cellBounds(cellAt(24.15, 120.67, CLAIM_ZOOM))

/** Points of these places, so many minutes apart. */
const pointsAt = (places: readonly Place[], minutes = 1): Point[] =>
  places.map(({ lat, lng }, i) => point({ lat, lng, sentMs: START_MS + i * minutes * MINUTE_MS }))

/** A place within three cells, by the column and row of its cell and where it is in there. */
const somewhere = fc
  .record({
    x: fc.integer({ min: -3, max: 3 }),
    y: fc.integer({ min: -3, max: 3 }),
    east: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    north: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  })
  .map(({ x, y, east, north }): Place => ({
    lat: SOUTH + (y + north) * (NORTH - SOUTH),
    lng: WEST + (x + east) * (EAST - WEST),
  }))

describe('the walk of a claim', () => {
  test('is the same wherever in their cells its places are, however it is divided', () => {
    fc.assert(
      fc.property(fc.array(somewhere, { maxLength: 40 }), fc.nat(40), (places, at) => {
        const middles = places.map(({ lat, lng }) => cellCentre(cellAt(lat, lng, CLAIM_ZOOM)))
        const walk = walkInOrder(NOTHING, pointsAt(places))
        expect(walkInOrder(NOTHING, pointsAt(middles))).toEqual(walk)
        const first = walkInOrder(NOTHING, pointsAt(places).slice(0, at))
        expect(walkInOrder(first, pointsAt(places).slice(at))).toEqual(walk)
      }),
    )
  })

  test('is as long as the exact one, within a tenth', () => {
    for (let degrees = 0; degrees < 360; degrees += 15) {
      const angle = (degrees * Math.PI) / 180
      // 24 km at 4 km/h, with bends.
      const places = Array.from({ length: 360 }, (_, i): Place => {
        const [along, aside] = [i * 66.7, 200 * Math.sin((i * 66.7) / 320)]
        return {
          lat: 24.15 + (along * Math.cos(angle) - aside * Math.sin(angle)) / METRES_PER_DEGREE,
          lng: 120.67 + (along * Math.sin(angle) + aside * Math.cos(angle)) / (METRES_PER_DEGREE * 0.9125),
        }
      })
      let exactMm = 0
      fold(START, pointsAt(places).map(foldPointOf), ({ distanceMm }) => (exactMm += distanceMm))
      expect(walkInOrder(NOTHING, pointsAt(places)).distanceMm).toBeWithin(exactMm * 0.9, exactMm * 1.1)
    }
  })

  test('does not grow at rest, also where cells meet', () => {
    const corner = Array.from({ length: 100 }, (_, i): Place => ({
      lat: NORTH + (i % 3 === 0 ? 4 : -4) / METRES_PER_DEGREE,
      lng: EAST + (i % 2 === 0 ? 4 : -4) / METRES_PER_DEGREE,
    }))
    expect(walkInOrder(NOTHING, pointsAt(corner, 10)).distanceMm).toBe(0)
  })
})

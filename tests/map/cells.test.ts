import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { cellAt, cellBounds, cellName, MAX_ZOOM, MIN_ZOOM } from '#shared/core/map/cells.ts'

const places = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
})
const zooms = fc.integer({ min: MIN_ZOOM, max: MAX_ZOOM })
/** The specified width in degrees: 0.2 at zoom 6, halved with each zoom. */
const width = (zoom: number): number => 0.2 / 2 ** (zoom - 6)
const CENTIMETRE = 1.01e-7

test('a cell holds its places, and is as wide and high as decided', () => {
  fc.assert(
    fc.property(places, zooms, ({ lat, lng }, zoom) => {
      const [west, south, east, north] = cellBounds(cellAt(lat, lng, zoom))
      expect(lng).toBeWithin(west - CENTIMETRE, east + CENTIMETRE)
      expect(lat).toBeWithin(south - CENTIMETRE, north + CENTIMETRE)
      for (const side of [east - west, north - south])
        expect(Math.abs(side - width(zoom))).toBeLessThan(2 * CENTIMETRE)
      expect([west >= -180, south >= -90, east <= 180, north <= 90]).toEqual([true, true, true, true])
    }),
  )
})

test('four cells fill the one above them', () => {
  fc.assert(
    fc.property(places, fc.integer({ min: MIN_ZOOM + 1, max: MAX_ZOOM }), ({ lat, lng }, zoom) => {
      const { x, y } = cellAt(lat, lng, zoom)
      expect(cellAt(lat, lng, zoom - 1)).toEqual({ zoom: zoom - 1, x: x >> 1, y: y >> 1 })
    }),
  )
})

test('neighbours share an edge, which belongs to the eastern and the northern one', () => {
  expect(cellBounds({ zoom: 6, x: 1503, y: 570 })).toEqual([120.6, 24, 120.8, 24.2])
  expect(cellAt(24, 120.6, 6)).toEqual({ zoom: 6, x: 1503, y: 570 })
  for (let hundredths = -18_000; hundredths < 18_000; hundredths += 5) {
    const { x } = cellAt(0, hundredths / 100, 8)
    expect(x).toBe((hundredths + 18_000) / 5)
    expect(cellBounds({ zoom: 8, x, y: 0 })[2]).toBe(cellBounds({ zoom: 8, x: x + 1, y: 0 })[0])
  }
})

test('the last meridian and the poles have cells', () => {
  expect(cellBounds(cellAt(90, 180, 6))).toEqual([179.8, 89.8, 180, 90])
  expect(cellBounds(cellAt(-90, -180, 6))).toEqual([-180, -90, -179.8, -89.8])
})

test('names', () => {
  expect(cellName(cellAt(24.15, 120.67, 10))).toBe('10/24053/9132')
})

/** The next stations, and when a pilgrim arrives at their own pace. */
import { expect, test } from 'bun:test'
import { kmOnRoute, linesOf, nextStations, paceOf, placeOnRoute } from '#proxy/pages/walk/way/stations.ts'

const HOUR = 3_600_000
/** A kilometre to the north is this much. */
const KM = 1 / 111.195

/** Ten kilometres to the north, and the same way back. */
const there = Array.from({ length: 11 }, (_, i) => ({ lat: 24 + i * KM, lng: 120.6 }))
const lines = [there, [...there].reverse()]

test('lines are read from their transfer form', () => {
  expect(linesOf([[2_400_000, 12_060_000, 10, -5]])).toEqual([
    [
      { lat: 24, lng: 120.6 },
      { lat: 24.0001, lng: 120.59995 },
    ],
  ])
})

test('a place between two points of the route is between their distances', () => {
  expect(placeOnRoute(lines, { lat: 24 + 3.5 * KM, lng: 120.601 }, 0)).toBeCloseTo(3.5, 2)
  expect(placeOnRoute(lines, { lat: 24 + 3.5 * KM, lng: 120.9 }, 0)).toBeNull()
})

test('whoever has walked to the end and turned is on the way back, whenever they set out', () => {
  const toTheEnd = there
  const back = there.slice(6).reverse()
  expect(kmOnRoute(lines, [...toTheEnd, ...back], { lat: 24 + 6 * KM, lng: 120.6 })).toBeCloseTo(14, 2)
  expect(kmOnRoute(lines, there.slice(0, 6), { lat: 24 + 6 * KM, lng: 120.6 })).toBeCloseTo(6, 2)
  // A detour far from the route changes nothing; who is there now is not on it.
  const detour = { lat: 24 + 5 * KM, lng: 120.9 }
  expect(kmOnRoute(lines, [...toTheEnd, detour], { lat: 24 + 6 * KM, lng: 120.6 })).toBeCloseTo(14, 2)
  expect(kmOnRoute(lines, toTheEnd, detour)).toBeNull()
})

test('on the way back the place is on the way back', () => {
  expect(placeOnRoute(lines, { lat: 24 + 3.5 * KM, lng: 120.6 }, 11)).toBeCloseTo(16.5, 2)
})

test('the pace is that of the last three hours, rests included', () => {
  const walked = (kmh: number, hours: number) =>
    Array.from({ length: hours * 60 + 1 }, (_, i) => ({
      t: i * 60_000,
      lat: 24 + (i / 60) * kmh * KM,
      lng: 120.6,
    }))
  expect(paceOf(walked(4, 5))).toBeCloseTo(4, 2)
  const rested = walked(4, 1)
  expect(paceOf([...rested, { ...rested.at(-1)!, t: 2 * HOUR }])).toBeCloseTo(2, 2)
  // Too short, in a bus, and nothing at all.
  expect(paceOf(walked(4, 5).slice(0, 10))).toBeNull()
  expect(paceOf(walked(60, 2))).toBeNull()
  expect(paceOf([])).toBeNull()
})

test('the next stations come in order, with times by the pace', () => {
  const stations = [8, 3, 1].map((routeKm) => ({ name: `${routeKm}`, lat: 24, lng: 120, routeKm }))
  expect(nextStations(stations, 2, 4, 0)).toEqual([
    { name: '3', km: 1, atMs: HOUR / 4 },
    { name: '8', km: 6, atMs: (HOUR * 6) / 4 },
  ])
  expect(nextStations(stations, 2, null, 0)[0]!.atMs).toBeNull()
  expect(nextStations(stations, 9, 4, 0)).toEqual([])
})

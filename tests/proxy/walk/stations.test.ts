/** The next stations, and a pilgrim's arrival at their own pace. The app and the share page show the same. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { aheadOf, nextStations, paceOf, trailAfter } from '#proxy/pages/walk/way/stations.ts'
import { progressOf } from '#services/feedback-media/shares/progress.ts'
import { createRouteAnswer } from '#services/tracking/map/show-route.ts'
import { readRoute } from '#shared/runtime/config/read-route.ts'
import type { EventRoute } from '#shared/contracts/map.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import type { Place } from '#shared/core/rules/geo.ts'
import {
  kmAlong,
  measureRoute,
  stationsAhead,
  unpackLines,
  wayToRoute,
} from '#shared/core/rules/along-route.ts'

const HOUR = 3_600_000
/** A kilometre of latitude, in degrees. */
const KM = 1 / 111.195

/** Ten kilometres northward, and the same way back. */
const there = Array.from({ length: 11 }, (_, i) => ({ lat: 24 + i * KM, lng: 120.6 }))
const route = measureRoute([there, [...there].reverse()], 20)
const northOf = (km: number, lng = 120.6) => ({ lat: 24 + km * KM, lng })

test('lines are read from their transfer form', () => {
  expect(unpackLines([[2_400_000, 12_060_000, 10, -5]])).toEqual([
    [
      { lat: 24, lng: 120.6 },
      { lat: 24.0001, lng: 120.59995 },
    ],
  ])
})

test('a place between two points of the route is between their distances', () => {
  expect(kmAlong(route, [], northOf(3.5, 120.601))).toBeCloseTo(3.5, 2)
  expect(kmAlong(route, [], northOf(3.5, 120.9))).toBeNull()
  // A simplified line is scaled to the length of the route.
  expect(kmAlong(measureRoute([there], 10.4), [], northOf(5))).toBeCloseTo(5.2, 2)
})

test('whoever has walked to the end and turned is on the way back, whenever they set out', () => {
  const back = there.slice(6).reverse()
  expect(kmAlong(route, [...there, ...back], northOf(6))).toBeCloseTo(14, 2)
  expect(kmAlong(route, there.slice(0, 6), northOf(6))).toBeCloseTo(6, 2)
  // A detour far from the route changes nothing; a pilgrim on it is off the route.
  const detour = northOf(5, 120.9)
  expect(kmAlong(route, [...there, detour], northOf(6))).toBeCloseTo(14, 2)
  expect(kmAlong(route, there, detour)).toBeNull()
})

test('a phone that errs by a little, or a few steps back, turn nobody around', () => {
  const noisy = Array.from({ length: 60 }, (_, i) =>
    northOf(2 + i * 0.05 + (i % 2) * 0.08, 120.6 + (i % 3) * 1e-4),
  )
  expect(kmAlong(route, noisy, northOf(4.9))).toBeCloseTo(4.9, 2)
  // A pilgrim who turned around counts as on the way back after a few hundred metres, even before the end.
  expect(kmAlong(route, [...noisy, northOf(4.5)], northOf(4.4))).toBeCloseTo(15.6, 2)
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
  // Too short, in a bus, and empty.
  expect(paceOf(walked(4, 5).slice(0, 10))).toBeNull()
  expect(paceOf(walked(60, 2))).toBeNull()
  expect(paceOf([])).toBeNull()
})

test('the next stations come in order, with times by the pace', () => {
  const stations = [8, 3, 1].map((routeKm) => ({
    name: `${routeKm}`,
    names: {},
    route_km: routeKm,
    ...northOf(routeKm),
  }))
  const given = { lines: [[2_400_000, 12_060_000, 89_932, 0]], km: 100, stations }
  const here = { ...northOf(2), t: 0 }
  const at = (kmh: number | null, km = 2) =>
    nextStations(given, { walked: [], here: { ...here, ...northOf(km) }, kmh }, 0).map(
      ({ station, ...rest }) => ({ name: station.name, ...rest }),
    )
  expect(at(4)).toEqual([
    { name: '3', km: 1, atMs: HOUR / 4 },
    { name: '8', km: 6, atMs: (HOUR * 6) / 4 },
  ])
  expect(at(null)[0]!.atMs).toBeNull()
  expect(at(4, 9)).toEqual([])
  // At a station, the next one is shown.
  expect(stationsAhead([{ routeKm: 3 }, { routeKm: 8 }], 2.96)[0]!.station.routeKm).toBe(8)
})

test('what lies ahead is told everywhere: on the route, behind its last station, and away from it', () => {
  const stations = [{ name: '3', names: {}, route_km: 3, ...northOf(3) }]
  const given = { lines: [[2_400_000, 12_060_000, 89_932, 0]], km: 100, stations }
  const at = (lat: number, lng: number) => aheadOf(given, { walked: [], here: { t: 0, lat, lng }, kmh: 4 }, 0)
  expect(at(24, 120.6)).toMatchObject({ is: 'stations', next: [{ km: 3, atMs: (HOUR * 3) / 4 }] })
  expect(at(24 + 4 * KM, 120.6)).toEqual({ is: 'end' })
  expect(at(24 + 4 * KM, 120.7)).toMatchObject({ is: 'off', direction: 6 })
  expect(
    aheadOf({ ...given, stations: [] }, { walked: [], here: { t: 0, ...northOf(1) }, kmh: 4 }, 0),
  ).toBeNull()
})

test.each([
  ['south', northOf(15), 5, 4],
  ['north', northOf(-2.5), 2.5, 0],
  ['west', northOf(5, 120.7), 10.16, 6],
  ['east', northOf(5, 120.5), 10.16, 2],
  ['south-east', northOf(13, 120.6 - 0.03285), 4.49, 3],
])('away from the route, it lies to the %s', (_, here, km, direction) => {
  const back = wayToRoute(route, [], here)!
  expect(back.direction).toBe(direction)
  expect(back.metres / 1_000).toBeCloseTo(km, 1)
  expect(wayToRoute(measureRoute([], 0), [], here)).toBeNull()
})

test('away from the way back, the way there is not told, though it is nearer', () => {
  // 10 km north, 5 km east, and back south.
  const east = 5 / (111.195 * Math.cos((24 * Math.PI) / 180))
  const line = [northOf(0), northOf(10), northOf(10, 120.6 + east), northOf(0, 120.6 + east)]
  const loop = measureRoute([line], 25)
  const walked = [northOf(1), northOf(9), northOf(10, 120.6 + east / 2), northOf(8, 120.6 + east)]
  const here = northOf(7, 120.6 + east * 0.44)
  expect(wayToRoute(loop, [], here)!.direction).toBe(6)
  const back = wayToRoute(loop, walked, here)!
  expect(back.direction).toBe(2)
  expect(back.metres / 1_000).toBeCloseTo(2.8, 1)
})

test('the device keeps four hours of the own trail, a place a minute, of one pilgrim', () => {
  let trail = trailAfter({ userId: '', places: [] }, 'a', { t: 0, ...northOf(0) })
  for (let t = 30_000; t <= 6 * HOUR; t += 30_000) trail = trailAfter(trail, 'a', { t, ...northOf(t / HOUR) })
  expect(trail.places).toHaveLength(241)
  expect(trail.places.at(-1)!.t - trail.places[0]!.t).toBe(4 * HOUR)
  expect(paceOf(trail.places)).toBeCloseTo(1, 2)
  const place = { t: 6 * HOUR + 90_000, ...northOf(6) }
  expect(trailAfter(trail, 'b', place)).toEqual({ userId: 'b', places: [place] })
  // A position slightly older than a check-in does not end the trail; a clock that was set back does.
  expect(trailAfter(trail, 'a', { ...place, t: 6 * HOUR - 25_000 })).toBe(trail)
  expect(trailAfter(trail, 'a', { ...place, t: 5 }).places).toHaveLength(1)
})

/** A winding road: simplified, it is more than a hundred metres shorter in every ten kilometres. */
const winding = createRoute([
  Array.from({ length: 4_000 }, (_, i) => ({ lat: 24 + i * 1e-4, lng: 120.6 + Math.sin(i / 2) * 6e-5 })),
])

test.each([
  ['the demo', readRoute(join(import.meta.dir, '../../tools/crowd/route.geojson'), [])],
  [
    'a winding road',
    {
      route: winding,
      stations: [9, 21, 33, 44].map((km) => ({
        name: `${km}`,
        names: {},
        alongM: km * 1e3,
        ...winding.at(km * 1e3),
      })),
    },
  ],
])('the app and the page of a link say the same of the next station, on the route of %s', async (_, file) => {
  const answer = createRouteAnswer({ current: file })(new Request('https://localhost/'), undefined)
  const { data } = (await answer.json()) as { data: EventRoute }
  const metres = file.route!.lengthM
  const walkedTo = (endM: number) =>
    Array.from({ length: 120 }, (_point, i) => {
      const { lat, lng }: Place = file.route!.at(Math.max(0, endM - (119 - i) * 75))
      return { t: i * 60_000, lat: lat + Math.sin(i) * 8e-5, lng: lng + Math.cos(i * 2) * 8e-5 }
    })
  let compared = 0
  for (let share = 0.03; share < 1; share += 0.043) {
    const walked = walkedTo(metres * share)
    const here = walked.at(-1)!
    const page = progressOf(walked, file, here.t)!.next
    // The phone has two days, the page the last hours.
    const before = walkedTo(Math.max(9_000, metres * share - 9_000))
    const app = nextStations(data, { walked: [...before, ...walked], here, kmh: 4 }, here.t)[0]
    expect([app?.station.name, app?.km]).toEqual([page?.station.name, page?.km])
    const km = page && page.station.alongM / 1_000 - (metres * share) / 1_000
    if (km != null) expect(Math.abs(page!.km - km)).toBeLessThan(0.11)
    compared += page === null ? 0 : 1
  }
  expect(compared).toBeGreaterThan(15)
})

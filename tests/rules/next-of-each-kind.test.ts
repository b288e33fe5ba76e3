/** The next water, toilet and the like ahead of a walker: along the route, or in a straight line off it. */
import { expect, test } from 'bun:test'
import { measureRoute, nextOfEachKind } from '#shared/core/rules/along-route.ts'

/** A kilometre northward, and one eastward at this latitude, in degrees. */
const KM = 1 / 111.195
const KM_EAST = KM / Math.cos((24 * Math.PI) / 180)

const at = (km: number, eastKm = 0) => ({ lat: 24 + km * KM, lng: 120.6 + eastKm * KM_EAST })
const there = Array.from({ length: 11 }, (_, km) => at(km))
/** Ten kilometres northward, and the same way back. */
const ROUTE = measureRoute([there, [...there].reverse()], 20)

const place = (kind: string, name: string, km: number, eastKm = 0) => ({ kind, name, ...at(km, eastKm) })
const PLACES = [
  place('water', 'spring', 2),
  place('water', 'well', 6),
  place('toilet', 'school', 4, 0.3),
  place('bed', 'inn', 9),
  place('food', 'far village', 5, 3),
]

test.each([
  ['at the start', [], at(0), ['spring 2.0', 'school 4.3', 'inn 9.0'], true],
  [
    'just past the spring: the well is next',
    there.slice(0, 3),
    at(2.1),
    ['school 2.2', 'well 3.9', 'inn 6.9'],
    true,
  ],
  [
    'at the spring, which is here',
    there.slice(0, 3),
    at(2.02),
    ['spring 0.0', 'school 2.3', 'inn 7.0'],
    true,
  ],
  [
    'past the inn, before the turn: all come on the way back',
    there.slice(0, 10),
    at(9.5),
    ['inn 1.5', 'well 4.5', 'school 6.8'],
    true,
  ],
  ['on the way back, near its end', [...there, ...there.toReversed().slice(0, 9)], at(1), [], true],
  [
    'off the route: the nearest of all by air',
    there,
    at(5, 4),
    ['far village 1.0', 'school 3.8', 'well 4.1', 'inn 5.7'],
    false,
  ],
  [
    'beside the route: by air, too',
    there,
    at(4.5, 1.5),
    ['school 1.3', 'far village 1.6', 'well 2.1', 'inn 4.7'],
    false,
  ],
  [
    'on its other side',
    there,
    at(4.5, -1.5),
    ['school 1.9', 'well 2.1', 'far village 4.5', 'inn 4.7'],
    false,
  ],
  ['across the road', there.slice(0, 4), at(4, -0.09), ['school 0.4', 'well 2.0', 'inn 5.0'], true],
])('%s', (_where, walked, here, expected, isAlong) => {
  const next = nextOfEachKind(ROUTE, PLACES, walked, here)
  expect(next.map(({ place: { name }, metres }) => `${name} ${(metres / 1_000).toFixed(1)}`)).toEqual(
    expected,
  )
  expect(next.every((one) => one.isAlong === isAlong)).toBe(true)
})

const oneWay = measureRoute([there], 10)
/** The way back is 80 m beside the way out. */
const parallel = measureRoute([[...there, ...there.map((_, km) => at(10 - km, 0.08))]], 20.08)

test.each([
  ['before it', parallel, 4, 3, '1.0'],
  ['past it: ahead again on the leg beside', parallel, 4, 6, '10.2'],
  ['on one way, past it', oneWay, 4, 6, null],
  ['past it, before the next point of the line', oneWay, 1.75, 1.9, null],
  ['before it, at the last point of the line', oneWay, 2.25, 2, '0.3'],
])('a place beside the route, %s', (_where, route, placeKm, hereKm, expected) => {
  const walked = there.slice(0, Math.ceil(hereKm))
  const [next] = nextOfEachKind(route, [place('water', 'well', placeKm)], walked, at(hereKm))
  expect(next === undefined ? null : (next.metres / 1_000).toFixed(1)).toBe(expected)
})

/**
 * The points of a route in the console: from a file, after a change of kind, at the limits, and as a request
 * of limited size.
 */
import { expect, test } from 'bun:test'
import { readRouteFile } from '../../proxy/pages/console/views/lifecycle/route-file.ts'
import {
  fittingLines,
  MAX_PLACES,
  MAX_STATIONS,
  mayBecome,
  roomIn,
  partOf,
  pointsOf,
  type PointKind,
  routeToSend,
  withinLimits,
} from '../../proxy/pages/console/views/lifecycle/route-points.ts'
import * as contract from '#shared/contracts/event-settings.ts'

const { SetRouteRequest } = contract

test('the console has the limits of the service', () => {
  expect([MAX_STATIONS, MAX_PLACES]).toEqual([contract.MAX_STATIONS, contract.MAX_PLACES])
})

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const STATION = {
  lat: 24 + 1 / 7,
  lng: 120 + 1 / 7,
  names: { 'zh-Hant': '大甲鎮瀾宮' },
  km: 12 + 1 / 7,
  planned_at: '2026-04-12T00:00:00.000Z',
}
const PLACE = { lat: 24, lng: 120, names: { en: 'Well' }, kind: 'water', hours: '06:00–22:00' } as const

test('a point whose kind changes and returns has all its details', () => {
  const points = pointsOf({ stations: [STATION], places: [PLACE] })
  const changed = (kinds: readonly PointKind[]) =>
    partOf(points.map((point) => kinds.reduce((one, kind) => ({ ...one, kind }), { ...point })))
  expect(changed(['toilet', 'bed']).stations).toEqual([])
  const { stations } = changed(['water', '', 'toilet', ''])
  expect(stations[0]).toEqual({ ...STATION, lat: 24.142857, lng: 120.142857, km: 12.143 })
  expect(changed(['', 'bed', '', 'water']).places[1]).toEqual(PLACE)
})

test.each([
  [200, 200, 0, false, false],
  [199, 200, 0, false, true],
  [200, 199, 0, true, false],
  [203, 201, 4, false, false],
])('%i stations and %i places: %i are left out', (stations, places, leftOut, toPlace, toStation) => {
  const all = pointsOf({ stations: many(stations, () => STATION), places: many(places, () => PLACE) })
  const fitting = withinLimits(all)
  expect(fitting.leftOut).toBe(leftOut)
  const { points } = fitting
  expect(points).toHaveLength(stations + places - leftOut)
  expect(mayBecome(roomIn(points), '', 'water')).toBe(toPlace)
  expect(mayBecome(roomIn(points), 'water', '')).toBe(toStation)
  expect(mayBecome(roomIn(points), 'water', 'bed')).toBe(true)
})

const feature = (coordinates: unknown, properties: object = {}, type = 'Point') => ({
  type: 'Feature',
  geometry: { type, coordinates },
  properties,
})
/** A winding line of 6,000 points, 400 km long. */
const WINDING = many(6_000, (i) => [120 + Math.sin(i / 5) / 500, 22 + i / 1_650])

test('a long line with 200 stations and 200 places fits into a request', async () => {
  const names = { name: '沿途停駐休息點與補給站', name_ja: '沿道の休憩所と補給所' }
  const at = (i: number) => [120 + 1 / (i + 3), 22 + 1 / (i + 7)]
  const file = {
    type: 'FeatureCollection',
    features: [
      feature(WINDING, {}, 'LineString'),
      ...many(200, (i) => feature(at(i), { ...names, km: 1 / (i + 3), planned_at: STATION.planned_at })),
      ...many(200, (i) =>
        feature(at(i), { ...names, kind: 'first-aid', hours: '上午六時至晚上十時，例假日休息' }),
      ),
    ],
  }
  const found = await readRouteFile(new Blob([JSON.stringify(file)]), 'zh-Hant')
  if (typeof found === 'string') throw new Error(found)
  const lines = fittingLines(
    found.lines.map(({ places }) => places),
    found.points,
  )
  // Names typed since the file was read.
  const points = found.points.map((point) => ({
    ...point,
    names: { ...point.names, en: 'Rest and supplies' },
  }))
  const sent = { ...routeToSend(lines, points), margin_km: null, version: 1 }
  expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(102_400)
  expect(SetRouteRequest.parse(sent)).toMatchObject({ stations: { length: 200 }, places: { length: 200 } })
  expect(sent.lines[0]!.length).toBeGreaterThan(1_000)
})

/** `GET route`: the line and its stations from EVENT_ROUTE. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRouteAnswer } from '#services/tracking/map/show-route.ts'
import { routeVersion } from '#shared/pilgrims/event-route.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { EventRoute } from '#shared/contracts/map.ts'

const dir = mkdtempSync(join(tmpdir(), 'event-stations-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const point = (lng: number, lat: number, properties: object) => ({
  type: 'Feature',
  properties,
  geometry: { type: 'Point', coordinates: [lng, lat] },
})
const line = {
  type: 'Feature',
  properties: { name: 'the way' },
  geometry: {
    type: 'LineString',
    // The middle one is within a metre of the line, so it is omitted.
    coordinates: [
      [120.6, 24],
      [120.600005, 24.05],
      [120.6, 24.1],
      [120.7, 24.1],
    ],
  },
}

function eventOf(features: readonly object[]) {
  const file = join(dir, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features }))
  return readConfig({ EVENT_ROUTE: file }).event
}
async function answerOf(event: ReturnType<typeof eventOf>, v?: string) {
  const answer = createRouteAnswer({ current: event })(new Request('http://event.test/api/event/route'), v)
  const { data } = (await answer.json()) as { data: unknown }
  return { headers: answer.headers, route: EventRoute.parse(data) }
}

test('the answer has the simplified line, and the stations in the order of the way with their names', async () => {
  const event = eventOf([
    point(120.65, 24.101, { name: '北宮', name_en: 'North Temple', name_ja: ' ', rank: 3 }),
    line,
    point(120.601, 24.02, { name: '南宮', name_zh_hans: '南宫' }),
    point(120.601, 24.02, { name: '回程', km: 20 }),
  ])
  const { route, headers } = await answerOf(event)
  expect(route.lines).toEqual([[2_400_000, 12_060_000, 10_000, 0, 0, 10_000]])
  expect(route.km).toBeWithin(21.2, 21.35)
  expect(route.stations.map(({ name, names }) => [name, names])).toEqual([
    ['南宮', { 'zh-Hans': '南宫' }],
    ['北宮', { en: 'North Temple' }],
    ['回程', {}],
  ])
  expect(route.stations[0]!.route_km).toBeWithin(2.2, 2.24)
  expect(route.stations[2]!.route_km).toBe(20)
  expect(route.version).toBe(routeVersion(event))
  expect(headers.get('cache-control')).toBe('public, max-age=10, stale-while-revalidate=60')
  const named = await answerOf(event, route.version!)
  expect(named.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  // A cache must not store this route under another version.
  const other = await answerOf(event, 'old')
  expect(other.headers.get('cache-control')).toBe('no-store')
  expect(routeVersion(eventOf([line]))).not.toBe(route.version)
})

test('a point with a kind of place is no station, and a route without places is as it was', async () => {
  const station = point(120.601, 24.02, { name: '南宮', kind: 'temple' })
  const { route } = await answerOf(
    eventOf([
      line,
      point(120.65, 24.1, { kind: 'toilet' }),
      station,
      point(120.6, 24.05, { kind: 'water', name: '國小', name_en: 'School', hours: '06:00–22:00' }),
    ]),
  )
  expect(route.stations.map(({ name }) => name)).toEqual(['南宮'])
  expect(route.places!.map(({ route_km }) => Math.round(route_km))).toEqual([6, 16])
  expect(route.places).toMatchObject([
    {
      kind: 'water',
      name: '國小',
      names: { en: 'School' },
      hours: '06:00–22:00',
      lat: 24.05,
      lng: 120.6,
    },
    { kind: 'toilet', name: null, names: {}, hours: null, lat: 24.1, lng: 120.65 },
  ])
  expect((await answerOf(eventOf([line, station]))).route).not.toHaveProperty('places')
  for (const hours of ['', 7, 'x'.repeat(61)])
    expect(() => eventOf([line, point(120, 24, { kind: 'water', name: 'x', hours })])).toThrow(
      'EVENT_ROUTE: ',
    )
})

test('without a route the answer is empty, and stations without a line are a fault', async () => {
  const { route } = await answerOf(readConfig({}).event)
  expect(route).toEqual({ version: null, km: 0, lines: [], stations: [] })
  expect(() => eventOf([point(120, 24, { name: 'x' })])).toThrow('EVENT_ROUTE: has stations, but no line')
  for (const properties of [{}, { name: '' }, { name: 'x', km: -1 }])
    expect(() => eventOf([line, point(120, 24, properties)])).toThrow('EVENT_ROUTE: ')
})

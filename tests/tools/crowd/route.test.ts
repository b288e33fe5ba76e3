/** The demo's route: two lines and their stations, at the positions given in the file. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { readRoute } from '#shared/runtime/config/read-route.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import type { Place } from '#shared/core/rules/geo.ts'

const Position = z.tuple([z.number().min(120.2).max(120.75), z.number().min(23.5).max(24.6)])
const Names = {
  name: z.string().regex(/^\p{Script=Han}+$/u),
  name_en: z.string().regex(/^[A-Z][A-Za-z' ]+$/),
  direction: z.enum(['there', 'back']),
  km: z.number(),
}
const Line = z.object({
  properties: z.object(Names),
  geometry: z.object({ type: z.literal('LineString'), coordinates: z.array(Position) }),
})
const Station = z.object({
  properties: z.object(Names),
  geometry: z.object({ type: z.literal('Point'), coordinates: Position }),
})
const File = z.object({ type: z.literal('FeatureCollection'), features: z.array(z.unknown()) })
const FILE = join(import.meta.dir, 'route.geojson')
const route = File.parse(await Bun.file(FILE).json())
const lines = route.features.slice(0, 2).map((feature) => Line.parse(feature))
const stations = route.features.slice(2).map((feature) => Station.parse(feature))

const placeOf = ([lng, lat]: z.infer<typeof Position>): Place => ({ lat, lng })
const places = lines.map(({ geometry }) => geometry.coordinates.map(placeOf))

/** Great-circle distance in kilometres, by the spherical law of cosines. */
function kmBetween(a: Place, b: Place): number {
  const [aLat, bLat, turn] = [a.lat, b.lat, b.lng - a.lng].map((degrees) => (degrees * Math.PI) / 180) as [
    number,
    number,
    number,
  ]
  const cosine = Math.sin(aLat) * Math.sin(bLat) + Math.cos(aLat) * Math.cos(bLat) * Math.cos(turn)
  return 6371.0088 * Math.acos(Math.min(1, cosine))
}

const lengthKm = (line: readonly Place[]): number =>
  line.slice(1).reduce((sum, place, i) => sum + kmBetween(line[i]!, place), 0)

test('two lines, from Baishatun to Beigang and back, as long as they say', () => {
  const [there, back] = places as [Place[], Place[]]
  expect(there.at(-1)).toEqual(back[0])
  expect(back.at(-1)).toEqual({ lat: 24.5655, lng: 120.7083 })
  // Apart from the end, so that a pilgrim who has returned is not taken for one who sets out.
  const apartKm = kmBetween(there[0]!, back.at(-1)!)
  expect(apartKm).toBeGreaterThan(0.5)
  expect(apartKm).toBeLessThan(1)
  for (const [i, line] of places.entries()) {
    expect(Math.abs(lengthKm(line) - lines[i]!.properties.km)).toBeLessThan(0.06)
    for (let j = 1; j < line.length; j++) {
      const km = kmBetween(line[j - 1]!, line[j]!)
      expect(km).toBeGreaterThan(0.01)
      expect(km).toBeLessThan(3)
    }
  }
})

test('each station lies on the way, at the kilometre that it names', () => {
  const [there, back] = places.map((line) => createRoute([line]))
  const thereKm = lengthKm(places[0]!)
  let before = -1
  for (const { properties, geometry } of stations) {
    const isThere = properties.direction === 'there'
    const { alongM, offM } = (isThere ? there : back)!.project(placeOf(geometry.coordinates))
    expect(offM).toBeLessThan(20)
    expect(Math.abs(alongM / 1_000 + (isThere ? 0 : thereKm) - properties.km)).toBeLessThan(0.1)
    expect(properties.km).toBeGreaterThan(before)
    before = properties.km
  }
  expect(stations.length).toBeGreaterThan(30)
  expect(stations[0]!.properties.name).toBe('白沙屯')
  expect(stations.at(-1)!.properties.name).toBe('白沙屯')
})

test('an operator can give it to the service as its route', () => {
  const faults: string[] = []
  const read = readRoute(FILE, faults)
  expect(faults).toEqual([])
  expect(read.stations.length).toBe(stations.length)
  expect(read.route!.project(places[1]!.at(-1)!).alongM / 1_000).toBeCloseTo(
    lengthKm(places[0]!) + lengthKm(places[1]!),
    0,
  )
})

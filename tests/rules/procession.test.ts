import { expect, test } from 'bun:test'
import { alongAxis, alongRoute, type Weighed } from '#shared/rules/procession.ts'
import { createRoute } from '#shared/rules/route.ts'

const at = (lat: number, lng: number, users = 1, points = users): Weighed => ({ lat, lng, users, points })
/** A hundred pilgrims from 24° to 24.099° north on one meridian, ten points behind each. */
const line = Array.from({ length: 100 }, (_, i) => at(24 + i / 1_000, 120.6))
const behind = Array.from({ length: 100 }, (_, i) => at(23.9 + i / 1_000, 120.6, 0, 10))
const home = at(25.03, 121.56, 3)

test('without a route: along the crowd, towards where it has gone, whoever went home', () => {
  const ends = alongAxis([...line, ...behind, home])!
  expect(ends.front.lat).toBeWithin(24.09, 24.0975)
  expect(ends.tail.lat).toBeWithin(24.0015, 24.01)
  expect(ends.spreadMm / 1e6).toBeWithin(9.2, 10.6)
  const back = alongAxis([...line, ...behind.map((place) => ({ ...place, lat: place.lat + 0.2 })), home])!
  expect([back.front.lat, back.tail.lat]).toEqual([ends.tail.lat, ends.front.lat])
})

test('without a route: one pilgrim is front and tail, nobody is neither', () => {
  expect(alongAxis([at(24, 120)])).toEqual({
    front: { lat: 24, lng: 120, alongM: null },
    tail: { lat: 24, lng: 120, alongM: null },
    spreadMm: 0,
  })
  expect(alongAxis(behind)).toBeNull()
  expect(alongAxis([])).toBeNull()
})

/** Ten kilometres to the north, and then ten to the east. */
const NORTH = 10_000 / 111_195.08
const EAST = NORTH / Math.cos(((24 + NORTH) * Math.PI) / 180)
const route = createRoute([
  [
    { lat: 24, lng: 120 },
    { lat: 24 + NORTH, lng: 120 },
  ],
  [
    { lat: 24 + NORTH, lng: 120 },
    { lat: 24 + NORTH, lng: 120 + EAST },
  ],
])

test('a place is projected onto the nearest leg', () => {
  const { alongM, offM } = route.project({ lat: 24 + NORTH / 2, lng: 120.005 })
  expect(alongM).toBeWithin(4_999, 5_001)
  expect(offM).toBeWithin(500, 512)
  expect(route.project({ lat: 24 + NORTH + 0.001, lng: 120 + EAST / 2 }).alongM).toBeWithin(14_990, 15_010)
  expect(route.project({ lat: 23, lng: 120 })).toMatchObject({ alongM: 0 })
  expect(route.project({ lat: 24 + NORTH, lng: 121 }).alongM).toBeWithin(19_990, 20_010)
  const corner = route.at(10_000)
  expect([corner.lat - 24 - NORTH, corner.lng - 120].map(Math.abs).every((off) => off < 1e-5)).toBe(true)
  expect(route.at(99_999).lng).toBeCloseTo(120 + EAST, 6)
})

test('along a route: round the corner, without strays and without who is far off', () => {
  const there = Array.from({ length: 40 }, (_, i) => {
    const { lat, lng } = route.at(500 * i)
    return at(lat + 1e-4, lng)
  })
  const ends = alongRoute([...there, home], route)!
  // Two of forty are left out at each end.
  expect(ends.tail.alongM).toBeWithin(980, 1_020)
  expect(ends.front.alongM).toBeWithin(18_480, 18_520)
  expect(ends.spreadMm / 1e6).toBeWithin(17.4, 17.6)
  expect(alongRoute([home], route)).toBeNull()
})

test('a route that leads nowhere is refused', () => {
  const here = { lat: 24, lng: 120 }
  expect(() => createRoute([[here, here]])).toThrow(RangeError)
})

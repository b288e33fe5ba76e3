import { expect, test } from 'bun:test'
import { alongAxis, alongRoute, middleOf, type Places } from '#shared/core/map/front-and-tail.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import { createRandom } from '#tests/helpers/random.ts'

type At = readonly [lat: number, lng: number, weight: number]
const places = (...all: readonly At[]): Places => ({
  lats: all.map(([lat]) => lat),
  lngs: all.map(([, lng]) => lng),
  weights: all.map(([, , weight]) => weight),
})
/** A hundred pilgrims from 24° to 24.099° north on one meridian, with the place of each. */
const line = Array.from({ length: 100 }, (_, i): At => [24 + i / 1_000, 120.6, 1])
const behind = line.map(([lat, lng]): At => [lat - 0.1, lng, 10])
const home: At = [25.03, 121.56, 3]

test('without a route front and tail are along the crowd in its direction, without those who went home', () => {
  const crowd = places(...line, home)
  const ends = alongAxis(crowd, places(...line, ...behind))!
  // Of 103, the ten farthest from the middle are excluded: three at home, five behind and two in front.
  expect(ends.front.lat).toBeCloseTo(24.097, 9)
  expect(ends.tail.lat).toBeCloseTo(24.005, 9)
  expect(ends.spreadMm / 1e6).toBeWithin(9.2, 10.6)
  const back = alongAxis(crowd, places(...line, ...line.map(([lat, lng]): At => [lat + 0.1, lng, 10])))!
  expect([back.front.lat, back.tail.lat]).toEqual([ends.tail.lat, ends.front.lat])
})

test('without a route one pilgrim is front and tail, and without pilgrims there is none', () => {
  const end = { lat: 24, lng: 120, alongM: null }
  const one = places([24, 120, 1])
  expect(alongAxis(one, one)).toEqual({ front: end, middle: end, tail: end, spreadMm: 0 })
  expect(alongAxis(one, places())).toEqual({ front: end, middle: end, tail: end, spreadMm: 0 })
  expect(alongAxis(places(), places(...behind))).toBeNull()
})

/** Ten kilometres northward, then ten eastward. */
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

test('along a route front and tail follow its corner, without strays and distant pilgrims', async () => {
  const there = Array.from({ length: 40 }, (_, i): At => {
    const { lat, lng } = route.at(500 * i)
    return [lat + 1e-4, lng, 1]
  })
  const ends = (await inTurns(alongRoute(places(...there, home), route)))!
  // Two of forty are excluded at each end.
  expect(ends.tail.alongM).toBeWithin(980, 1_020)
  expect(ends.front.alongM).toBeWithin(18_480, 18_520)
  expect(ends.spreadMm / 1e6).toBeWithin(17.4, 17.6)
  // In any order of the input.
  expect(await inTurns(alongRoute(places(home, ...there.toReversed()), route))).toEqual(ends)
  expect(await inTurns(alongRoute(places(home), route))).toBeNull()
})

test('each stretch of the way there and back is told to who knows only the place', () => {
  const there = Array.from({ length: 11 }, (_, i) => ({ lat: 24 + (i * NORTH) / 10, lng: 120 }))
  const thereAndBack = createRoute([there, there.toReversed()])
  for (const km of [3.5, 8.5]) {
    const alongs = thereAndBack.passes({ lat: 24 + (km * NORTH) / 10, lng: 120 }, 2_000, 50)
    expect(alongs.map(({ alongM }) => Math.round(alongM / 10))).toEqual([100 * km, 2_000 - 100 * km])
  }
  expect(thereAndBack.passes({ lat: 24, lng: 120.3 }, 2_000, 50)).toEqual([])
})

test('who stands where the route crosses itself is on the stretch of the others', async () => {
  // North for 60 km, back on a road 9 km east, and west across the outbound road 20 km from its start.
  const [km, east] = [NORTH / 10, EAST / 10]
  const crossing = createRoute([
    [
      { lat: 24, lng: 120 },
      { lat: 24 + 60 * km, lng: 120 },
      { lat: 24 + 60 * km, lng: 120 + 9 * east },
      { lat: 24 + 20 * km, lng: 120 + 9 * east },
      { lat: 24 + 20 * km, lng: 120 - 9 * east },
    ],
  ])
  const crowd = (fromKm: number, toKm: number): At[] =>
    Array.from({ length: toKm - fromKm }, (_, i): At => {
      const { lat, lng } = crossing.at((fromKm + i) * 1_000)
      return [lat, lng, 1]
    })
  const here: At = [24 + 20 * km + 1e-5, 120, 30]
  const back = (await inTurns(alongRoute(places(here, ...crowd(85, 117)), crossing)))!
  expect(back.front.alongM! / 1_000).toBeWithin(117.5, 118.5)
  expect(back.tail.alongM! / 1_000).toBeWithin(84, 90)
  const out = (await inTurns(alongRoute(places(here, ...crowd(5, 37)), crossing)))!
  expect(out.front.alongM! / 1_000).toBeWithin(32, 37)
  expect(out.spreadMm / 1e6).toBeLessThan(32)
  // Without other pilgrims the nearest stretch counts, the first of two equally near ones.
  expect((await inTurns(alongRoute(places(here), crossing)))!.middle.alongM! / 1_000).toBeWithin(19, 21)
})

test('a route without length is refused', () => {
  const here = { lat: 24, lng: 120 }
  expect(() => createRoute([[here, here]])).toThrow(RangeError)
})

/** A crowd twice as long as wide, on the equator, where a degree is as long in both directions. */
const ellipse = (degrees: number): Places => {
  const [dx, dy] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
  const turns = Array.from({ length: 720 }, (_, i) => (i * Math.PI) / 360)
  return places(
    ...turns.map((turn): At => {
      const [along, across] = [0.1 * Math.cos(turn), 0.05 * Math.sin(turn)]
      return [along * dy + across * dx, along * dx - across * dy, 1]
    }),
  )
}

test.each([0, 30, 60, 90, 120, 150])(
  'without a route the axis is that of the crowd at %d degrees',
  (degrees) => {
    const [dx, dy] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
    const { front, tail } = alongAxis(ellipse(degrees), places([-dy, -dx, 1]))!
    for (const [{ lat, lng }, sign] of [
      [front, 1],
      [tail, -1],
    ] as const) {
      // The ends of the nine tenths that count are at 0.0987 of the axis, and at most 0.008 beside it.
      expect(sign * (lng * dx + lat * dy)).toBeWithin(0.095, 0.1)
      expect(Math.abs(lat * dx - lng * dy)).toBeLessThan(0.016)
    }
  },
)

test('the middle of the walk is where the middle pilgrim near the route is', async () => {
  const at = (alongM: number, weight: number): At => {
    const { lat, lng } = route.at(alongM)
    return [lat, lng, weight]
  }
  const middle = async (...all: readonly At[]) =>
    (await inTurns(alongRoute(places(...all), route)))?.middle.alongM
  expect(await middle(at(1_000, 1))).toBeWithin(999, 1_001)
  expect(await middle(at(3_000, 1), at(1_000, 1), at(2_000, 1))).toBeWithin(1_999, 2_001)
  expect(await middle(at(1_000, 1), at(2_000, 1), at(3_000, 3), home)).toBeWithin(2_999, 3_001)
  // Of an even number, the rear one.
  expect(await middle(at(1_000, 2), at(3_000, 2))).toBeWithin(999, 1_001)
  expect(await middle(home)).toBeUndefined()
})

test('without a route the middle is the weighted median, also of places that are much closer than others', () => {
  const random = createRandom(7)
  for (let round = 0; round < 200; round++) {
    const all = Array.from({ length: 1 + Math.floor(random() * 60) }, (): At => {
      const scale = 10 ** -Math.floor(random() * 12)
      return [24 + scale * random(), 120 - scale * Math.floor(random() * 3), 1 + Math.floor(random() * 9)]
    })
    const median = (part: 0 | 1): number => {
      const values = all.flatMap((at) => Array.from({ length: at[2] }, () => at[part])).sort((a, b) => a - b)
      return values[Math.floor((values.length - 1) / 2)]!
    }
    expect(middleOf(places(...all))).toEqual({ lat: median(0), lng: median(1), alongM: null })
  }
})

test('the middle of millions of points takes no longer than that of few', () => {
  expect(middleOf(places([24, 120, 4_000_000_000], [25, 121, 3_000_000_000]))).toMatchObject({ lat: 24 })
})

test('on a long route that goes out and back, a place is projected onto the nearest of all its legs', () => {
  const out = Array.from({ length: 300 }, (_, i) => ({ lat: 24 + i / 999, lng: 120 + Math.sin(i / 9) / 50 }))
  const long = createRoute([[...out, ...out.toReversed()]])
  const legs = out.slice(1).map((to, i) => createRoute([[out[i]!, to]]))
  const random = createRandom(8)
  for (let i = 0; i < 200; i++) {
    const place = { lat: 24 + random() / 3, lng: 119.97 + random() / 16 }
    const nearestM = Math.min(...legs.map((leg) => leg.project(place).offM))
    expect(long.project(place).offM).toBeCloseTo(nearestM, 1)
  }
})

/** The speed of the middle of the walk, from its positions in the last hour. */
import { expect, test } from 'bun:test'
import type { StationEstimate } from '#shared/contracts/map.ts'
import { cellAt, cellCentre } from '#shared/core/map/cells.ts'
import { alongRoute } from '#shared/core/map/front-and-tail.ts'
import { readRoute } from '#shared/runtime/config/read-route.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { ROUTE_FILE } from '#tests/tools/crowd/way.ts'
import {
  estimatesOf,
  type Front,
  paceOf,
  type Sample,
  speedOf,
  withFront,
  withSample,
} from '#services/tracking/map/arrival-times.ts'

const MINUTE = 60_000
const START = Date.parse('2026-04-12T04:10:00Z')
const at = (alongM: number) => ({ lat: 24 + alongM / 111_195, lng: 120.6, alongM })

/** The speed after these minutes, for a middle at these metres in each of them. */
function speedAfter(
  minutes: number,
  alongM: (minute: number) => number,
  isRecent: (minute: number) => boolean = () => true,
) {
  let samples: Sample[] = []
  for (let minute = 0; minute <= minutes; minute++)
    samples = withSample(
      samples,
      at(alongM(minute)),
      isRecent(minute) ? 'recent' : 'day',
      START + minute * MINUTE,
    )
  return speedOf(samples, at(alongM(minutes)), START + minutes * MINUTE)
}

test('is that of the last hour, known after a quarter of an hour', () => {
  expect(speedAfter(14, (minute) => 60 * minute)).toBeNull()
  expect(speedAfter(15, (minute) => 60 * minute)).toBe(3.6)
  // An hour's rest after a walk.
  expect(speedAfter(120, (minute) => 60 * Math.min(minute, 60))).toBe(0)
  expect(speedAfter(30, (minute) => -60 * minute)).toBe(0)
})

test('is not known where nobody walks so fast', () => {
  expect(speedAfter(20, (minute) => 133 * minute)).toBe(8)
  expect(speedAfter(20, (minute) => 150 * minute)).toBeNull()
})

test('is not changed by a jump: the middle jumps when pilgrims wake up, or when late points arrive', () => {
  for (const jump of [3_000, -3_000])
    for (const when of [5, 20, 50])
      expect(speedAfter(60, (minute) => 65 * minute + (minute >= when ? jump : 0))).toBe(3.9)
})

test('is not that from one crowd to another: in the morning the first replace everybody of the evening', () => {
  const jump = (minute: number) => (minute < 30 ? 2_000 : 3_500)
  const recent = (minute: number) => minute >= 30
  expect(speedAfter(35, jump)).toBe(3)
  expect(speedAfter(35, jump, recent)).toBeNull()
  expect(speedAfter(50, jump, recent)).toBe(0)
})

test('without a route it is that of the way as the crow flies, and a rest is none', () => {
  const off = (north: number) => ({ lat: 24 + north / 111_195, lng: 120.6, alongM: null })
  const after = (minutes: number, north: (minute: number) => number) => {
    let samples: Sample[] = []
    for (let minute = 0; minute <= minutes; minute++)
      samples = withSample(samples, off(north(minute)), 'recent', START + minute * MINUTE)
    return speedOf(samples, off(north(minutes)), START + minutes * MINUTE)
  }
  expect(after(60, (minute) => 65 * minute)).toBe(3.9)
  // The middle of a resting crowd drifts.
  expect(after(60, (minute) => (Math.floor(minute / 15) % 2) * 300)).toBe(0)
})

test('a time at a station is by the pace, else by the mean of the walk so far, else as planned', () => {
  const HOUR = 60 * MINUTE
  const NOW = Date.parse('2026-04-12T04:00:00Z')
  const stations = [5_000, 20_000, 60_000, 400_000].map((alongM, i) => ({
    ...at(alongM),
    name: `${i}`,
    names: {},
    ...(i < 2 ? {} : { plannedMs: NOW + (i - 1) * 24 * HOUR }),
  }))
  const walk = { front: at(12_000), middle: at(10_000) }
  const told = (kmh: number | null, startsMs: number | null, nowMs = NOW, hours = 3) =>
    estimatesOf(
      stations,
      { ...walk, pace: kmh === null ? null : { kmh, ms: hours * HOUR }, startsMs },
      nowMs,
    ).map((one) => ({
      ...one,
      front_at: one.front_at === null ? null : (Date.parse(one.front_at) - NOW) / HOUR,
      middle_at: (Date.parse(one.middle_at) - NOW) / HOUR,
    }))
  // At 5 km/h the third station is ten hours away, and the fourth too far for an estimate by speed.
  expect(told(5, null)).toEqual([
    { station: 1, front_at: 1.5, middle_at: 2, by: 'speed' },
    { station: 2, front_at: 9.5, middle_at: 10, by: 'speed' },
    { station: 3, front_at: 48, middle_at: 48, by: 'plan' },
  ])
  // One hour of data predicts four hours ahead.
  expect(told(5, null, NOW, 1).map(({ by }) => by)).toEqual(['speed', 'plan', 'plan'])
  // A rest: 10 km in ten hours.
  const resting = [
    { station: 1, front_at: 8, middle_at: 10, by: 'mean' },
    { station: 2, front_at: 48, middle_at: 50, by: 'mean' },
    { station: 3, front_at: 48, middle_at: 48, by: 'plan' },
  ]
  expect(told(0.2, NOW - 10 * HOUR)).toEqual(resting as never)
  expect(told(null, NOW - 10 * HOUR)).toEqual(resting as never)
  // A walk that has just begun has no data, and a plan in the past predicts nothing.
  expect(told(null, NOW - MINUTE).map(({ by }) => by)).toEqual(['plan', 'plan'])
  expect(told(null, null, NOW + 25 * HOUR).map(({ station }) => station)).toEqual([3])
})

test('on a steady walk a told time moves by no more than it claims, and the front does not go back', async () => {
  const { route: found, stations } = readRoute(ROUTE_FILE, [])
  const route = found!
  let seed = 1
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  // Each pilgrim keeps their distance to the others and is seen from time to time; the map knows only
  // cells.
  const people = Array.from({ length: 300 }, () => (random() + random() + random() - 1.5) * 2_000)
  let samples: Sample[] = []
  let fronts: Front[] = []
  let told: StationEstimate[] = []
  let frontM = 0
  const claims = new Map<number, number>()
  let compared = 0
  for (let minute = 0; minute <= 300; minute++) {
    const nowMs = START + minute * MINUTE
    const seen = people.filter(() => random() < 0.5).map((off) => 30_000 + 65 * minute + off + random() * 100)
    const cells = seen.map((alongM) => {
      const { lat, lng } = route.at(alongM)
      return cellCentre(cellAt(lat, lng, 14))
    })
    const places = {
      lats: cells.map(({ lat }) => lat),
      lngs: cells.map(({ lng }) => lng),
      weights: cells.map(() => 1),
    }
    const ends = (await inTurns(alongRoute(places, route)))!
    samples = withSample(samples, ends.middle, 'recent', nowMs)
    fronts = withFront(fronts, ends.front, nowMs)
    const [front] = fronts
    expect(front!.alongM!).toBeGreaterThanOrEqual(frontM)
    frontM = front!.alongM!
    const walk = {
      front: front!,
      middle: ends.middle,
      pace: paceOf(samples, ends.middle, nowMs),
      startsMs: null,
    }
    const next = estimatesOf(stations, walk, nowMs, told)
    for (const one of next) {
      const before = told.find(({ station, by }) => station === one.station && by === one.by)
      if (one.by !== 'speed' || one.front_at === null) continue
      if (before?.front_at == null) {
        claims.set(Date.parse(one.front_at), 30)
        continue
      }
      const [from, to] = [Date.parse(before.front_at), Date.parse(one.front_at)]
      // Rounded to half an hour if predicted more than an hour before.
      const claimed = claims.get(from) ?? 5
      expect(Math.abs(to - from) / MINUTE).toBeLessThanOrEqual(claimed)
      if (to !== from && to - nowMs > 50 * MINUTE) claims.set(to, 30)
      compared++
    }
    told = next
  }
  expect(compared).toBeGreaterThan(500)
})

/** The speed of the middle of the walk, from where it was in the last hour. */
import { expect, test } from 'bun:test'
import {
  estimatesOf,
  type Sample,
  speedOf,
  withSample,
} from '#services/tracking/map/map-page/arrival-times.ts'

const MINUTE = 60_000
const START = Date.parse('2026-04-12T04:10:00Z')
const at = (alongM: number) => ({ lat: 24 + alongM / 111_195, lng: 120.6, alongM })

/** The speed after so many minutes, of a middle at these metres in each of them. */
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
  // A rest of an hour after a walk.
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
  // The middle of a crowd that rests wanders.
  expect(after(60, (minute) => (Math.floor(minute / 15) % 2) * 300)).toBe(0)
})

test('a time at a station is by the speed, else by the mean of the walk so far, else as planned', () => {
  const HOUR = 60 * MINUTE
  const stations = [5_000, 20_000, 60_000, 400_000].map((alongM, i) => ({
    ...at(alongM),
    name: `${i}`,
    names: {},
    ...(i < 2 ? {} : { plannedMs: START + (i - 1) * 24 * HOUR }),
  }))
  const walk = { front: at(12_000), middle: at(10_000) }
  const told = (speedKmh: number | null, startsMs: number | null, nowMs = START) =>
    estimatesOf(stations, { ...walk, speedKmh, startsMs }, nowMs).map((one) => ({
      ...one,
      front_at: one.front_at === null ? null : (Date.parse(one.front_at) - START) / HOUR,
      middle_at: (Date.parse(one.middle_at) - START) / HOUR,
    }))
  // 5 km/h: the third station is ten hours away, the fourth farther than a speed tells.
  expect(told(5, null)).toEqual([
    { station: 1, front_at: 1.6, middle_at: 2, by: 'speed' },
    { station: 2, front_at: 9.6, middle_at: 10, by: 'speed' },
    { station: 3, front_at: 48, middle_at: 48, by: 'plan' },
  ])
  // A rest: 10 km in ten hours.
  const resting = [
    { station: 1, front_at: 8, middle_at: 10, by: 'mean' },
    { station: 2, front_at: 48, middle_at: 50, by: 'mean' },
    { station: 3, front_at: 48, middle_at: 48, by: 'plan' },
  ]
  expect(told(0.2, START - 10 * HOUR)).toEqual(resting as never)
  expect(told(null, START - 10 * HOUR)).toEqual(resting as never)
  // Nothing is known of a walk that has just begun, and a plan that has passed tells nothing.
  expect(told(null, START - MINUTE).map(({ by }) => by)).toEqual(['plan', 'plan'])
  expect(told(null, null, START + 25 * HOUR).map(({ station }) => station)).toEqual([3])
})

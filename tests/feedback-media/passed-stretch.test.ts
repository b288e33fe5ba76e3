/** The public part of a walk: the route between stations that were passed on past days. */
import { expect, test } from 'bun:test'
import { countPastPoints, readCardRoute } from '#services/feedback-media/cards/passed-stretch.ts'
import type { StationedRoute } from '#shared/pilgrims/event-route.ts'
import { createRoute, type Station } from '#shared/core/map/walking-route.ts'
import { distanceMm, type Place } from '#shared/core/rules/geo.ts'
import { describeFlushHarness, NOON, type FlushHarness } from '../scheduler/flush-harness.ts'
import { point } from '../scheduler/walks.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Twenty kilometres northward, with a station every five. */
const route = createRoute([
  [
    { lat: 24, lng: 120.6 },
    { lat: 24 + 20_000 / 111_195, lng: 120.6 },
  ],
])
const stations = [0, 5_000, 10_000, 15_000, 20_000].map((alongM): Station => ({
  name: `${alongM}`,
  names: {},
  alongM,
  ...route.at(alongM),
}))

/** A walk at 75 m a minute between two distances along the route, a few metres beside it. */
const walkOf = (fromM: number, toM: number, startMs: number) =>
  Array.from({ length: Math.ceil((toM - fromM) / 75) + 1 }, (_, i) => {
    const { lat, lng } = route.at(Math.min(toM, fromM + i * 75))
    return point({ lat, lng: lng + 1e-4, sentMs: startMs + i * MINUTE_MS })
  })
const HOME = { lat: 24.04, lng: 120.607 }

describeFlushHarness('the public part of a way', (harness) => {
  const given = (h: FlushHarness, current: StationedRoute = { route, stations }) =>
    ({ ...h.context(), event: { current } }) as Parameters<typeof readCardRoute>[0]
  const store = async (userId: string, points: Parameters<FlushHarness['buffer']>[1]) => {
    await harness.buffer(userId, points)
    await harness.flush()
  }
  const passed = async (userId: string) =>
    (await readCardRoute(given(harness), userId))!.stations.map(({ isPassed }) => isPassed)

  test('is between whole stations, without home, ends, and today', async () => {
    const yesterday = NOON - DAY_MS
    // From home, 700 m off the route, on it at 4.6 km, to 12 km; today on to 16 km.
    await store('anna', [
      point({ ...HOME, sentMs: yesterday - 20 * MINUTE_MS }),
      ...walkOf(4_600, 12_000, yesterday),
    ])
    const before = await readCardRoute(given(harness), 'anna')
    const points = await countPastPoints(given(harness), 'anna')
    expect(await passed('anna')).toEqual([false, true, true, false, false])
    const line = before!.passed[0]!
    expect([line[0]!.lat, line.at(-1)!.lat]).toEqual([stations[1]!.lat, stations[2]!.lat])
    for (const { lat, lng } of line) expect(route.project({ lat, lng }).offM).toBeLessThan(1)
    // Taking the ends of the drawn stretch for home and last place gives a large error; the ends of the
    // walk itself would be right.
    const places = await harness.db.sql<Place[]>`
      SELECT lat, lng FROM gps_points WHERE user_id = 'anna' ORDER BY recorded_at`
    const offM = (ends: readonly Place[]) =>
      [distanceMm(ends[0]!, HOME), distanceMm(ends.at(-1)!, route.at(12_000))].map((mm) => mm / 1_000)
    expect(Math.min(...offM(line))).toBeGreaterThan(500)
    expect(Math.max(...offM(places))).toBeLessThan(50)
    // Today's points change neither the picture nor its version.
    await store('anna', walkOf(12_000, 16_000, NOON - 2 * 60 * MINUTE_MS))
    expect(await readCardRoute(given(harness), 'anna')).toEqual(before)
    expect(await countPastPoints(given(harness), 'anna')).toBe(points)
    harness.nowMs += DAY_MS
    expect(await passed('anna')).toEqual([false, true, true, true, false])
    expect(await countPastPoints(given(harness), 'anna')).toBeGreaterThan(points)
  })

  test('is nothing for who passed fewer than two stations, or walked elsewhere; and without a route', async () => {
    await store('bert', walkOf(5_100, 9_900, NOON - DAY_MS))
    await store(
      'cleo',
      walkOf(1_000, 12_000, NOON - DAY_MS).map((one) => ({ ...one, lng: one.lng + 0.1 })),
    )
    for (const userId of ['bert', 'cleo', 'nobody'])
      expect((await readCardRoute(given(harness), userId))!.passed).toEqual([])
    expect(await readCardRoute(given(harness, { route: null, stations: [] }), 'bert')).toBeNull()
  })
})

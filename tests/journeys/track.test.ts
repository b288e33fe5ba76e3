/** Tracks: batches of points, their statistics, and the live map. */
import { describe, expect, test } from 'bun:test'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import {
  checkInEndpoint,
  dataEndpoint,
  type LivePosition,
  trackSyncEndpoint,
} from '#shared/contracts/tracking.ts'
import { cellAt, cellCentre, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import {
  admin,
  checkIn,
  flushed,
  newPilgrimId,
  PLACE,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const iso = (ms: number): string => new Date(ms).toISOString()
const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

/** A walk north: a point a minute, each 0.0008 degrees (89 m, 5.3 km/h) further, the last one a minute ago. */
const walk = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    lat: PLACE.lat + i * 0.0008,
    lng: PLACE.lng,
    timestamp: Date.now() - (count - i) * MINUTE_MS,
  }))

const FAULTS: readonly [reason: string, point: (ms: number) => unknown][] = [
  ['not-an-object', () => 'here'],
  ['not-an-object', () => null],
  ['no-timestamp', () => PLACE],
  ['no-timestamp', () => ({ ...PLACE, timestamp: null })],
  ['invalid-timestamp', () => ({ ...PLACE, timestamp: 'yesterday' })],
  ['invalid-timestamp', () => ({ ...PLACE, timestamp: '2026-02-30T10:00:00Z' })],
  ['invalid-timestamp', () => ({ ...PLACE, timestamp: '2026-04-12T10:00:00' })],
  ['invalid-timestamp', () => ({ ...PLACE, timestamp: true })],
  ['in-seconds', () => ({ ...PLACE, timestamp: `${Math.floor(Date.now() / 1_000)}` })],
  ['in-the-future', (ms) => ({ ...PLACE, timestamp: ms + 6 * MINUTE_MS })],
  ['too-old', (ms) => ({ ...PLACE, timestamp: ms - 30 * DAY_MS - MINUTE_MS })],
  ['out-of-bounds', (ms) => ({ lat: 90.001, lng: 0, timestamp: ms })],
  ['out-of-bounds', (ms) => ({ lat: 0, lng: -180.001, timestamp: ms })],
  ['invalid-position', (ms) => ({ lat: '24', lng: 120, timestamp: ms })],
  ['invalid-position', (ms) => ({ lat: 24, timestamp: ms })],
  ['invalid-field', (ms) => ({ ...PLACE, timestamp: ms, speed: 'fast' })],
  ['invalid-field', (ms) => ({ ...PLACE, timestamp: ms, accuracy: 1e308 })],
  ['invalid-field', (ms) => ({ ...PLACE, timestamp: ms, mode: 'a\u0000b' })],
  ['invalid-field', (ms) => ({ ...PLACE, timestamp: ms, source: '\ud800' })],
]

/** Includes the instants that only operators and the pilgrim see. */
const profileOf = async (stack: TestStack, userId: string) => {
  const headers = admin('volunteer')
  return dataOf(await stack.fetch(`/api/event/user/${userId}`, { headers }), profileEndpoint)
}

describeBothStacks('tracks', (stack) => {
  describe('a track', () => {
    test('is accepted point by point; the answer says what the phone may delete', async () => {
      const userId = newPilgrimId()
      const points = walk(10)
      expect(await dataOf(await syncTrack(stack, userId, points), trackSyncEndpoint)).toEqual({
        accepted: 10,
        duplicates: 0,
        rejected: [],
        durable_through: iso(points.at(-1)!.timestamp),
      })
      const overlapping = [...points.slice(5), ...points.slice(8)]
      expect(await dataOf(await syncTrack(stack, userId, overlapping), trackSyncEndpoint)).toMatchObject({
        durable_through: iso(points.at(-1)!.timestamp),
        rejected: [],
      })
      await flushed(stack)
      expect(await profileOf(stack, userId)).toMatchObject({ km: 0.8, checkins: 0, level: 1 })
    })

    test('a bad point affects no other; the answer lists its index and reason', async () => {
      const now = Date.now()
      const bad = FAULTS.map(([, point]) => point(now))
      const good = { ...PLACE, timestamp: now - MINUTE_MS }
      const answer = await dataOf(
        await syncTrack(stack, newPilgrimId(), [good, ...bad, good]),
        trackSyncEndpoint,
      )
      expect(answer).toEqual({
        accepted: 1,
        duplicates: 1,
        rejected: FAULTS.map(([reason], i) => ({ index: i + 1, reason: reason as 'too-old' })),
        durable_through: iso(good.timestamp),
      })
      const nothing = await dataOf(await syncTrack(stack, newPilgrimId(), bad), trackSyncEndpoint)
      expect(nothing).toMatchObject({ accepted: 0, duplicates: 0, durable_through: null })
    })

    test('is refused the eleventh time within a minute', async () => {
      const userId = newPilgrimId()
      const points = walk(1)
      for (let i = 0; i < 10; i++) await dataOf(await syncTrack(stack, userId, points), trackSyncEndpoint)
      const eleventh = await syncTrack(stack, userId, points)
      await sentenceOf(eleventh, 429, 'rate-limited')
      const seconds = Number(eleventh.headers.get('retry-after'))
      expect(seconds).toBeWithin(50, 61)
      expect(eleventh.headers.get('ratelimit')).toBe(`"sync";r=0;t=${seconds}`)
      expect(eleventh.headers.get('ratelimit-policy')).toBe('"sync";q=10;w=60')
      // The two rate limits are separate.
      await dataOf(await checkIn(stack, userId), checkInEndpoint)
    })

    test('shows in the profile immediately, and is the same after the flush', async () => {
      // If a flush runs between the request and the read, another pilgrim is tried.
      for (let pending = 0; pending === 0;) {
        const userId = newPilgrimId()
        const points = walk(30)
        const timestamp = points[0]!.timestamp
        await dataOf(await checkIn(stack, userId, { timestamp }), checkInEndpoint)
        await dataOf(await syncTrack(stack, userId, points), trackSyncEndpoint)
        const before = await profileOf(stack, userId)
        ;({ pending } = await dataOf(await checkIn(stack, userId, { timestamp }), checkInEndpoint))
        expect(before).toMatchObject({
          userId,
          // 29 segments of 0.0008 degrees of latitude, rounded down.
          km: 2.57,
          checkins: 1,
          level: 1,
          level_name: { zh: '煉氣香客', en: 'Qi Refining Pilgrim' },
          icon: '🔥',
          next_level: { level: 2, km_needed: 12.43, checkins_needed: 4 },
          carbon_kg: 0,
          carbon_saved_kg: 1.226,
          achievement_card: 'locked',
          participant_status: 'active',
          first_seen: iso(timestamp),
          last_seen: iso(points.at(-1)!.timestamp),
        })
        await flushed(stack)
        expect(await profileOf(stack, userId)).toEqual(before)
      }
    })
  })

  describe('the live map', () => {
    const positions = async (query: string, headers: Record<string, string> = {}) => {
      const answer = await dataOf(await stack.fetch(`/api/event/data${query}`, { headers }), dataEndpoint)
      expect(Math.abs(Date.parse(answer.generated_at) - Date.now())).toBeLessThan(5_000)
      return answer.points
    }
    /** A place that no other pilgrim of this test uses. */
    const island = (n: number) => ({ lat: -40 - n, lng: 10 + n })
    const around = ({ lat, lng }: { lat: number; lng: number }) =>
      `bbox=${lng - 0.1},${lat - 0.1},${lng + 0.1},${lat + 0.1}`
    /** Each replica refreshes by itself, so the test reads often enough to reach every replica. */
    const shown = async (
      query: string,
      count = 1,
      headers: Record<string, string> = {},
    ): Promise<LivePosition[]> => {
      const asked = async () => {
        const all = await Promise.all(Array.from({ length: 12 }, () => positions(query, headers)))
        return all.every((points) => points.length === count) && all[0]
      }
      return until(asked, { timeoutMs: 15_000, what: `${count} positions on the map`, everyMs: 100 })
    }

    test('shows a new position within five seconds: to the public without a name, to operators with one', async () => {
      const userId = newPilgrimId()
      const place = island(1)
      const { recorded_at } = await dataOf(await checkIn(stack, userId, place), checkInEndpoint)
      const [point] = await shown(`?${around(place)}`)
      expect(point).toEqual({
        id: expect.stringMatching(/^[\w-]{16}$/),
        ...cellCentre(cellAt(place.lat, place.lng, MAX_ZOOM)),
        recorded_at: iso(minute(Date.parse(recorded_at))),
      })
      expect(JSON.stringify(point)).not.toContain(userId)
      for (const role of ['volunteer', 'manager', 'owner'] as const)
        expect(await positions(`?${around(place)}`, admin(role))).toEqual([
          { id: point!.id, ...place, recorded_at, userId, display_name: null },
        ])
    })

    test('shows the latest place only, moved by tracks, and chosen by box, time and number', async () => {
      const [early, late] = [newPilgrimId(), newPilgrimId()]
      const place = island(2)
      const now = Date.now()
      await checkIn(stack, early, { ...place, timestamp: now - 3 * MINUTE_MS })
      await shown(`?${around(place)}`)
      await syncTrack(stack, early, [{ ...island(3), timestamp: now - 4 * MINUTE_MS }])
      await syncTrack(stack, late, [{ ...place, timestamp: now - 2 * MINUTE_MS }])
      const query = `?${around(place)}`
      await shown(query, 2)
      // Operators get the instant, the public the minute.
      for (const [headers, shownAt] of [
        [admin('volunteer'), iso],
        [{}, (ms: number) => iso(minute(ms))],
      ] as const) {
        const times = async (more: string) =>
          (await positions(query + more, headers)).map(({ recorded_at }) => recorded_at)
        const [first, second] = [shownAt(now - 2 * MINUTE_MS), shownAt(now - 3 * MINUTE_MS)]
        expect(await times('')).toEqual([first, second])
        expect(await times('&limit=1')).toEqual([first])
        expect(await times(`&since=${iso(now - 2 * MINUTE_MS)}`)).toEqual([first])
        expect(await times(`&since=${encodeURIComponent('2999-01-01T00:00:00+08:00')}`)).toBeEmpty()
      }
      expect(await positions(`?${around(island(3))}`)).toBeEmpty()
    })

    test('shows the last day, and older positions to operators on request', async () => {
      const place = island(4)
      // A day before the full hour.
      const timestamp = Date.now() - DAY_MS - 60 * MINUTE_MS
      await checkIn(stack, newPilgrimId(), { ...place, timestamp })
      const older = `?${around(place)}&since=${iso(timestamp)}`
      await shown(older, 1, admin('volunteer'))
      expect(await positions(`?${around(place)}`, admin('volunteer'))).toBeEmpty()
      expect(await positions(older)).toBeEmpty()
    })
  })
})

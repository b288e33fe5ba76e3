/** Check-ins and tracks, from the phone’s request to the pilgrim’s profile and the live map. */
import { describe, expect, test } from 'bun:test'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import {
  checkInEndpoint,
  dataEndpoint,
  type LivePosition,
  trackSyncEndpoint,
} from '#shared/contracts/tracking.ts'
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
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { cellAt, cellCentre, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { until } from '#tests/helpers/wait.ts'

const MINUTE_MS = 60_000
const iso = (ms: number): string => new Date(ms).toISOString()

/** Whole seconds, because one of the forms has no milliseconds. */
const anHourAgo = (): number => Math.floor(Date.now() / 1_000) * 1_000 - 60 * MINUTE_MS

/** `YYYY:MM:DD HH:MM:SS` on a clock in Taiwan. */
const exif = (ms: number): string =>
  iso(ms + 8 * 60 * MINUTE_MS)
    .slice(0, 19)
    .replaceAll('-', ':')
    .replace('T', ' ')

const FORMS: readonly [name: string, fields: (ms: number) => object][] = [
  ['ISO 8601 with an offset', (ms) => ({ timestamp: iso(ms + 8 * 60 * MINUTE_MS).replace('Z', '+08:00') })],
  ['the form of EXIF, in the event’s time zone', (ms) => ({ datetime: exif(ms) })],
  ['other names of the position', (ms) => ({ timestamp: ms, lat: null, lng: null, latitude: 24, lon: 121 })],
  ['the long name of the longitude', (ms) => ({ timestamp: ms, lng: null, longitude: 121 })],
  [
    'everything that a point may carry',
    (ms) => ({ timestamp: ms, accuracy: 5, altitude: -3.5, speed: 4.2, mode: 'walk', source: 'watch ⌚' }),
  ],
  [
    'null for what is absent, and fields nobody asked for',
    (ms) => ({ timestamp: ms, mode: null, mood: [1] }),
  ],
]

const DAY_MS = 86_400_000
const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

/**
 * A walk northward: a point per minute, each 0.0008 degrees (89 m, 5.3 km/h) further, the last one a minute
 * ago.
 */
const walk = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    lat: PLACE.lat + i * 0.0008,
    lng: PLACE.lng,
    timestamp: Date.now() - (count - i) * MINUTE_MS,
  }))

/** One point of each kind in points/validate-points.test.ts; a track reports them by index. */
const FAULTS: readonly [reason: string, point: (ms: number) => unknown][] = [
  ['not-an-object', () => null],
  ['no-timestamp', () => PLACE],
  ['invalid-timestamp', () => ({ ...PLACE, timestamp: 'yesterday' })],
  ['too-old', (ms) => ({ ...PLACE, timestamp: ms - 30 * DAY_MS - MINUTE_MS })],
  ['invalid-field', (ms) => ({ ...PLACE, timestamp: ms, source: '\ud800' })],
]

/** The profile with the instants that only operators and the pilgrim see. */
const profileOf = async (stack: TestStack, userId: string) => {
  const headers = admin('volunteer')
  return dataOf(await stack.fetch(`/api/event/user/${userId}`, { headers }), profileEndpoint)
}

describeBothStacks('what a phone sends', (stack) => {
  describe('a check-in', () => {
    test.each(FORMS)('with %s is recorded at its time', async (_, fields) => {
      const userId = newPilgrimId()
      const ms = anHourAgo()
      expect(await dataOf(await checkIn(stack, userId, fields(ms)), checkInEndpoint)).toEqual({
        userId,
        recorded_at: iso(ms),
        duplicate: false,
        pending: 1,
        in_range: true,
        clock_corrected: false,
      })
    })

    test('without a time has the time of receipt', async () => {
      const before = Date.now()
      const { recorded_at } = await dataOf(await checkIn(stack, newPilgrimId()), checkInEndpoint)
      expect(Date.parse(recorded_at)).toBeWithin(before, Date.now() + 1)
    })

    test('of a phone whose clock runs ahead has the time of receipt', async () => {
      const before = Date.now()
      const timestamp = iso(before + 23 * 60 * MINUTE_MS)
      const userId = newPilgrimId()
      const answer = await dataOf(await checkIn(stack, userId, { timestamp }), checkInEndpoint)
      expect(Date.parse(answer.recorded_at)).toBeWithin(before, Date.now() + 1)
      expect(answer).toMatchObject({ duplicate: false, clock_corrected: true })
      // The response to a repetition has the flag as well.
      const again = await dataOf(await checkIn(stack, userId, { timestamp }), checkInEndpoint)
      expect(again).toMatchObject({ ...answer, duplicate: true, pending: expect.any(Number) as number })
    })

    test('without a time is never a duplicate of one at another place, also when many arrive together', async () => {
      const userId = newPilgrimId()
      const places = [1, 2, 3, 4, 5].map((i) => ({ lat: PLACE.lat + i / 100 }))
      const answers = await Promise.all(places.map((place) => checkIn(stack, userId, place)))
      const taken = await Promise.all(answers.map((answer) => dataOf(answer, checkInEndpoint)))
      expect(taken.map(({ duplicate, clock_corrected }) => ({ duplicate, clock_corrected }))).toEqual(
        places.map(() => ({ duplicate: false, clock_corrected: false })),
      )
      expect(new Set(taken.map(({ recorded_at }) => recorded_at)).size).toBe(5)
      const checkins = async () =>
        (await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)).checkins
      expect(await checkins()).toBe(5)
      await flushed(stack)
      expect(await checkins()).toBe(5)
    })

    test.each([
      ['userId', { userId: 'x' }, {}],
      ['line_user_id', { line_user_id: 'x' }, {}],
      ['several names that agree', { user_id: 'x', userId: 'x', line_user_id: 'x' }, {}],
      ['the header', {}, { 'X-Line-User-Id': 'x' }],
      ['the body where the header differs', { user_id: 'x' }, { 'X-Line-User-Id': 'someone-else' }],
      ['text/plain, as page-hide beacons send it', { user_id: 'x' }, { 'Content-Type': 'text/plain' }],
      ['no content type', { user_id: 'x' }, { 'Content-Type': '' }],
    ])('names its pilgrim by %s', async (_, fields: object, headers: Record<string, string>) => {
      const id = newPilgrimId()
      const named = JSON.parse(JSON.stringify({ fields, headers }).replaceAll('"x"', `"${id}"`)) as {
        fields: object
        headers: Record<string, string>
      }
      const body = JSON.stringify({ ...PLACE, ...named.fields })
      const answer = await stack.fetch('/api/event/checkin', { method: 'POST', headers: named.headers, body })
      expect((await dataOf(answer, checkInEndpoint)).userId).toBe(id)
    })

    test.each([
      ['the same time', (ms: number) => ({ timestamp: iso(ms) })],
      ['the same time, written differently', (ms: number) => ({ timestamp: ms })],
      ['the same time of a clock that runs ahead', (ms: number) => ({ timestamp: ms + 120 * MINUTE_MS })],
      ['the same position, and no time', () => ({ lat: 24.5, lng: 121.5 })],
    ])('with %s within a minute is a duplicate, answered as the first', async (_, fields) => {
      const userId = newPilgrimId()
      const ms = anHourAgo()
      const first = await dataOf(await checkIn(stack, userId, fields(ms)), checkInEndpoint)
      const again = await dataOf(await checkIn(stack, userId, fields(ms)), checkInEndpoint)
      // A flush may have removed the first one from the buffer in between.
      expect(again).toEqual({ ...first, duplicate: true, pending: expect.any(Number) })
      expect(first.duplicate).toBe(false)
      const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
      expect(profile.checkins).toBe(1)
    })

    test('at another time, or another place without one, is another check-in', async () => {
      const userId = newPilgrimId()
      const ms = anHourAgo()
      for (const fields of [{ timestamp: ms }, { timestamp: ms + 1 }, {}, { lat: 24.6 }])
        expect((await dataOf(await checkIn(stack, userId, fields), checkInEndpoint)).duplicate).toBe(false)
      const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
      expect(profile.checkins).toBe(4)
    })

    test('carries track points and reports the outcome of each; a bad point does not affect the check-in', async () => {
      const userId = newPilgrimId()
      const ms = anHourAgo()
      const track = [1, 2].map((minutes) => ({
        lat: PLACE.lat + minutes / 100,
        lng: PLACE.lng,
        timestamp: ms + minutes * 20 * MINUTE_MS,
      }))
      const track_points = [...track, track[0], { lat: 91, lng: 0, timestamp: ms }, 'nonsense', null, PLACE]
      const taken = await dataOf(
        await checkIn(stack, userId, { timestamp: ms, track_points }),
        checkInEndpoint,
      )
      const rejected = [
        { index: 3, reason: 'out-of-bounds' },
        { index: 4, reason: 'not-an-object' },
        { index: 5, reason: 'not-an-object' },
        { index: 6, reason: 'no-timestamp' },
      ]
      const durable_through = iso(ms + 40 * MINUTE_MS)
      expect(taken).toMatchObject({ duplicate: false, pending: 3 })
      expect(taken.track).toEqual({
        accepted: 2,
        duplicates: 1,
        rejected,
        durable_through,
      } as typeof taken.track)
      const headers = admin('volunteer')
      const profile = await dataOf(
        await stack.fetch(`/api/event/user/${userId}`, { headers }),
        profileEndpoint,
      )
      // A hundredth of a degree of latitude is 1,112 m.
      expect(profile).toMatchObject({ km: 2.22, checkins: 1, last_seen: iso(ms + 40 * MINUTE_MS) })
    })

    test.each([
      ['text', 'x'],
      ['an object', {}],
      ['a number', 5],
      ['false', false],
    ])('is taken with %s for track points, and says so', async (_, track_points) => {
      const taken = await dataOf(await checkIn(stack, newPilgrimId(), { track_points }), checkInEndpoint)
      const rejected = [{ index: 0, reason: 'not-a-list' }]
      expect(taken.track).toEqual({
        accepted: 0,
        duplicates: 0,
        rejected,
        durable_through: null,
      } as typeof taken.track)
    })

    test('is accepted with more entries than a list may have; the answer says once that they are too many', async () => {
      const taken = await dataOf(
        await checkIn(stack, newPilgrimId(), { track_points: Array.from({ length: 5_001 }, () => 1) }),
        checkInEndpoint,
      )
      expect(taken.duplicate).toBe(false)
      expect(taken.track).toMatchObject({
        accepted: 0,
        rejected: [{ index: 0, reason: 'too-many' }],
        durable_through: null,
      })
    })

    test('is refused the sixth time within a minute; duplicates count, invalid requests do not', async () => {
      const userId = newPilgrimId()
      const send = (timestamp: unknown) => checkIn(stack, userId, { timestamp })
      const ms = anHourAgo()
      await sentenceOf(await send('yesterday'), 400, 'invalid-request')
      for (const timestamp of [ms, ms, ms + 1, ms + 2, ms + 3])
        await dataOf(await send(timestamp), checkInEndpoint)
      const sixth = await send(ms + 4)
      await sentenceOf(sixth, 429, 'rate-limited')
      const seconds = Number(sixth.headers.get('retry-after'))
      expect(seconds).toBeWithin(50, 61)
      expect(sixth.headers.get('ratelimit')).toBe(`"checkin";r=0;t=${seconds}`)
      expect(sixth.headers.get('ratelimit-policy')).toBe('"checkin";q=5;w=60')
      // Validation comes before the rate limit, and other pilgrims are not affected.
      await sentenceOf(await send('yesterday'), 400, 'invalid-request')
      await dataOf(await checkIn(stack, newPilgrimId()), checkInEndpoint)
    })
  })

  describe('tracks', () => {
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
      /** Each replica refreshes separately, so the test reads often enough to reach every replica. */
      const shown = async (
        query: string,
        count = 1,
        headers: Record<string, string> = {},
      ): Promise<LivePosition[]> => {
        const asked = async () => {
          const all = await Promise.all(Array.from({ length: 12 }, () => positions(query, headers)))
          return all.every((points) => points.length === count) && all[0]
        }
        return until(asked, `${count} positions on the map`, { everyMs: 100 })
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
})

/** Check-ins, from the phone's request to the pilgrim's profile. */
import { expect, test } from 'bun:test'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import { checkInEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, checkIn, flushed, newPilgrimId, PLACE } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

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
  ['ISO 8601 in UTC', (ms) => ({ timestamp: iso(ms) })],
  ['ISO 8601 with an offset', (ms) => ({ timestamp: iso(ms + 8 * 60 * MINUTE_MS).replace('Z', '+08:00') })],
  ['epoch milliseconds', (ms) => ({ timestamp: ms })],
  ['the form of EXIF, in the event’s time zone', (ms) => ({ timestamp: exif(ms) })],
  ['another name of the time', (ms) => ({ datetime: iso(ms) })],
  ['other names of the position', (ms) => ({ timestamp: ms, lat: null, lng: null, latitude: 24, lon: 121 })],
  ['the long name of the longitude', (ms) => ({ timestamp: ms, lng: null, longitude: 121 })],
  [
    'everything that a point may carry',
    (ms) => ({ timestamp: ms, accuracy: 5, altitude: -3.5, speed: 4.2, mode: 'walk', source: 'watch ⌚' }),
  ],
  ['null for what is absent', (ms) => ({ timestamp: ms, accuracy: null, mode: null, track_points: null })],
  ['fields nobody asked for', (ms) => ({ timestamp: ms, mood: 0.5, nested: { deep: [1] } })],
]

describeBothStacks('a check-in', (stack) => {
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
    // The answer to a repeated one has the flag as well.
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
    const taken = await dataOf(await checkIn(stack, userId, { timestamp: ms, track_points }), checkInEndpoint)
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
    const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`, { headers }), profileEndpoint)
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

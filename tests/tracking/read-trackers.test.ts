/** The formats of tracker apps: the same walk becomes the same points, and unknown values stay unknown. */
import { describe, expect, test } from 'bun:test'
import { acceptTrack } from '#shared/points/accept.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import {
  readOverland,
  readOwnTracks,
  readRequest,
  type Received,
} from '#services/tracking/ingest/tracker-formats.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Fix, FORMS, overlandFeature, ownTracksAndroid, type Sent, traccar9 } from './tracker-bodies.ts'
import { NO_POSITIONS, REFUSED } from './tracker-oddities.ts'

const NOW = Date.parse('2026-04-12T06:00:00Z')
const WALK: readonly Fix[] = Array.from({ length: 20 }, (_, i) => ({
  lat: 24.1234567 + i * 0.0007,
  lng: 120.7654321 - i * 0.0003,
  ms: NOW - (20 - i) * 60_000,
  speedMs: 2,
}))

function read({ app, query = '', body = '' }: Sent): Received {
  const bytes = new TextEncoder().encode(body)
  const parameters = Object.fromEntries(new URLSearchParams(query))
  if (app === 'owntracks') return readOwnTracks(bytes)
  if (app === 'overland') return readOverland(bytes)
  return readRequest(app, app === 'traccar' ? 'knots' : 'metresASecond', parameters, bytes)
}

const accept = (sent: Sent) =>
  acceptTrack(read(sent).points, NOW, {
    calendar: createCalendar('Asia/Taipei'),
    area: () => true,
    maxAgeMs: 30 * 86_400_000,
    clearedMs: () => null,
  })
const only = (sent: Sent) => {
  const { points, rejected } = accept(sent)
  expect(rejected).toEqual([])
  expect(points).toHaveLength(1)
  return points[0]!
}

describe.each(Object.entries(FORMS))('%s', (_, form) => {
  test('every position has its place and time to the digit, and the app as its source', () => {
    for (const fix of WALK) {
      const sent = form(fix)
      expect(only(sent)).toMatchObject({
        kind: 't',
        lat: fix.lat,
        lng: fix.lng,
        sentMs: fix.ms,
        recordedMs: fix.ms,
        source: sent.app,
      })
    }
  })

  test('speed is in km/h, and what the phone does not know is null', () => {
    const [fix] = WALK as [Fix]
    // OwnTracks and Overland round to whole km/h or m/s.
    expect(Math.abs(only(form(fix)).speed! - 7.2)).toBeLessThan(0.21)
    const unknown = only(form({ ...fix, speedMs: null }))
    // Traccar 8, OsmAnd and GPSLogger write 0 if it is unknown.
    expect([null, 0]).toContain(unknown.speed)
    expect(unknown.altitude === null || Math.round(unknown.altitude) === 12).toBe(true)
    expect(unknown.accuracy === null || unknown.accuracy > 0).toBe(true)
  })
})

test.each(Object.entries(NO_POSITIONS))('%s has no position', (_, form) => {
  expect(read(form(WALK[0]!))).toEqual({ points: [], refused: [] })
})

test.each(REFUSED)('%s: %s', async (reason, _, form) => {
  const sent = form(WALK[0]!)
  let received: Received
  try {
    received = read(sent)
  } catch (error) {
    expect(reason).toBe('unreadable')
    expect(error).toMatchObject({ httpStatus: 400 })
    return
  }
  const reasons = [...received.refused, ...accept(sent).rejected.map((one) => one.reason)]
  expect(reasons as string[]).toEqual([reason])
})

test('a faulty measurement loses no position', () => {
  const feature = overlandFeature(WALK[0]!)
  const faulty = { altitude: 'high', speed: 1e300, vertical_accuracy: null, battery_level: {} }
  const sent = (properties: object): Sent => ({
    app: 'overland',
    method: 'POST',
    body: JSON.stringify({
      locations: [{ ...feature, properties: { ...feature.properties, ...properties } }],
    }),
  })
  expect(only(sent(faulty))).toMatchObject({ accuracy: 6, altitude: null, speed: null })
})

test('one bad position of a batch rejects no other', () => {
  const features = WALK.map(overlandFeature)
  const body = JSON.stringify({ locations: [features[0], 'x', { type: 'Feature' }, ...features.slice(1)] })
  const { points, rejected } = accept({ app: 'overland', method: 'POST', body })
  expect(points).toHaveLength(WALK.length)
  expect(rejected.map(({ index }) => index)).toEqual([1, 2])
})

test('times are read as seconds, milliseconds, ISO 8601 with any zone, or a UTC date and time', () => {
  const { lat, lng, ms } = WALK[0]!
  const at = (timestamp: string) =>
    only({
      app: 'osmand',
      method: 'GET',
      query: new URLSearchParams({ lat: `${lat}`, lon: `${lng}`, timestamp }).toString(),
    }).sentMs
  const iso = new Date(ms).toISOString()
  const local = `${new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19)}+0800`
  const utc = iso.slice(0, 19).replace('T', ' ')
  for (const timestamp of [`${ms / 1_000}`, `${ms}`, iso, local, utc]) expect(at(timestamp)).toBe(ms)
  expect(at(`${ms / 1_000}.5`)).toBe(ms + 500)
})

test('Overland’s mode “Owntracks” counts its seconds from 2001', () => {
  const fix = WALK[0]!
  const message = JSON.parse(ownTracksAndroid(fix).body!) as { tst: number }
  message.tst -= 978_307_200
  expect(only({ app: 'owntracks', method: 'POST', body: JSON.stringify(message) }).sentMs).toBe(fix.ms)
})

test('a form that is larger than any app’s is not taken apart', () => {
  const form = (names: number): Sent => ({
    app: 'traccar',
    method: 'POST',
    body: `lat=24&lon=121&timestamp=${NOW}${'&a=1'.repeat(names)}`,
  })
  expect(only(form(4_000)).lat).toBe(24)
  expect(read(form(5_000))).toEqual({ points: [], refused: ['unreadable'] })
})

test('a heartbeat of Traccar Client 9 with a position is one', () => {
  expect(only(traccar9(WALK[0]!, 'heartbeat')).lat).toBe(WALK[0]!.lat)
})

test.each([
  ['overland', (points: readonly number[]) => ({ locations: points })],
  ['traccar', (points: readonly number[]) => points],
  ['traccar', (location: readonly number[]) => ({ location })],
  ['traccar', (points: readonly number[]) => [{ location: points.slice(1) }, { location: [0] }]],
] as const)(
  '%s: a batch beyond every app’s size is refused before its points are looked at',
  async (app, batch) => {
    const sent = (count: number): Sent => ({
      app,
      method: 'POST',
      body: JSON.stringify(batch(Array.from({ length: count }, () => 0))),
    })
    const call = async () => read(sent(5_001))
    expect(await rejection(call())).toMatchObject({ httpStatus: 413 })
    expect(() => read(sent(5_000))).not.toThrow()
  },
)

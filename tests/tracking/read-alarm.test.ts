/**
 * Spellings of an SOS of a tracker app that are recognised, with place and time, and similar ones that are
 * not.
 */
import { expect, test } from 'bun:test'
import { sosPresses } from '#services/tracking/ingest/sos-presses.ts'
import {
  type Received,
  readOverland,
  readOwnTracks,
  readRequest,
} from '#services/tracking/ingest/tracker-formats.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'

const NOW = Date.parse('2026-04-12T02:00:00Z')
const FIX = '2026-04-12T01:59:30Z'
const coords = { latitude: 24.5, longitude: 120.5, accuracy: 12 }
const location = { timestamp: FIX, coords }
const feature = (properties: object) => ({
  geometry: { coordinates: [120.5, 24.5] },
  properties: { timestamp: FIX, horizontal_accuracy: 12, ...properties },
})
const QUERY = `lat=24.5&lon=120.5&accuracy=12&timestamp=${FIX}`

const bytes = (body: unknown): Uint8Array =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
const query = (text: string): Received =>
  readRequest('osmand', 'metresASecond', Object.fromEntries(new URLSearchParams(text)), new Uint8Array())
const traccar = (body: unknown): Received => readRequest('traccar', 'knots', {}, bytes(body))
const forwarded = (attributes: object) => ({
  position: { latitude: 24.5, longitude: 120.5, accuracy: 12, fixTime: FIX, attributes },
  device: { uniqueId: '1' },
})

const press = (received: Received) =>
  sosPresses({ userId: 'U1' }, 'traccar', received.sos ?? [], NOW, {
    calendar: createCalendar('Asia/Taipei'),
    maxAgeMs: 30 * 86_400_000,
  })

test.each<[string, () => Received]>([
  ['Traccar Client 10, a form', () => traccar(`id=1&${QUERY}&alarm=sos`)],
  ['Traccar Client 8, the query', () => query(`id=1&${QUERY}&alarm=sos`)],
  ['capitals', () => query(`${QUERY}&Alarm=SOS`)],
  ['among others', () => query(`${QUERY}&alarm=lowBattery,%20sos`)],
  [
    'Traccar Client 9, location.extras',
    () => traccar({ location: { ...location, extras: { alarm: 'sos' } } }),
  ],
  [
    'Traccar’s server, location.alarm',
    () => traccar({ device_id: '1', location: { ...location, alarm: 'sos' } }),
  ],
  ['beside the location', () => traccar({ location, alarm: 'sos' })],
  ['extras beside the location', () => traccar({ location, extras: { alarm: 'Sos' } })],
  ['a batch of locations', () => traccar({ location: [{ ...location, extras: { alarm: 'sos' } }] })],
  ['beside a batch', () => traccar({ location: [location], alarm: 'sos' })],
  ['forwarded by Traccar’s server as JSON', () => traccar(forwarded({ alarm: 'lowBattery,sos' }))],
  ['its events', () => traccar({ event: { type: 'alarm', attributes: { alarm: 'sos' } }, ...forwarded({}) })],
  [
    'its forwarded query',
    () => query(`${QUERY}&attributes=${encodeURIComponent(JSON.stringify({ alarm: 'sos' }))}`),
  ],
  ['a list', () => traccar({ location, alarm: ['lowBattery', 'sos'] })],
  [
    'the format of OwnTracks',
    () =>
      readOwnTracks(
        bytes({
          _type: 'location',
          lat: 24.5,
          lon: 120.5,
          acc: 12,
          tst: Date.parse(FIX) / 1_000,
          alarm: 'sos',
        }),
      ),
  ],
  ['the format of Overland', () => readOverland(bytes({ locations: [feature({ alarm: 'sos' })] }))],
  ['the query beside a body', () => readOverland(bytes({ locations: [feature({})] }), { alarm: 'sos' })],
])('an SOS: %s', (_, read) => {
  const received = read()
  expect(received.points).toHaveLength(1)
  expect(press(received)).toEqual([
    {
      userId: 'U1',
      source: 'traccar',
      sentMs: Date.parse(FIX),
      // A position half a minute old: the button was pressed now.
      pressedMs: NOW,
      receivedMs: NOW,
      place: { lat: 24.5, lng: 120.5, accuracy: 12, atMs: Date.parse(FIX) },
    },
  ])
})

test.each<[string, () => Received, readonly string[]]>([
  ['nothing else', () => query('id=1&alarm=sos'), []],
  ['an unreadable place', () => query('lat=north&lon=120.5&alarm=sos'), []],
  ['half a place', () => query('lat=24.5&alarm=sos'), ['unreadable']],
  ['no place', () => traccar({ location: { timestamp: FIX, extras: { alarm: 'sos' } } }), ['unreadable']],
  ['exactly 0,0', () => query('lat=0&lon=0&alarm=sos'), ['invalid-position']],
  ['an old place', () => query(`${QUERY}&valid=false&alarm=sos`), ['old-place']],
])('an SOS without a place: %s', (_, read, refused) => {
  const received = read()
  expect(received.refused.map(String)).toEqual([...refused])
  expect(press(received)).toMatchObject([{ place: null, pressedMs: NOW }])
})

test.each<[string, () => Received]>([
  ['another alarm', () => query(`${QUERY}&alarm=lowBattery`)],
  ['a word that contains it', () => query(`${QUERY}&alarm=sosOff`)],
  ['another field', () => query(`${QUERY}&event=sos&desc=alarm=sos`)],
  ['no alarm', () => traccar({ location: { ...location, extras: { alarm: '' }, alarm: null } })],
])('no SOS: %s', (_, read) => {
  expect(press(read())).toEqual([])
})

test('a press that has waited in a queue keeps its time; one with an impossible time is of now', () => {
  const at = (time: string | null) => [{ lat: 24.5, lng: 120.5, ...(time && { timestamp: time }) }]
  const pressed = (time: string | null) => press({ points: [], refused: [], sos: at(time) })[0]!.pressedMs
  expect(pressed('2026-04-12T01:00:00Z')).toBe(NOW - 3_600_000)
  expect(pressed('2026-04-12T03:00:00Z')).toBe(NOW)
  expect(pressed('1980-01-06T00:00:00Z')).toBe(NOW)
  expect(pressed(null)).toBe(NOW)
})

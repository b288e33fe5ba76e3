/**
 * Bodies as other programs than the five apps write them: compression, encodings, kinds of forms, lists with
 * one invalid item.
 */
import { expect, test } from 'bun:test'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import {
  type Received,
  readOverland,
  readOwnTracks,
  readRequest,
} from '#services/tracking/ingest/tracker-formats.ts'

const TST = 1_775_957_400
const FIELDS = { lat: 24.15, lon: 120.67, timestamp: TST }
const JSON_TEXT = JSON.stringify(FIELDS)
const FORM = `lat=24.15&lon=120.67&timestamp=${TST}`
const part = (name: string, value: number, end: string): string =>
  `Content-Disposition: form-data; name="${name}"${end}${end}${value}${end}`
const inParts = (end: string): string =>
  ['', ...Object.entries(FIELDS).map(([name, value]) => `${end}${part(name, value, end)}`)].join('--x1') +
  `--x1--${end}`
const utf16 = (text: string, isBig: boolean): Buffer => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}
const read = (body: string | Uint8Array): Received => readRequest('traccar', 'knots', {}, Buffer.from(body))
const ownTracks = (value: unknown): Received => readOwnTracks(Buffer.from(JSON.stringify(value)))
const location = { _type: 'location', lat: 24.15, lon: 120.67, tst: TST }
const point = expect.objectContaining({ lat: 24.15, lng: 120.67, timestamp: TST * 1_000 })

test.each<[string, () => Received]>([
  ['deflate', () => read(deflateSync(JSON_TEXT))],
  ['deflate of a form', () => read(deflateSync(FORM, { level: 9 }))],
  ['gzip in UTF-16', () => read(gzipSync(utf16(JSON_TEXT, false)))],
  ['UTF-16, little end first', () => read(utf16(JSON_TEXT, false))],
  ['UTF-16, big end first', () => read(utf16(FORM, true))],
  ['a form in parts', () => read(inParts('\r\n'))],
  ['a form in parts, line feeds alone', () => read(inParts('\n'))],
  ['a form that begins as zlib does', () => read(`x^=1&${FORM}`)],
  ['Python’s NaN', () => read(JSON_TEXT.replace('}', ',"altitude":NaN,"speed": -Infinity}'))],
  [
    'a list of OwnTracks with a waypoint',
    () => ownTracks([{ ...location, _type: 'waypoint', lat: 1 }, location]),
  ],
  [
    'a list of OwnTracks with a transition',
    () => ownTracks([location, { ...location, _type: 'transition' }]),
  ],
])('a position: %s', (_, received) => {
  expect(received()).toMatchObject({ points: [point], refused: [] })
})

test.each<[string, () => Received]>([
  ['raw deflate, which nothing marks', () => read(deflateRawSync(JSON_TEXT))],
  ['JSON in a text of JSON', () => read(JSON.stringify(JSON_TEXT))],
  ['several objects', () => read(`"${JSON_TEXT}"\n`)],
  ['an empty text', () => read('""')],
  ['letters', () => read('hello')],
  ['a form in parts without names', () => read('--x1\r\n\r\n24\r\n--x1--')],
])('nothing vanishes uncounted: %s', (_, received) => {
  expect(received()).toEqual({ points: [], refused: ['unreadable'] })
})

test('blanks are an empty body', () => {
  expect(read(' \r\n')).toEqual({ points: [], refused: [] })
})

test('OsmAnd’s hdop is an accuracy in metres; that of others is none', () => {
  const accuracyOf = (app: 'osmand' | 'gpslogger') =>
    readRequest(app, 'metresASecond', { ...FIELDS, hdop: '150.0' }, new Uint8Array()).points
  expect(accuracyOf('osmand')).toMatchObject([{ accuracy: 150 }])
  expect(accuracyOf('gpslogger')).toMatchObject([{ accuracy: null }])
})

test('one bad item of a batch of Overland takes no other with it', () => {
  const feature = (properties: object | null, coordinates: unknown = [120.67, 24.15]) => ({
    geometry: { coordinates },
    properties: properties && { timestamp: '2026-04-12T01:30:00Z', horizontal_accuracy: 5, ...properties },
  })
  const bad = [feature({ horizontal_accuracy: -1 }), feature(null), feature({}, null), null, 'x', 7]
  const good = [
    feature({ altitude: null, speed: -1, battery_level: '50%' }),
    feature({}, ['120.67', '24.15', null]),
  ]
  const { points } = readOverland(Buffer.from(JSON.stringify({ locations: [...bad, ...good] })))
  expect(points.slice(-2)).toMatchObject([
    { lat: 24.15, lng: 120.67, altitude: null, speed: null },
    { lat: 24.15, lng: 120.67 },
  ])
})

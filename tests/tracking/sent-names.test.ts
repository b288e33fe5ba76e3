/** One table of names: every endpoint reads the same names and formats from the query, a form and JSON. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { TrackerApp } from '#shared/contracts/trackers.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'
import { openSimulation, type Simulation } from '#tests/senders/simulation.ts'

let simulation: Simulation
let fixMs: number
beforeAll(async () => {
  simulation = await openSimulation({ EVENT_LIMIT_DRAWING: '1000' })
  fixMs = simulation.time.nowMs - 120_000
}, STACK_TIMEOUT_MS)
afterAll(() => simulation?.[Symbol.asyncDispose]())

type Fields = Readonly<Record<string, string | number>>

/** Ways in which a sender passes its fields. */
const WAYS: Readonly<Record<string, (fields: Fields) => RequestInit & { readonly query?: string }>> = {
  'GET with a query': (fields) => ({ method: 'GET', query: encoded(fields) }),
  'POST with a query': (fields) => ({ method: 'POST', query: encoded(fields) }),
  'a form': (fields) => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: encoded(fields),
  }),
  JSON: (fields) => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(fields),
  }),
  'JSON after a byte-order mark': (fields) => ({
    method: 'POST',
    body: `\ufeff\n ${JSON.stringify(fields)}`,
  }),
  'gzip of JSON': (fields) => ({
    method: 'POST',
    headers: { 'Content-Encoding': 'gzip' },
    body: gzipSync(JSON.stringify(fields)),
  }),
  'gzip of a form': (fields) => ({ method: 'POST', body: gzipSync(encoded(fields)) }),
}
const encoded = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')

type NamedTracker = readonly [userId: string, tracker: { readonly key: string }]

async function trackerOf(): Promise<NamedTracker> {
  const userId = newAppId()
  return [userId, await simulation.newTracker(userId)]
}

/** Sends fields. @returns the times of the stored points */
async function stored(
  app: TrackerApp,
  way: string,
  fields: Fields,
  [userId, { key }]: NamedTracker,
  end = '',
): Promise<number[]> {
  const before = new Set(await simulation.storedMs(userId))
  const { query, ...init } = WAYS[way]!(fields)
  const path = `/api/event/ingest/${key}/${app}${end}${query === undefined ? '' : `?${query}`}`
  const { status } = await simulation.request(path, init)
  expect(status).toBe(200)
  return (await simulation.storedMs(userId)).filter((ms) => !before.has(ms))
}

const PLACES: readonly Fields[] = [
  { lat: 24.15, lon: 120.67 },
  { lat: '24.15', lng: '120.67' },
  { latitude: '24,15', longitude: '120,67' },
  { Latitude: ' 24.15', LONG: '+120.67' },
  { lat: '', latitude: 24.15, lon: '', lng: 120.67 },
  { location: '24.15,120.67' },
  { location: '24,15;120,67' },
  { location: '24.15, 120.67' },
]
const TIMES = (ms: number): readonly Fields[] => {
  const iso = new Date(ms).toISOString()
  const local = new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19)
  return [
    { timestamp: ms / 1_000 },
    { tst: `${ms / 1_000}` },
    { time: ms },
    { fixTime: `${ms * 1_000}` },
    { fix_time: ms * 1_000 },
    { timestamp: '', tst: `${ms / 1_000},0` },
    { timestamp: iso },
    { timestamp: `${local}+08:00` },
    { timestamp: `${local} 08:00` },
    { time: `${local} 0800` },
    { time: `${local} +08` },
    { timestamp: iso.slice(0, 19).replace('T', ' ') },
    { timestamp: iso.slice(0, 16).replace('T', ' ') },
    { timestamp: `${iso.slice(0, 19).replace('T', ' ')} UTC` },
    { date: iso.slice(0, 10), time: iso.slice(11, 19), tst: ms / 1_000 },
  ]
}

describe.each(TrackerApp.options)('%s reads', (app) => {
  test.each(Object.keys(WAYS))('every name of a place and of a time by %s', async (way) => {
    const tracker = await trackerOf()
    let ms = fixMs
    for (const place of PLACES) {
      ms += 1_000
      const fields = { ...place, timestamp: ms / 1_000, acc: '' }
      expect([place, await stored(app, way, fields, tracker)]).toEqual([place, [ms]])
    }
    for (const time of TIMES(0).keys()) {
      // Whole minutes, because one of the formats has no seconds.
      ms = fixMs - (1 + time) * 60_000
      const fields = { ...PLACES[0]!, ...TIMES(ms)[time]! }
      expect([fields, await stored(app, way, fields, tracker)]).toEqual([fields, [ms]])
    }
  })

  test('a position without a time in a query or a form at its receipt', async () => {
    for (const way of ['GET with a query', 'POST with a query', 'a form']) {
      const fields = { ...PLACES[0]!, timestamp: '' }
      expect(await stored(app, way, fields, await trackerOf())).toEqual([simulation.time.nowMs])
    }
  })

  test('an address with a slash at its end', async () => {
    for (const way of ['a form', 'GET with a query']) {
      const fields = { ...PLACES[0]!, tst: fixMs }
      expect(await stored(app, way, fields, await trackerOf(), '/')).toEqual([fixMs])
    }
  })

  test('nothing from a place that it does not know, and says so', async () => {
    const [userId, { key }] = await trackerOf()
    for (const way of Object.keys(WAYS)) {
      const { query = '', ...init } = WAYS[way]!({ breite: 24.15, laenge: 120.67, timestamp: fixMs })
      const { status } = await simulation.request(`/api/event/ingest/${key}/${app}?${query}`, init)
      expect(status).toBe(200)
    }
    expect(await simulation.troubleOf(userId)).toBe('unreadable')
  })

  test('a heartbeat as no trouble', async () => {
    const [userId, { key }] = await trackerOf()
    const { query = '', ...init } = WAYS['a form']!({ id: 7, timestamp: fixMs, batt: 74, charge: 'false' })
    await simulation.request(`/api/event/ingest/${key}/${app}?${query}`, init)
    expect(await simulation.troubleOf(userId)).toBeNull()
  })
})

test('a damaged gzip body is unreadable, one that is too large is refused', async () => {
  const [userId, { key }] = await trackerOf()
  const send = (body: Uint8Array<ArrayBuffer>) =>
    simulation.request(`/api/event/ingest/${key}/overland`, { method: 'POST', body })
  expect((await send(gzipSync('{"locations":[]}').subarray(0, 20))).status).toBe(200)
  expect(await simulation.troubleOf(userId)).toBe('unreadable')
  expect((await send(gzipSync(' '.repeat(2_000_000)))).status).toBe(413)
})

test('what Traccar’s server forwards has its position inside', async () => {
  const [userId, { key }] = await trackerOf()
  const position = {
    id: 1,
    fixTime: new Date(fixMs).toISOString().replace('Z', '+00:00'),
    latitude: 24.15,
    longitude: 120.67,
    valid: true,
  }
  await simulation.request(`/api/event/ingest/${key}/traccar`, {
    method: 'POST',
    body: JSON.stringify({ position, device: { id: 1, name: 'phone' } }),
  })
  expect(await simulation.storedMs(userId)).toEqual([fixMs])
})

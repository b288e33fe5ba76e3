/** Examples of tracker apps. */

const ME = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
const ID = '7d0f3c52-4a8e-4c6b-9d59-0b3b8f0a1c2e'
const KEY = 'q3V8s0YtW1n6Zr4bKc7Xe2Lm9Pd5Uh-a'
const URL = `https://event.example/api/event/ingest/${KEY}`
const QR = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 49 49" shape-rendering="crispEdges">…</svg>'

const TRACKER = { id: ID, label: 'old phone', created_at: '2026-04-12T01:00:00.000Z' }
const TAKEN = { result: 'ok' }
const PLACE = { lat: '24.1477', lon: '120.6736', timestamp: '2026-04-12T01:30:00Z' }

export const TRACKERS = {
  createTracker: {
    body: { user_id: ME, label: 'old phone' },
    answer: {
      ...TRACKER,
      last_used_at: null,
      key: KEY,
      apps: {
        owntracks: { url: `${URL}/owntracks`, link: 'owntracks:///config?inline=eyJfdHlwZSI6…', qr: QR },
        overland: { url: `${URL}/overland`, link: `overland://setup?url=${URL}/overland`, qr: QR },
        traccar: { url: `${URL}/traccar`, link: `org.traccar.client://config?url=${URL}/traccar`, qr: QR },
        osmand: { url: `${URL}/osmand?lat={0}&lon={1}&timestamp={2}`, link: null, qr: QR },
        gpslogger: {
          url: `${URL}/gpslogger`,
          link: `gpslogger://properties/${URL}/gpslogger.properties`,
          qr: QR,
        },
      },
    },
  },
  listTrackers: {
    query: { user_id: ME },
    answer: { items: [{ ...TRACKER, last_used_at: '2026-04-12T01:30:00.000Z' }] },
  },
  revokeTracker: { params: { id: ID }, query: { user_id: ME }, answer: { id: ID } },
  ingestOwntracks: {
    params: { key: KEY },
    body: { _type: 'location', lat: 24.1477, lon: 120.6736, tst: 1_775_957_400, acc: 8, vel: 5, tid: 'AB' },
    answer: [],
  },
  ingestOverland: {
    params: { key: KEY },
    body: {
      locations: [
        {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [120.6736, 24.1477] },
          properties: { timestamp: '2026-04-12T01:30:00Z', speed: 1, horizontal_accuracy: 6 },
        },
      ],
    },
    answer: TAKEN,
  },
  ingestTraccar: {
    params: { key: KEY },
    body: {
      location: {
        timestamp: '2026-04-12T01:30:00.000Z',
        coords: { latitude: 24.1477, longitude: 120.6736, accuracy: 7, speed: 1.4, altitude: 12 },
      },
      device_id: '84013772',
    },
    answer: TAKEN,
  },
  ingestTraccarQuery: { params: { key: KEY }, query: { ...PLACE, speed: '2.7' }, answer: TAKEN },
  ingestOsmand: { params: { key: KEY }, query: { ...PLACE, speed_ms: '1.4' }, answer: TAKEN },
  ingestGpslogger: {
    params: { key: KEY },
    form: { ...PLACE, accuracy: '6', speed_ms: '1.4' },
    answer: TAKEN,
  },
  ingestGpsloggerQuery: { params: { key: KEY }, query: { ...PLACE, speed_ms: '1.4' }, answer: TAKEN },
  loadGpsloggerProfile: { params: { key: KEY } },
}

/** Messages of tracker apps without a position, and positions that are always rejected. */
import {
  type Fix,
  gpsLogger,
  overland,
  overlandFeature,
  overlandRecords,
  ownTracksAndroid,
  post,
  seconds,
  type Sent,
  traccar10Heartbeat,
  traccar8,
} from './tracker-bodies.ts'

/** Messages without a position to store, by description. @param fix where the phone is */
export const NO_POSITIONS: Readonly<Record<string, (fix: Fix) => Sent>> = {
  'OwnTracks: nothing': () => ({ app: 'owntracks', method: 'POST', body: '' }),
  'OwnTracks: status': () => post('owntracks', { _type: 'status', android: { hib: 0, ps: 0 }, _id: '1' }),
  'OwnTracks: dump': () => post('owntracks', { _type: 'dump', configuration: { _type: 'configuration' } }),
  'OwnTracks: lwt': (fix) => post('owntracks', { _type: 'lwt', tst: seconds(fix) }),
  'OwnTracks: waypoints': () => post('owntracks', { _type: 'waypoints', waypoints: [] }),
  'OwnTracks: steps': () => post('owntracks', { _type: 'steps', steps: 1200, from: 1, to: 2 }),
  'OwnTracks: transition': (fix) =>
    post('owntracks', {
      _type: 'transition',
      event: 'enter',
      lat: fix.lat,
      lon: fix.lng,
      tst: seconds(fix),
      acc: 5,
    }),
  'Overland: nothing': () => ({ app: 'overland', method: 'POST', body: '' }),
  'Overland: an empty batch': () => post('overland', { locations: [] }),
  'Overland: visits, pauses, trips': (fix) => post('overland', { locations: overlandRecords(fix) }),
  'Overland: only current': (fix) => post('overland', { locations: [], current: overlandFeature(fix) }),
  'Traccar Client 10: a heartbeat': traccar10Heartbeat,
  'OsmAnd: nothing': () => ({ app: 'osmand', method: 'GET' }),
  'GPSLogger: nothing': () => ({ app: 'gpslogger', method: 'POST', body: '' }),
}

/** Requests that are always rejected, with the reason under which the ledger counts them. */
export const REFUSED: readonly (readonly [reason: string, what: string, sent: (fix: Fix) => Sent])[] = [
  ['unreadable', 'OwnTracks: encrypted', () => post('owntracks', { _type: 'encrypted', data: 'Z3JlZW4=' })],
  ['unreadable', 'OwnTracks: no JSON', () => ({ app: 'owntracks', method: 'POST', body: 'lat=24' })],
  ['unreadable', 'OwnTracks: a list', () => post('owntracks', [])],
  [
    'old-place',
    'OwnTracks: a ping',
    (fix) => {
      const { body } = ownTracksAndroid(fix)
      return post('owntracks', { ...(JSON.parse(body!) as object), t: 'p' })
    },
  ],
  [
    'unreadable',
    'Overland: cut off',
    (fix) => ({ ...overland(fix), body: overland(fix).body!.slice(0, 200) }),
  ],
  ['unreadable', 'Overland: no list', () => post('overland', { locations: 'none' })],
  ['not-an-object', 'Overland: a batch of null', () => post('overland', { locations: [null] })],
  [
    'invalid-position',
    'Overland: no coordinates',
    (fix) => post('overland', { locations: [{ ...overlandFeature(fix), geometry: null }] }),
  ],
  ...[null, -1, 0].map(
    (accuracy) =>
      [
        'old-place',
        `Overland: an accuracy of ${accuracy}`,
        (fix: Fix) => {
          const { properties, ...feature } = overlandFeature(fix)
          return post('overland', {
            locations: [{ ...feature, properties: { ...properties, horizontal_accuracy: accuracy } }],
          })
        },
      ] as const,
  ),
  ...[overland, traccar8, ownTracksAndroid, gpsLogger].map(
    (form) =>
      [
        'invalid-position',
        `${form.name}: exactly 0,0`,
        (fix: Fix) => form({ ...fix, lat: 0, lng: 0 }),
      ] as const,
  ),
  ['unreadable', 'Traccar: no location', () => post('traccar', [7])],
  [
    'old-place',
    'Traccar: not valid',
    (fix) => ({ ...traccar8(fix), query: `${traccar8(fix).query}&valid=false` }),
  ],
  [
    'no-timestamp',
    'Overland: without a time',
    (fix) => post('overland', { locations: [{ ...overlandFeature(fix), properties: {} }] }),
  ],
  [
    'invalid-position',
    'OsmAnd: a template that nobody filled in',
    () => ({
      app: 'osmand',
      method: 'GET',
      query: 'lat={0}&lon={1}&timestamp={2}',
    }),
  ],
  [
    'too-old',
    'GPSLogger: of 1996',
    (fix) => ({ ...gpsLogger(fix), body: `lat=${fix.lat}&lon=${fix.lng}&timestamp=820000000` }),
  ],
  [
    'out-of-bounds',
    'GPSLogger: beyond the pole',
    (fix) => ({ ...gpsLogger(fix), body: `lat=91&lon=0&timestamp=${seconds(fix)}` }),
  ],
]

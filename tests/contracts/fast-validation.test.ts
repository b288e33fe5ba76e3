/** The hand-written checks of the hot path agree with the contracts. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { clustersEndpoint, writeClusters } from '#shared/contracts/clusters.ts'
import { type Profile, profileEndpoint } from '#shared/contracts/profile.ts'
import {
  fastCheckIn,
  fastGpsPoint,
  fastTrackSync,
  CheckInRequest,
  isNumeric,
  MEASUREMENTS,
  normalizePointAliases,
  GpsPoint,
  TrackSyncRequest,
} from '#shared/contracts/gps-points.ts'
import { checkInEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'

const anything = fc.anything({ withNullPrototype: true, withSparseArray: true })
const edges = [90, 90.000001, -90, 180, -180.1, 1e9, -1e9, 1e9 + 1, 0, -0, NaN, Infinity, -Infinity, 1e308]
const texts = [
  '',
  'walk',
  ' Walk\n',
  'İ'.repeat(32),
  ' '.repeat(40),
  `${'x'.repeat(63)}😀`,
  'x'.repeat(32),
  'x'.repeat(33),
  'x'.repeat(64),
  'x'.repeat(65),
  'a\0',
  '\ud800',
  '走',
]
/** Mostly valid values, often at a limit, sometimes arbitrary ones. */
const like = (...right: unknown[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...right) },
    { weight: 2, arbitrary: fc.constantFrom(null, undefined, ...edges, ...texts, '24.1', true, [], {}) },
    { weight: 1, arbitrary: anything },
  )
const pointFields = {
  lat: like(24.15, 90, -90),
  lng: like(120.67, 180, -180),
  timestamp: like('2026-04-12T04:00:00.000Z', 1_775_966_400_000, undefined),
  ...Object.fromEntries(
    MEASUREMENTS.map((name) => [
      name,
      isNumeric(name) ? like(undefined, null, 4.2, 1e9) : like(undefined, 'walk', '走', 'phone'),
    ]),
  ),
}
const rarely = (value: unknown) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constant(value) })
const aliases = {
  latitude: rarely(1),
  lon: rarely(2),
  longitude: rarely(null),
  datetime: rarely(5),
  x: rarely(1),
}
const userId = like('U4af4980629', 'a', 'x'.repeat(128), 'x'.repeat(129), '.', '..', 'a b')

const point = fc.oneof(
  { weight: 8, arbitrary: fc.record({ ...pointFields, ...aliases }) },
  { weight: 1, arbitrary: anything },
)
const checkIn = fc.record({
  ...pointFields,
  ...aliases,
  user_id: userId,
  track_points: like(undefined, null, [], [{}, 1], Array(5_001).fill(1)),
})
const trackSync = fc.record({
  user_id: userId,
  points: like([1], [{ lat: 1 }], [], Array(5_000).fill(1)),
})

const RUNS = 3_000

describe('the fast validation', () => {
  /** Accepts the same values with the same result. Returns the share of accepted values. */
  const agrees = (
    values: fc.Arbitrary<unknown>,
    quick: (value: unknown) => unknown,
    slow: { safeParse(value: unknown): { success: boolean; data?: unknown } },
  ): number => {
    let taken = 0
    const compare = (value: unknown) => {
      const found = quick(value)
      if (found === null) return
      taken++
      const parsed = slow.safeParse(value)
      expect(parsed.success).toBe(true)
      expect(found).toEqual(parsed.data as object)
    }
    fc.assert(fc.property(values, compare), { numRuns: RUNS })
    return taken / RUNS
  }

  test.each([
    [
      'of a point',
      point,
      fastGpsPoint,
      { safeParse: (v: unknown) => GpsPoint.safeParse(normalizePointAliases(v)) },
    ],
    ['of a check-in', checkIn, fastCheckIn, CheckInRequest],
    ['of a batch', trackSync, fastTrackSync, TrackSyncRequest],
  ] as const)('%s says what the contract says', (_, values, quick, slow) => {
    // The test is meaningful only if many values are accepted.
    expect(agrees(values, quick, slow)).toBeGreaterThan(0.05)
  })

  test('accepts what phones send', () => {
    const sent = { user_id: 'U1', lat: 24.15, lng: 120.67, timestamp: '2026-04-12T04:00:00Z', accuracy: 12 }
    expect(fastCheckIn(sent)).not.toBeNull()
    expect(fastGpsPoint(sent)).not.toBeNull()
    expect(fastTrackSync({ user_id: 'U1', points: [sent] })).not.toBeNull()
  })
})

describe('the fast selection of fields', () => {
  test('of a check-in and a track names every field of the contract, and nothing else', () => {
    const time = '2026-04-12T04:00:00.000Z'
    const place = { recorded_at: time, in_range: true, clock_corrected: false }
    const alone = { userId: 'U1', duplicate: false, pending: 1, ...place }
    const track = { accepted: 1, duplicates: 2, rejected: [{ index: 0, reason: 'too-old' as const }] }
    const there = { ...track, durable_through: null }
    const here = { ...alone, track: there }
    expect(checkInEndpoint.fastData?.({ ...alone, secret: 1 } as typeof alone)).toEqual(alone)
    expect(checkInEndpoint.fastData?.({ ...here, secret: 1 } as typeof here)).toEqual(here)
    expect(trackSyncEndpoint.fastData?.({ ...there, secret: 1 } as typeof there)).toEqual(there)
    expect(Object.keys(checkInEndpoint.data.shape).sort()).toEqual(Object.keys(here).sort())
    expect(Object.keys(trackSyncEndpoint.data.shape).sort()).toEqual(Object.keys(there).sort())
  })

  test('of a profile is what the contract lets through', () => {
    const time = '2026-04-12T04:00:00.000Z'
    const profile: Profile = {
      userId: 'U1',
      display_name: '名',
      picture_url: 'https://x.test/p.png',
      level: 2,
      level_name: { zh: '築基香客', en: 'Foundation Pilgrim' },
      icon: '🧱',
      km: 20.5,
      checkins: 7,
      next_level: { level: 3, km_needed: 24.5, checkins_needed: 3 },
      carbon_kg: 1.5,
      carbon_saved_kg: 8.25,
      phone: '••••••••78',
      survey_completed: 1,
      privacy_agreed: true,
      privacy_agreed_at: time,
      privacy_version: '2026-1',
      participant_status: 'active',
      achievement_card: 'unlocked',
      photo_count: 3,
      palanquin: true,
      first_seen: time,
      last_seen: time,
      pending: null,
    }
    for (const one of [profile, { ...profile, next_level: null, display_name: null, last_seen: null }]) {
      const inner = { level_name: { ...one.level_name, secret: 1 } }
      const given = { ...one, ...inner, secret: 1 } as Profile
      expect(profileEndpoint.fastData?.(given)).toEqual(one)
      expect(profileEndpoint.data.parse(given)).toEqual(one)
    }
    expect(Object.keys(profileEndpoint.data.shape).sort()).toEqual(Object.keys(profile).sort())
  })

  test('of a map is what the contract lets through', () => {
    const degrees = fc.double({ min: -90, max: 90, noNaN: true })
    const cell = fc.record({
      id: fc.constantFrom('6/1503/570', '18/6155878/2336358'),
      bounds: fc.tuple(degrees, degrees, degrees, degrees),
      count: fc.nat(),
      users: fc.nat(),
    })
    const end = { lat: 24.1, lng: 120.6, route_km: null }
    const summary = {
      zoom: 6,
      requested_zoom: 18,
      since: null,
      spread_km: 1.25,
      front: end,
      middle: null,
      tail: null,
    }
    const beside = { ...summary, as_of: '2026-04-12T04:00:00.000Z' }
    const given = { ...beside, front: { ...end, secret: 1 }, secret: 1 }
    fc.assert(
      fc.property(fc.array(cell), (cells) => {
        const { json } = writeClusters(
          cells.map((one) => ({ ...one, secret: 1 })),
          given,
        )
        const features = cells.map(({ id, bounds: [west, south, east, north], count, users }) => {
          const ring = [
            [west, south],
            [east, south],
            [east, north],
            [west, north],
            [west, south],
          ]
          const geometry = { type: 'Polygon' as const, coordinates: [ring as [number, number][]] }
          return { type: 'Feature' as const, id, geometry, properties: { count, users } }
        })
        const parsed = clustersEndpoint.data.parse({ type: 'FeatureCollection', features, ...given })
        expect(json).toBe(JSON.stringify(parsed))
      }),
    )
  })
})

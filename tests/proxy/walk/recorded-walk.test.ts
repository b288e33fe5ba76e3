/** What a recorded file would add to the walk. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readRecordedWalk, type RecordedWalk } from '#proxy/pages/walk/own-data/recorded-walk.ts'
import { fold, START } from '#shared/core/distance/points-to-distance.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

const NOW = Date.parse('2026-04-20T12:00:00Z')
const DAY_MS = 86_400_000
const MAX_AGE_MS = 30 * DAY_MS

interface Written {
  readonly lat: number
  readonly lng: number
  readonly t: number
  readonly hdop?: number
}

const trkpt = ({ lat, lng, t, hdop }: Written): string =>
  `<trkpt lat="${lat}" lon="${lng}"><time>${new Date(t).toISOString()}</time>${hdop === undefined ? '' : `<hdop>${hdop}</hdop>`}</trkpt>`
const gpx = (points: readonly Written[], more = ''): Uint8Array =>
  new TextEncoder().encode(
    `<?xml version="1.0"?><gpx version="1.1" creator="OsmAnd"><trk><trkseg>${more}${points.map(trkpt).join('')}</trkseg></trk></gpx>`,
  )

async function walkOf(file: Uint8Array): Promise<RecordedWalk> {
  const read = await readRecordedWalk(file, NOW, MAX_AGE_MS)
  if (!read.ok) throw new Error(read.code)
  return read
}

/** A walk with one point per second. */
const walk = (points: number, from = NOW - 7_200_000): Written[] =>
  Array.from({ length: points }, (_, i) => ({ lat: 24.15 + i * 0.000012, lng: 120.67, t: from + i * 1_000 }))

test('what is sent counts as many kilometres as all points of the file, with a thirtieth of the points', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          afterMs: fc.integer({ min: 1, max: 60 }).map((s) => s * 1_000),
          north: fc.integer({ min: -40, max: 200 }),
          jump: fc.integer({ min: 0, max: 40 }),
        }),
        { minLength: 1, maxLength: 200 },
      ),
      async (steps) => {
        const at = { lat: 24, lng: 120.5, t: NOW - DAY_MS }
        const points = steps.map(({ afterMs, north, jump }): Written => {
          at.t += afterMs
          at.lat += north * 1e-6
          return { lat: at.lat + (jump === 0 ? 0.5 : 0), lng: at.lng, t: at.t }
        })
        let mm = 0
        const all = points.map((one) => ({
          ...one,
          kind: 't' as const,
          sentMs: one.t,
          mode: null,
          rough: false,
        }))
        fold(START, all, ({ distanceMm }) => (mm += distanceMm))
        expect((await walkOf(gpx(points))).km).toBe(roundKm(mm))
      },
    ),
    { numRuns: 200 },
  )
  expect((await walkOf(gpx(walk(3_600)))).points).toHaveLength(120)
})

test('the same file gives the same points, each with its own time', async () => {
  const [first, second] = [await walkOf(gpx(walk(500))), await walkOf(gpx(walk(500)))]
  expect(second.points).toEqual(first.points)
  expect(new Set(first.points.map(({ timestamp }) => timestamp)).size).toBe(first.points.length)
})

test('what is left out is counted by its reason', async () => {
  const good = walk(120)
  const { leftOut, points, from, to } = await walkOf(
    gpx(
      [
        ...good,
        { ...good[0]!, t: NOW - 31 * DAY_MS },
        { ...good[0]!, t: NOW + 301_000 },
        { ...good[0]!, t: NOW + 3_600_000 },
        good[7]!,
        { ...good[0]!, t: good.at(-1)!.t + 60_000, hdop: 100 },
        { lat: 0, lng: 0, t: good.at(-1)!.t + 90_000 },
      ],
      '<trkpt lat="24" lon="120"></trkpt>',
    ),
  )
  expect(leftOut).toEqual({ early: 1, late: 2, repeated: 1, rough: 1, misplaced: 1, untimed: 1 })
  expect([from, to]).toEqual([good[0]!.t, good[90]!.t])
  expect(points).toHaveLength(4)
})

test('a ride is told apart, and drawn as a ride', async () => {
  const ride = Array.from({ length: 20 }, (_, i) => ({
    lat: 24.2 + i * 0.005,
    lng: 120.67,
    t: NOW - 3_600_000 + i * 60_000,
  }))
  const { km, rideKm, way } = await walkOf(gpx([...walk(600), ...ride]))
  expect(rideKm).toBeGreaterThan(10)
  expect(km).toBeGreaterThan(rideKm)
  expect(way.stretches).toHaveLength(19)
})

test.each([
  ['older than the service takes', walk(60, NOW - 40 * DAY_MS), 'outside-period'],
  ['in the future', walk(60, NOW + DAY_MS), 'outside-period'],
  ['rough everywhere', walk(60).map((one) => ({ ...one, hdop: 150 })), 'rough'],
] as const)('a file that is %s says so', async (_, points, code) => {
  expect(await readRecordedWalk(gpx(points), NOW, MAX_AGE_MS)).toMatchObject({ ok: false, code })
})

/** Map cells for volunteers: the same points at every zoom, and the front and tail of the walk. */
import { beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clusters, clustersEndpoint, MAX_CELLS } from '#shared/contracts/clusters.ts'
import { timelineEndpoint } from '#shared/contracts/reports.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import {
  checkIn,
  flushed,
  newPilgrimId,
  readAs,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { createRandom } from '#tests/helpers/random.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ZOOMS = Array.from({ length: 13 }, (_, i) => 6 + i)

interface Sent {
  readonly userId: string
  readonly lat: number
  readonly lng: number
  readonly timestamp: number
}

const read = async (stack: TestStack, query: string): Promise<Clusters> =>
  dataOf(await readAs(stack, 'volunteer', `admin/clusters?${query}`), clustersEndpoint)

/** Points and pilgrims by cell, counted directly. */
function plain(sent: readonly Sent[], zoom: number, sinceMs = 0): Record<string, object> {
  const cells: Record<string, { count: number; users: number }> = {}
  const cellOf = ({ lat, lng }: Sent) => {
    const perFifth = 2 ** (zoom - 6)
    const [column, row] = [(lng * 5 + 900) * perFifth, (lat * 5 + 450) * perFifth].map(Math.floor)
    return (cells[`${zoom}/${column}/${row}`] ??= { count: 0, users: 0 })
  }
  const latest = new Map<string, Sent>()
  for (const point of sent) {
    if ((latest.get(point.userId)?.timestamp ?? 0) < point.timestamp) latest.set(point.userId, point)
    if (point.timestamp >= sinceMs) cellOf(point).count++
  }
  for (const point of latest.values()) if (point.timestamp >= sinceMs) cellOf(point).users++
  return cells
}

const byId = ({ features }: Clusters): Record<string, object> =>
  Object.fromEntries(features.map(({ id, properties }) => [id, properties]))

const totals = ({ features }: Clusters): { count: number; users: number } =>
  features.reduce(
    (sum, { properties: { count, users } }) => ({ count: sum.count + count, users: sum.users + users }),
    { count: 0, users: 0 },
  )

/** Forty pilgrims walking northward within the last five hours, the faster ones ahead. */
function walkers(now: number): Sent[] {
  const random = createRandom(14)
  return Array.from({ length: 40 }, newPilgrimId).flatMap((userId, i) =>
    Array.from({ length: 30 }, (_, j) => ({
      userId,
      lat: 24 + (j * (20 + i)) / 15_000 + random() * 1e-4,
      lng: 120.6 + random() * 1e-3,
      timestamp: now - 5 * HOUR + j * 10 * MINUTE,
    })),
  )
}

async function send(stack: TestStack, sent: readonly Sent[]): Promise<void> {
  for (const [userId, mine] of Map.groupBy(sent, (point) => point.userId))
    for (let from = 0; from < mine.length; from += 900)
      expect((await syncTrack(stack, userId, mine.slice(from, from + 900))).status).toBe(200)
  await flushed(stack)
}

const line = (...coordinates: number[][]) => ({
  type: 'Feature',
  geometry: { type: 'LineString', coordinates },
})
const route = join(await newDirectory('route'), 'route.json')
writeFileSync(
  route,
  JSON.stringify({
    type: 'FeatureCollection',
    features: [line([120.6, 24, 10], [120.6, 24.1]), line([120.6, 24.1], [120.6, 24.5])],
  }),
)

describeBothStacks(
  'clusters',
  (stack) => {
    const sent = walkers(Date.now())
    beforeAll(async () => {
      // A query that no other test uses, because responses are cached.
      expect(await read(stack, 'k=1')).toMatchObject({
        features: [],
        zoom: 10,
        front: null,
        middle: null,
        tail: null,
        spread_km: null,
      })
      await send(stack, sent)
    })

    test('at every zoom the cells equal a plain count, and their sum equals the timeline', async () => {
      const timeline = await dataOf(await readAs(stack, 'volunteer', 'admin/timeline'), timelineEndpoint)
      const points = timeline.hours.reduce((sum, hour) => sum + hour.points, 0)
      expect(points).toBe(sent.length)
      for (const zoom of ZOOMS) {
        const clusters = await read(stack, `zoom=${zoom}`)
        expect({ zoom, cells: byId(clusters) }).toEqual({ zoom, cells: plain(sent, zoom) })
        expect(totals(clusters)).toEqual({ count: points, users: 40 })
        expect(clusters).toMatchObject({ zoom, requested_zoom: zoom, since: null })
      }
    })

    test('a cell is a square of GeoJSON', async () => {
      const [cell] = (await read(stack, 'zoom=6&bbox=120.61,24.01,120.62,24.02')).features
      const ring = [
        [120.6, 24],
        [120.8, 24],
        [120.8, 24.2],
        [120.6, 24.2],
        [120.6, 24],
      ]
      expect(cell).toMatchObject({ id: '6/1503/570', geometry: { type: 'Polygon', coordinates: [ring] } })
    })

    test('since counts from the start of its hour, for points and for pilgrims', async () => {
      const stopped = newPilgrimId()
      const early = { userId: stopped, lat: 24.3, lng: 120.7, timestamp: Date.now() - 30 * HOUR }
      await send(stack, [early])
      const sinceMs = Date.now() - 2 * HOUR
      const hour = Math.floor(sinceMs / HOUR) * HOUR
      for (const zoom of [6, 10, 12, 14, 16, 18]) {
        const clusters = await read(stack, `zoom=${zoom}&since=${new Date(sinceMs).toISOString()}`)
        expect(byId(clusters)).toEqual(plain(sent, zoom, hour))
        expect(clusters.since).toBe(new Date(hour).toISOString())
        const long = await read(stack, `zoom=${zoom}&since=${new Date(early.timestamp).toISOString()}`)
        expect(byId(long)).toEqual(plain([...sent, early], zoom))
      }
      sent.push(early)
    })

    test('a box and k limit the cells', async () => {
      const inside = plain(sent, 13)
      const box = await read(stack, 'zoom=13&bbox=120.5,24.01,120.7,24.03')
      // Rows of 0.2° / 128.
      const rows = [Math.floor((24.01 + 90) * 640), Math.floor((24.03 + 90) * 640)] as const
      const expected = Object.entries(inside).filter(([id]) => {
        const y = Number(id.split('/')[2])
        return y >= rows[0] && y <= rows[1]
      })
      expect(expected.length).toBeGreaterThan(3)
      expect(byId(box)).toEqual(Object.fromEntries(expected))
      expect((await read(stack, 'zoom=13&bbox=10,24.01,11,24.03')).features).toEqual([])

      const crowded = (await read(stack, 'zoom=10&k=3')).features
      const of = Object.values(plain(sent, 10)) as { users: number }[]
      expect(crowded).toHaveLength(of.filter(({ users }) => users >= 3).length)
      expect(crowded.length).toBeWithin(1, of.length)
      expect(Math.min(...crowded.map(({ properties }) => properties.users))).toBeGreaterThanOrEqual(3)
      expect((await read(stack, 'zoom=10&k=999')).front).toBeNull()
    })

    test('an invalid query is refused, and the error names the field', async () => {
      for (const [query, field] of [
        ['zoom=5', 'zoom'],
        ['zoom=19', 'zoom'],
        ['zoom=10.5', 'zoom'],
        ['bbox=1,2,3', 'bbox'],
        ['bbox=121,24,120,25', 'bbox'],
        ['bbox=120,25,121,24', 'bbox'],
        ['bbox=179,24,181,25', 'bbox'],
        ['bbox=a,b,c,d', 'bbox'],
        ['since=yesterday', 'since'],
        ['k=-1', 'k'],
        ['k=two', 'k'],
      ] as const) {
        const answer = await readAs(stack, 'volunteer', `admin/clusters?${query}`)
        expect(await sentenceOf(answer, 400, 'invalid-request')).toStartWith(`${field}: `)
      }
    })

    test('front and tail leave out the foremost and the last twentieth along the route', async () => {
      const { front, tail, spread_km } = await read(stack, '')
      // Two of forty are excluded at each end; cells are 90 m high. A pilgrim last seen the day before is
      // not walking.
      const speeds = Array.from({ length: 40 }, (_, i) => ((29 * (20 + i)) / 15_000) * 111.195)
      expect(tail!.route_km).toBeWithin(speeds[2]! - 0.1, speeds[2]! + 0.1)
      expect(front!.route_km).toBeWithin(speeds[37]! - 0.1, speeds[37]! + 0.1)
      expect(spread_km).toBeWithin(
        front!.route_km! - tail!.route_km! - 0.02,
        front!.route_km! - tail!.route_km! + 0.02,
      )
      expect([front!.lng, tail!.lng]).toEqual([120.6, 120.6])
      const hour = Math.floor(Date.now() / HOUR) * HOUR - 4 * HOUR
      const time = [hour, hour + HOUR].map((ms) => new Date(ms).toISOString())
      const then = await read(stack, `since=${time[0]}&until=${time[1]}`)
      // Points of that hour: all pilgrims were nearer to the start than now.
      const kms = sent
        .filter(({ timestamp }) => timestamp >= hour && timestamp < hour + HOUR)
        .map(({ lat }) => (lat - 24) * 111.195)
        .sort((a, b) => a - b)
      const strays = Math.floor(kms.length / 20)
      expect(then.tail!.route_km).toBeWithin(kms[strays]! - 0.1, kms[strays]! + 0.1)
      expect(then.front!.route_km).toBeWithin(kms.at(-1 - strays)! - 0.1, kms.at(-1 - strays)! + 0.1)
      expect(then.middle!.route_km).toBeWithin(then.tail!.route_km!, then.front!.route_km!)
      expect(then.front!.route_km!).toBeLessThan(front!.route_km!)
    })

    test('too many cells for one answer are answered at the next coarser zoom that fits', async () => {
      const userId = newPilgrimId()
      const from = Date.now() - 4 * HOUR
      // A grid of 72 × 72 places, each in its own cell at zoom 18, and four per cell at 17.
      const grid = Array.from({ length: 72 * 72 }, (_, i) => ({
        userId,
        lat: 24.6 + ((i % 72) + 0.5) / 20_480,
        lng: 120.6 + (Math.floor(i / 72) + 0.5) / 20_480,
        timestamp: from + i * 1_000,
      }))
      await send(stack, grid)
      await checkIn(stack, userId)
      const box = 'bbox=120.6,24.6,120.65,24.65'
      const clusters = await read(stack, `zoom=18&${box}`)
      expect(clusters).toMatchObject({ zoom: 17, requested_zoom: 18 })
      expect(clusters.features).toHaveLength(36 * 36)
      expect(new Set(clusters.features.map(({ properties }) => properties.count))).toEqual(new Set([4]))
      const part = await read(stack, 'zoom=18&bbox=120.6,24.6,120.601,24.601')
      expect(part.zoom).toBe(18)
      expect(part.features.length).toBeLessThan(MAX_CELLS)
    })
  },
  { EVENT_ROUTE: route },
)

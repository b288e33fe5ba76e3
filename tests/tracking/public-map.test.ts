/** The map without a token: crowds, whole minutes, ids of places. Every query selects from one snapshot. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { FINEST_ZOOM, PublicMap } from '#services/tracking/map/public-map.ts'
import type { DataQuery, LivePosition } from '#shared/contracts/tracking.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { cellAt, cellCentre, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { onError, restore, sync } from '#tests/kv/drivers.ts'
import { createRandom } from '#tests/helpers/random.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const DAY = 86_400_000
/** Ten minutes past an hour. */
const START = Date.parse('2026-04-12T04:10:00Z')
const PLACE = { lat: 24.15, lng: 120.67 }
const EVERYTHING: DataQuery = { limit: 5_000, since: 0 }

const dir = await newDirectory('public-map')
let kv: Kv
let live: LivePositions
let nowMs: number
afterAll(() => rm(dir, { recursive: true, force: true }))
afterEach(() => kv?.close())
beforeEach(async () => {
  kv = await openKv({ url: '', partitions: 1, path: join(dir, crypto.randomUUID()), onError })
  nowMs = START
  live = new LivePositions(
    kv,
    () => nowMs,
    createLog({}, () => undefined),
  )
})

const seen = (userId: string, t: number, place = PLACE): Promise<void> =>
  restore(kv, sync(userId, [], { position: { t, ...place } }))
/** Centre of the finest cell. */
const here = cellCentre(cellAt(PLACE.lat, PLACE.lng, MAX_ZOOM))
const iso = (ms: number): string => new Date(ms).toISOString()
const idsOf = (points: readonly LivePosition[]): string[] => points.map(({ id }) => id)

/** The current map. */
async function mapOf(crowd: number): Promise<PublicMap> {
  await live.refresh()
  return new PublicMap(live, crowd, () => nowMs)
}

async function standing(people: number, t = START, place = PLACE): Promise<void> {
  for (let i = 0; i < people; i++) await seen(`p${i}-${place.lat}`, t + i * 1_000, place)
}

describe('the public map', () => {
  test('shows nobody at a place with too few people, and all with one position and minute at a place with enough', async () => {
    await standing(4, START - MINUTE)
    expect(await (await mapOf(5)).read(EVERYTHING)).toEqual([])
    await seen('fifth', START + 2 * MINUTE + 1_234)
    const shown = await (await mapOf(5)).read(EVERYTHING)
    const cell = cellCentre(cellAt(PLACE.lat, PLACE.lng, FINEST_ZOOM))
    expect(shown).toEqual(
      Array.from({ length: 5 }, () => ({
        id: expect.stringMatching(/^[\w-]{16}$/),
        ...cell,
        recorded_at: iso(START - MINUTE),
      })),
    )
    expect(new Set(idsOf(shown)).size).toBe(5)
  })

  test('the largest crowd sets no price: as many ids are made as are asked for', async () => {
    let made = 0
    class Counting extends LivePositions {
      override publicId(name: string): string {
        made++
        return super.publicId(name)
      }
    }
    live = new Counting(
      kv,
      () => nowMs,
      createLog({}, () => undefined),
    )
    await standing(3_000)
    const map = await mapOf(5)
    const small = { limit: 1, since: 0, bbox: [120, 24, 121, 25] } as const
    expect(await map.read({ ...small, bbox: [...small.bbox] })).toHaveLength(1)
    expect(made).toBe(1)
    expect(await map.read({ ...EVERYTHING, limit: 40 })).toHaveLength(40)
    expect(made).toBe(41)
  })

  test('with a crowd of one, each person is shown separately, with the time rounded down to the minute', async () => {
    await seen('p1', START + 59_999)
    await seen('p2', START - MINUTE)
    expect(await (await mapOf(1)).read(EVERYTHING)).toEqual([
      { id: live.publicId('p1'), ...here, recorded_at: iso(START) },
      { id: live.publicId('p2'), ...here, recorded_at: iso(START - MINUTE) },
    ])
  })

  test('ids belong to the place: a person who moves gets another one, and all of them change each hour', async () => {
    await standing(6)
    const map = await mapOf(5)
    const before = idsOf(await map.read(EVERYTHING))
    expect(
      before.filter((id) =>
        ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map((p) => live.publicId(`${p}-${PLACE.lat}`)).includes(id),
      ),
    ).toEqual([])
    await seen(`p3-${PLACE.lat}`, START + MINUTE, { lat: 24.9, lng: 121 })
    await live.refresh()
    const after = idsOf(await map.read(EVERYTHING))
    expect(after).toHaveLength(5)
    expect(before).toEqual(expect.arrayContaining(after))
    nowMs = START + HOUR
    await live.refresh()
    const next = idsOf(await map.read(EVERYTHING))
    expect(next).toHaveLength(5)
    expect(next.filter((id) => before.includes(id))).toEqual([])
  })

  test('a hidden pilgrim is not shown and does not count for a crowd', async () => {
    await standing(5)
    const map = await mapOf(5)
    expect(await map.read(EVERYTHING)).toHaveLength(5)
    await kv.hide(`p2-${PLACE.lat}`, true)
    await live.refresh()
    expect(await map.read(EVERYTHING)).toEqual([])
  })

  test('a pilgrim who was last seen long ago does not count for others’ crowd and does not change their minute', async () => {
    await standing(5, START - 30 * MINUTE)
    for (let i = 0; i < 4; i++) await seen(`tired${i}`, START - 5 * HOUR)
    const minutes = async () =>
      (await (await mapOf(5)).read({ limit: 5_000 })).map(({ recorded_at }) => recorded_at)
    expect(await minutes()).toEqual(Array.from({ length: 5 }, () => iso(START - 30 * MINUTE)))
    await seen('tired4', START - 6 * HOUR)
    expect(await minutes()).toEqual([
      ...Array.from({ length: 5 }, () => iso(START - 30 * MINUTE)),
      ...Array.from({ length: 5 }, () => iso(START - 6 * HOUR)),
    ])
  })

  test('a day after a pilgrim’s last position the map changes only at a full hour, for all pilgrims of that hour', async () => {
    for (let i = 0; i < 6; i++) await seen(`p${i}`, START - DAY + i * MINUTE)
    const map = await mapOf(5)
    for (const ms of [START, START + 3 * MINUTE, START + 49 * MINUTE]) {
      nowMs = ms
      await live.refresh()
      expect(await map.read({ limit: 5_000 })).toHaveLength(6)
    }
    nowMs = START + 50 * MINUTE
    await live.refresh()
    // Also with an earlier `since`.
    expect(await map.read({ limit: 5_000 })).toEqual([])
    expect(await map.read(EVERYTHING)).toEqual([])
  })

  test('a clock that was ahead, and is set back while nobody moves, does not leave the map empty', async () => {
    await standing(5)
    const map = await mapOf(5)
    nowMs = START + 2 * DAY
    await live.refresh()
    expect(await map.read({ limit: 5_000 })).toEqual([])
    nowMs = START
    await live.refresh()
    expect(await map.read({ limit: 5_000 })).toHaveLength(5)
  })

  test('every query selects from the same snapshot, so that two answers together reveal no more than it', async () => {
    const random = createRandom(7)
    for (let i = 0; i < 150; i++)
      await seen(`p${i}`, START - Math.floor(random() ** 3 * 30 * HOUR), {
        lat: 24.15 + random() / 50,
        lng: 120.67 + random() / 50,
      })
    const map = await mapOf(5)
    const all = await map.read(EVERYTHING)
    expect(all.length).toBeGreaterThan(100)
    const stands = Map.groupBy(all, ({ lat, lng, recorded_at }) => `${lat} ${lng} ${recorded_at}`)
    for (const stand of stands.values()) expect(stand.length).toBeGreaterThanOrEqual(5)
    const edge = fc.double({ min: 0, max: 0.02, noNaN: true })
    await fc.assert(
      fc.asyncProperty(
        edge,
        edge,
        edge,
        edge,
        fc.integer({ min: 0, max: 30 * HOUR }),
        fc.integer({ min: 1, max: 200 }),
        async (a, b, c, d, age, limit) => {
          const bbox = [
            120.67 + Math.min(a, b),
            24.15 + Math.min(c, d),
            120.67 + Math.max(a, b),
            24.15 + Math.max(c, d),
          ] as const
          const since = START - age
          const [west, south, east, north] = bbox
          const fits = ({ lat, lng, recorded_at }: LivePosition) =>
            lng >= west &&
            lng <= east &&
            lat >= south &&
            lat <= north &&
            Date.parse(recorded_at) >= Math.floor(since / MINUTE) * MINUTE
          expect(await map.read({ limit, since, bbox: [...bbox] })).toEqual(all.filter(fits).slice(0, limit))
        },
      ),
    )
  })
})

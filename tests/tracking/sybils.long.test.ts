/**
 * An attacker who knows a claim's id and in which cell of 1.4 km its pilgrim is, and who invents pilgrims around them. With
 * a crowd of its own in each cell, the map shows how many others are there, and whose place is theirs when the attacker
 * hides the claim. As no cell finer than 350 m counts a claim, that is as near as it comes. SECURITY.md states what it
 * costs. An id that nobody knows can be hidden by nobody.
 */
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { FINEST_ZOOM, PublicMap } from '#services/tracking/map/public-map.ts'
import { WIDEST_ZOOM } from '#services/tracking/map/crowds.ts'
import { type Cell, cellAt, cellBounds, cellCentre, cellName } from '#shared/core/map/cells.ts'
import { CLAIM_MEASURES, CLAIM_ZOOM } from '#shared/core/rules/claim-measures.ts'
import { distanceMm, type Place } from '#shared/core/rules/geo.ts'
import { createLog } from '#shared/runtime/log.ts'
import { stopwatch } from '#shared/runtime/clock.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { PRICES, SHARES } from '#shared/service/security/request-prices.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { onError, rules, sync } from '#tests/kv/drivers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-04-12T15:10:00Z')
const REFRESH_MS = 2_000
/** Positions that an address may send per minute. */
const PLACES_A_MINUTE = (6_000 * SHARES.tracking!.writes) / PRICES.syncTrack!.ms
/** Others who sleep in the same cell of 1.4 km. */
const OTHERS = 40
const CLAIM = 'U0123456789abcdef0123456789abcdef'

const AREA = cellAt(24.32162, 120.60153, WIDEST_ZOOM)
const [, , EAST, NORTH] = cellBounds(cellAt(24.32162, 120.60153, CLAIM_ZOOM))
/** A place in a corner of its cell of 350 m, and one in the opposite corner. */
const HOME: Place = { lat: NORTH - 0.0001, lng: EAST - 0.0001 }
const ELSEWHERE: Place = { lat: NORTH - 0.003, lng: EAST - 0.003 }

interface Attack {
  readonly crowd: number
  /** Zoom steps that are divided at once, each of them with one hour's hiding. */
  readonly steps: readonly number[]
  readonly victim?: string
  readonly home?: Place
}

interface Found {
  readonly requests: number
  readonly minutes: number
  /** Distance from the pilgrim to the middle of the believed place; null: the attacker learned nothing. */
  readonly offM: number | null
  /** All that the map has shown. */
  readonly answers: readonly unknown[]
}

async function attack({ crowd, steps, victim = CLAIM, home = HOME }: Attack): Promise<Found> {
  const dir = await newDirectory('sybils')
  let nowMs = START
  const kv = await openEmbeddedKv({ path: join(dir, 'kv'), onError, now: () => nowMs })
  try {
    const random = createRandom(41)
    const holds = (userId: string) => isClaim({ identity: 'open' }, userId)
    const live = new LivePositions(
      kv,
      () => nowMs,
      createLog({}, () => undefined),
      stopwatch,
      holds,
    )
    const map = new PublicMap(live, crowd, () => nowMs)
    const put = (places: readonly (readonly [userId: string, place: Place])[]) =>
      kv.restore(
        0,
        places.map(([userId, { lat, lng }]) => sync(userId, [], { position: { t: nowMs, lat, lng } })),
        rules(),
      )
    const [west, south, east, north] = cellBounds(AREA)
    const somewhere = (): Place => ({
      lat: south + (north - south) * random(),
      lng: west + (east - west) * random(),
    })
    await put([
      [victim, home],
      ...Array.from({ length: OTHERS }, (_, i) => [`U-other-${i}`, somewhere()] as const),
    ])
    await live.refresh()

    let requests = 0
    const answers: unknown[] = []
    const invented: string[] = []
    /**
     * Number of people that the map shows in each cell of this zoom; people in wider cells are not included.
     */
    const look = async (zoom: number): Promise<Map<string, number>> => {
      requests++
      nowMs += REFRESH_MS
      await live.refresh()
      const points = await map.read({ limit: 5_000, since: 0, bbox: [west, south, east, north] })
      answers.push(points.map(({ lat, lng, recorded_at }) => [lat, lng, recorded_at]))
      const counts = new Map<string, number>()
      for (const { lat, lng } of points) {
        const name = cellName(cellAt(lat, lng, zoom))
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      return counts
    }
    let suspected: Cell = AREA
    for (const [round, step] of steps.entries()) {
      const zoom = suspected.zoom + step
      const parts = Array.from({ length: 4 ** step }, (_, i) => ({
        zoom,
        x: suspected.x * 2 ** step + (i % 2 ** step),
        y: suspected.y * 2 ** step + Math.floor(i / 2 ** step),
      }))
      const places = parts.flatMap((cell) => Array.from({ length: crowd }, () => cellCentre(cell)))
      while (invented.length < places.length) invented.push(newAppId())
      requests += places.length
      nowMs += (places.length / PLACES_A_MINUTE) * MINUTE
      await put(places.map((place, i) => [invented[i]!, place]))
      const before = await look(zoom)
      // Others can hide a claim. An app id is known only to its pilgrim.
      if (holds(victim)) await kv.hide(victim, true)
      requests++
      const after = await look(zoom)
      const fewer = parts.filter((cell) => {
        const name = cellName(cell)
        return (after.get(name) ?? 0) < (before.get(name) ?? 0)
      })
      if (fewer.length === 1) suspected = fewer[0]!
      if (round === steps.length - 1) break
      requests++
      if (holds(victim)) await kv.hide(victim, false)
      nowMs = Math.ceil(nowMs / HOUR) * HOUR + 1
      // The phone reports as usual.
      await put([[victim, home]])
    }
    const offM = suspected === AREA ? null : distanceMm(cellCentre(suspected), home) / 1_000
    const minutes = (nowMs - START) / MINUTE
    console.log(
      `${CLAIM_MEASURES.wideCells ? '' : 'without wideCells, '}crowd ${crowd}, ` +
        `steps of ${steps.join(' and ')} zooms: ` +
        `${offM === null ? 'no better than before' : `off by ${Math.round(offM)} m`} after ${requests} requests and ${minutes.toFixed(1)} minutes`,
    )
    return { requests, minutes, offM, answers }
  } finally {
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  }
}

/** Half of the diagonal of a cell of 350 m, and of one of 90 m. */
const [WIDE_M, FINEST_M] = [239, 62]
const AT_ONCE = [FINEST_ZOOM - WIDEST_ZOOM]

test.each([
  // [crowd, steps, most requests, most minutes]
  [5, AT_ONCE, 1_300, 1],
  [10, AT_ONCE, 2_600, 1],
  [5, [2, 2], 200, 61],
  [5, [1, 1, 1, 1], 110, 181],
] as const)(
  'with crowds of %i, divided by %p zooms, a claim is found in a cell of 90 m where such a cell counts it',
  async (crowd, steps, requests, minutes) => {
    CLAIM_MEASURES.wideCells = false
    try {
      const found = await attack({ crowd, steps })
      expect(found.offM).toBeLessThanOrEqual(FINEST_M)
      expect(found.requests).toBeWithin(requests * 0.8, requests)
      expect(found.minutes).toBeLessThanOrEqual(minutes)
    } finally {
      CLAIM_MEASURES.wideCells = true
    }
  },
)

test.each([[AT_ONCE], [[2, 2]], [[1, 1, 1, 1]]])(
  'divided by %p zooms, a claim is found in a cell of 350 m, and the map shows nothing of where it is in there',
  async (steps) => {
    const [found, elsewhere] = [
      await attack({ crowd: 5, steps }),
      await attack({ crowd: 5, steps, home: ELSEWHERE }),
    ]
    expect(distanceMm(HOME, ELSEWHERE) / 1_000).toBeGreaterThan(400)
    expect(found.answers.length).toBe(2 * steps.length)
    expect(elsewhere.answers).toEqual(found.answers)
  },
)

test('a cell of 350 m costs 83 requests', async () => {
  const { offM, requests, minutes } = await attack({ crowd: 5, steps: [CLAIM_ZOOM - WIDEST_ZOOM] })
  expect(offM).toBeWithin(100, WIDE_M)
  expect(requests).toBe(83)
  expect(minutes).toBeLessThan(1)
})

test('an id that nobody knows is not found', async () => {
  expect(await attack({ crowd: 5, steps: AT_ONCE, victim: newAppId() })).toMatchObject({ offM: null })
})

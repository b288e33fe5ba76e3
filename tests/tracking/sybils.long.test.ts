/**
 * An attacker who knows a claim's id and in which cell of 1.4 km its pilgrim is, and who invents pilgrims around them. With
 * a crowd of its own in each cell the map tells how many others are there; whose place is theirs shows when the attacker
 * hides the claim. SECURITY.md states what that costs. An id that nobody knows can be hidden by nobody.
 */
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { FINEST_ZOOM, PublicMap } from '#services/tracking/map/public-map.ts'
import { WIDEST_ZOOM } from '#services/tracking/map/crowds.ts'
import { type Cell, cellAt, cellBounds, cellCentre, cellName } from '#shared/core/map/cells.ts'
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
/** Places that an address may send a minute. */
const PLACES_A_MINUTE = (6_000 * SHARES.tracking!.writes) / PRICES.syncTrack!.ms
/** Others who sleep within the same cell of 1.4 km. */
const OTHERS = 40
const CLAIM = 'U0123456789abcdef0123456789abcdef'

interface Cost {
  readonly requests: number
  readonly minutes: number
  /** From the pilgrim's place to the middle of where the attacker believes it is; null: it knows no more than before. */
  readonly offM: number | null
}

/**
 * @param steps zoom steps that are divided at once, each of them with one hour's hiding
 * @param invents without it, the attacker invents nobody
 */
async function attack(
  victim: string,
  crowd: number,
  steps: readonly number[],
  invents = true,
): Promise<Cost> {
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
    const area = cellAt(24.32162, 120.60153, WIDEST_ZOOM)
    const [west, south, east, north] = cellBounds(area)
    const somewhere = (): Place => ({
      lat: south + (north - south) * random(),
      lng: west + (east - west) * random(),
    })
    const home = somewhere()
    await put([
      [victim, home],
      ...Array.from({ length: OTHERS }, (_, i) => [`U-other-${i}`, somewhere()] as const),
    ])
    await live.refresh()

    let requests = 0
    const invented: string[] = []
    /** How many people the map shows in each cell of this zoom; those in wider cells are in none. */
    const look = async (zoom: number): Promise<Map<string, number>> => {
      requests++
      nowMs += REFRESH_MS
      await live.refresh()
      const points = await map.read({ limit: 5_000, since: 0, bbox: [west, south, east, north] })
      const counts = new Map<string, number>()
      for (const { lat, lng } of points) {
        const name = cellName(cellAt(lat, lng, zoom))
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      return counts
    }
    let suspected: Cell = area
    for (const [round, step] of steps.entries()) {
      const zoom = suspected.zoom + step
      const parts = Array.from({ length: 4 ** step }, (_, i) => ({
        zoom,
        x: suspected.x * 2 ** step + (i % 2 ** step),
        y: suspected.y * 2 ** step + Math.floor(i / 2 ** step),
      }))
      if (invents) {
        const places = parts.flatMap((cell) => Array.from({ length: crowd }, () => cellCentre(cell)))
        while (invented.length < places.length) invented.push(newAppId())
        requests += places.length
        nowMs += (places.length / PLACES_A_MINUTE) * MINUTE
        await put(places.map((place, i) => [invented[i]!, place]))
      }
      const before = await look(zoom)
      // Others can hide a claim. An id that the app made is known to its pilgrim alone.
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
      // The phone reports as ever.
      await put([[victim, home]])
    }
    const offM = suspected === area ? null : distanceMm(cellCentre(suspected), home) / 1_000
    const cost = { requests, minutes: (nowMs - START) / MINUTE, offM }
    console.log(
      `crowd ${crowd}, ${invents ? 'invented pilgrims' : 'nobody invented'}, steps of ${steps.join(' and ')} zooms: ` +
        `${offM === null ? 'no better than before' : `off by ${Math.round(offM)} m`} after ${requests} requests and ${cost.minutes.toFixed(1)} minutes`,
    )
    return cost
  } finally {
    await kv.close()
    await rm(dir, { recursive: true, force: true })
  }
}

/** Half of the diagonal of the finest cell. */
const FINEST_M = 62
const AT_ONCE = [FINEST_ZOOM - WIDEST_ZOOM]

test.each([
  // [crowd, steps, most requests, most minutes]
  [5, AT_ONCE, 1_300, 1],
  [10, AT_ONCE, 2_600, 1],
  [5, [2, 2], 200, 61],
  [5, [1, 1, 1, 1], 110, 181],
] as const)(
  'with crowds of %i, divided by %p zooms, a claim is found in a cell of 90 m',
  async (crowd, steps, requests, minutes) => {
    const cost = await attack(CLAIM, crowd, steps)
    expect(cost.offM).toBeLessThanOrEqual(FINEST_M)
    expect(cost.requests).toBeWithin(requests * 0.8, requests)
    expect(cost.minutes).toBeLessThanOrEqual(minutes)
  },
)

test('an id that nobody knows is not found, nor a claim around which nobody is invented', async () => {
  expect(await attack(newAppId(), 5, AT_ONCE)).toMatchObject({ offM: null })
  expect((await attack(CLAIM, 5, AT_ONCE, false)).offM ?? Infinity).toBeGreaterThan(100)
})

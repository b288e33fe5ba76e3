/**
 * A pilgrim who hides leaves the public map at once, and reappears at the next full hour: an attacker who
 * hides and shows someone repeatedly does not learn which place is theirs. The cost of a map refresh does not
 * depend on the number of hidden people without a position.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Redis from 'ioredis'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { PublicMap } from '#services/tracking/map/public-map.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import type { Kv, Position } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'
import { stopwatch } from '#shared/runtime/clock.ts'
import { createLog } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { onError, restore, sync } from '#tests/kv/drivers.ts'
import { createRandom } from '#tests/helpers/random.ts'

const CROWD = 5
const PILGRIMS = 120
/** Someone moves every 0.4 s, and the attacker polls as often as the map changes. */
const REFRESH_MS = 1_600
const MOVES = 4
const TOGGLES = 8
const START = Date.parse('2026-04-12T04:10:00Z')
const HOUR = 3_600_000
const LOG = createLog({}, () => undefined)

interface View {
  readonly live: LivePositions
  readonly map: PublicMap
}

describe('hiding and showing somebody again', () => {
  let dir = ''
  let kv: Kv
  let nowMs = START
  /** The map, and a control without this measure, in which a pilgrim reappears at once. */
  let view: View
  let atOnce: View
  const random = createRandom(21)
  /** Only these ids are claims; the others move at once. */
  const claims = new Set<string>()
  const viewOf = (store: Kv): View => {
    const live = new LivePositions(
      store,
      () => nowMs,
      LOG,
      stopwatch,
      (userId) => claims.has(userId),
    )
    return { live, map: new PublicMap(live, CROWD, () => nowMs) }
  }
  const walk = (i: number) =>
    restore(
      kv,
      sync(`pilgrim-${i}`, [], {
        position: { t: nowMs, lat: 24.15 + 0.06 * random(), lng: 120.67 + 0.01 * random() },
      }),
    )
  beforeAll(async () => {
    dir = await newDirectory('presence')
    kv = await openEmbeddedKv({ path: join(dir, 'kv'), onError, now: () => nowMs })
    view = viewOf(kv)
    atOnce = viewOf({
      ...kv,
      moved: async (...asked) =>
        (await kv.moved(...asked)).map((one) =>
          one.hiddenUntilMs === Infinity ? one : { ...one, hiddenUntilMs: 0 },
        ),
    })
    for (let i = 0; i < PILGRIMS; i++) await walk(i)
  })
  afterAll(async () => {
    await kv?.close()
    await rm(dir, { recursive: true, force: true })
  })

  /** The map some moves later: number of people by place. */
  const countsOf = async (victim: number, { live, map }: View): Promise<Map<string, number>> => {
    for (let n = 0; n < MOVES; n++) {
      const mover = Math.floor(random() * PILGRIMS)
      if (mover !== victim) await walk(mover)
    }
    nowMs += REFRESH_MS
    await live.refresh()
    const points = await map.read({ limit: 5_000, since: 0 })
    return new Map(
      Object.entries(Object.groupBy(points, ({ lat, lng }) => `${lat} ${lng}`)).map(([place, all]) => [
        place,
        all!.length,
      ]),
    )
  }
  type Toggle = (userId: string, away: boolean) => Promise<void>
  const hide: Toggle = (userId, away) => kv.hide(userId, away)
  /** A stranger sends a position for the pilgrim, followed by the pilgrim's own report. */
  const sendAway =
    (homes: ReadonlyMap<string, Position>, there: { readonly lat: number; readonly lng: number }): Toggle =>
    (userId, away) => {
      const place = away ? there : homes.get(userId)!
      return restore(kv, sync(userId, [], { position: { lat: place.lat, lng: place.lng, t: nowMs } }))
    }
  /** The place that changes most often with someone's presence, if there is one. */
  const likeliest = async (victim: number, of: View, toggle: Toggle): Promise<string | null> => {
    const userId = `pilgrim-${victim}`
    const scores = new Map<string, number>()
    let before = await countsOf(victim, of)
    for (let n = 0; n < 2 * TOGGLES; n++) {
      await toggle(userId, n % 2 === 0)
      const after = await countsOf(victim, of)
      for (const place of new Set([...before.keys(), ...after.keys()])) {
        const more = (after.get(place) ?? 0) - (before.get(place) ?? 0)
        const score = Math.sign(n % 2 === 0 ? -more : more)
        scores.set(place, (scores.get(place) ?? 0) + score)
      }
      before = after
    }
    const [best, next] = [...scores].sort(([, a], [, b]) => b - a)
    return best === undefined || best[1] === next?.[1] ? null : best[0]
  }

  /** Number of people whose place the attacker finds, within about the widest cell of a crowd. */
  const found = async (of: View, victims: readonly number[], toggle = hide): Promise<number> => {
    let right = 0
    for (const victim of victims) {
      const place = await likeliest(victim, of, toggle)
      if (place === null) continue
      const [lat, lng] = place.split(' ').map(Number)
      const at = (await kv.moved(0, 0, PILGRIMS)).find(({ userId }) => userId === `pilgrim-${victim}`)!
      if (Math.abs(at.lat - lat!) < 0.007 && Math.abs(at.lng - lng!) < 0.007) right++
    }
    return right
  }

  test('tells no place, however often; with the next hour all are there', async () => {
    const victims = Array.from({ length: 10 }, (_, i) => 12 * i)
    const everybody = () => view.map.read({ limit: 5_000, since: 0 })
    expect(await found(view, victims)).toBeLessThanOrEqual(victims.length / CROWD)
    expect(await everybody()).toHaveLength(PILGRIMS - victims.length)
    nowMs = Math.ceil(nowMs / HOUR) * HOUR
    await view.live.refresh()
    expect(await everybody()).toHaveLength(PILGRIMS)
  })

  test('tells most places where who comes back is there at once', async () => {
    const victims = Array.from({ length: 10 }, (_, i) => 12 * i + 5)
    expect(await found(atOnce, victims)).toBeGreaterThan(victims.length / 2)
  })

  // Some of these places can be reached on foot in time.
  const places = { 'far away': { lat: 23.57, lng: 120.3 }, nearby: { lat: 24.18, lng: 120.69 } }
  test.each(Object.entries(places))(
    'places %s in somebody’s name tell nothing either, unless they are shown at once',
    async (name, there) => {
      const first = name === 'nearby' ? 3 : 7
      const victims = Array.from({ length: 10 }, (_, i) => 12 * i + first)
      const isVictim = new Set(victims.map((victim) => `pilgrim-${victim}`))
      const positions = await kv.moved(0, 0, PILGRIMS)
      const homes = new Map(
        positions.filter(({ userId }) => isVictim.has(userId)).map((one) => [one.userId, one]),
      )
      for (const userId of isVictim) claims.add(userId)
      CLAIM_MEASURES.fullHours = false
      try {
        const shown = viewOf(kv)
        await shown.live.refresh()
        expect(await found(shown, victims, sendAway(homes, there))).toBeGreaterThan(victims.length / 2)
      } finally {
        CLAIM_MEASURES.fullHours = true
      }
      nowMs = Math.ceil(nowMs / HOUR) * HOUR + 1
      await view.live.refresh()
      expect(await found(view, victims, sendAway(homes, there))).toBeLessThanOrEqual(victims.length / CROWD)
      // At the next full hour the last position counts. Nobody is left in an older span.
      for (let i = 0; i < PILGRIMS; i++) if (!victims.includes(i)) await walk(i)
      nowMs = Math.ceil(nowMs / HOUR) * HOUR
      await view.live.refresh()
      expect(await view.map.read({ limit: 5_000, since: 0 })).toHaveLength(PILGRIMS)
    },
  )
})

describeOnServers('a refresh of the map', () => {
  test('reads nothing of 100,000 hidden people without a place, and of 100,000 erased ones once', async () => {
    // A separate server, because all its commands are counted.
    await using server = await startRedis()
    const { url } = server
    const kv = await openKv({ url, partitions: 1, path: '', onError })
    const redis = new Redis(url)
    const live = new LivePositions(kv, Date.now, LOG)
    /** Commands and bytes that a refresh costs Redis. */
    const costOf = async () => {
      await redis.config('RESETSTAT')
      await live.refresh()
      const stats = await redis.info('everything')
      const calls = [...stats.matchAll(/^cmdstat_(?!info|config)([\w|]+):calls=(\d+)/gm)]
      const [, sent] = /^total_net_output_bytes:(\d+)/m.exec(stats)!
      return { calls: calls.map(([, name, n]) => `${name} ${n}`), bytes: Number(sent) }
    }
    try {
      await restore(kv, sync('walking', [], { position: { t: Date.now(), lat: 24.15, lng: 120.67 } }))
      await live.refresh()
      const before = await costOf()
      for (let from = 0; from < 100_000; from += 1_000)
        await redis.sadd('{gps:0}:hidden', ...Array.from({ length: 1_000 }, (_, i) => `nobody-${from + i}`))
      expect(await kv.hidden(0)).toHaveLength(100_000)
      expect(await costOf()).toEqual(before)
      await kv.storeErasures(
        Array.from({ length: 100_000 }, (_, i) => ({ userHash: `hash-${i}`, generation: 1, erasedMs: 1 })),
      )
      await live.refresh()
      const after = await costOf()
      expect(after.calls).toEqual(before.calls)
      expect(after.bytes - before.bytes).toBeLessThan(100)
    } finally {
      redis.disconnect()
      await kv.close()
    }
  })
})

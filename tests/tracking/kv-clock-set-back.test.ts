/**
 * The live map of a running replica follows a kv whose clock was set back, or that has also lost its data.
 */
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import Redis from 'ioredis'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { createLog } from '#shared/runtime/log.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { testRedisUrl } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { checkin, onError, restore } from '#tests/kv/drivers.ts'

const HOUR_MS = 3_600_000

interface Stepped {
  readonly kv: Kv
  /** Sets the store's clock back by an hour. */
  setBack(): Promise<void>
  /** Deletes the live map. */
  empty(): Promise<void>
  close(): Promise<void>
}

async function openEmbedded(): Promise<Stepped> {
  const dir = await newDirectory('kv-clock')
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  const kv = await openEmbeddedKv({ path: join(dir, 'kv'), onError, now })
  return {
    kv,
    setBack: async () => void (offsetMs = -HOUR_MS),
    empty: () => kv.clear(),
    async close() {
      await kv.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function openRedis(): Promise<Stepped> {
  const url = await testRedisUrl()
  const kv = await openKv({ url, partitions: 1, path: '', onError })
  const redis = new Redis(url)
  return {
    kv,
    // Equivalent from the store's view: everything so far happened an hour ahead of its clock.
    async setBack() {
      const members = await redis.zrange('{gps:0}:moved', '0', '-1')
      await Promise.all(members.map((member) => redis.zincrby('{gps:0}:moved', HOUR_MS, member)))
    },
    empty: async () => void (await redis.del('{gps:0}:live', '{gps:0}:moved')),
    async close() {
      redis.disconnect()
      await kv.close()
    },
  }
}

const at = (userId: string, lat: number, t: number) =>
  checkin({ userId, entries: [], position: { t, lat, lng: 120 } })

for (const [name, open] of [
  ['embedded', openEmbedded],
  ['Redis', openRedis],
] as const)
  test.skipIf(name === 'Redis' && embeddedOnly)(
    `${name}: moves and hides are on the map at once`,
    async () => {
      const { kv, setBack, empty, close } = await open()
      try {
        const t = Date.now()
        const live = new LivePositions(
          kv,
          () => t,
          createLog({}, () => undefined),
        )
        const shown = async () => {
          await live.refresh()
          const places = await live.read({ limit: 10, since: 0 })
          return Object.fromEntries(places.map(({ userId, lat }) => [userId, lat]))
        }
        for (const userId of ['ann', 'ben']) await restore(kv, at(userId, 24, t - 2))
        await setBack()
        expect(await shown()).toEqual({ ann: 24, ben: 24 })
        await kv.hide('ann', true)
        await restore(kv, at('ben', 24.1, t - 1))
        await restore(kv, at('cid', 24.2, t - 1))
        expect(await shown()).toEqual({ ben: 24.1, cid: 24.2 })
        // A store that lost its data has no later times.
        await empty()
        await restore(kv, at('dan', 24.3, t))
        expect(await shown()).toMatchObject({ dan: 24.3 })
      } finally {
        await close()
      }
    },
  )

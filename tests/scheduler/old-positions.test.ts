/** Each flush removes positions that the live map no longer shows, so that the kv does not fill up. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import Redis from 'ioredis'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { dropOldPositions } from '#shared/points/old-positions.ts'
import { createLog } from '#shared/runtime/log.ts'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { type Kv, KvFull } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers, embeddedOnly } from '#tests/helpers/suite.ts'
import { activate, admit, checkin, onError, rules } from '#tests/kv/drivers.ts'
import { describeFlushHarness } from './flush-harness.ts'

const HOUR_MS = 3_600_000
const OLD_MS = 49 * HOUR_MS
const INVENTED = 12_000

let dir = ''
let server: Server | null = null
beforeAll(async () => {
  dir = await newDirectory('old-positions')
  if (!embeddedOnly) server = await startRedis()
})
afterAll(async () => {
  await server?.close()
  await rm(dir, { recursive: true, force: true })
})

const openRedis = () => openKv({ url: server!.url, partitions: 1, path: '', onError })

async function place(kv: Kv, names: readonly string[], t: number): Promise<void> {
  const crowd = names.map((userId) => checkin({ userId, entries: [], position: { t, lat: 24, lng: 120 } }))
  await kv.restore(0, crowd, rules())
}

const named = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}-${'x'.repeat(100)}`)

const placed = async (kv: Kv): Promise<string[]> =>
  (await kv.moved(0, 0, 2 * INVENTED)).map(({ userId }) => userId).sort()

for (const name of ['embedded', 'Redis'] as const)
  test.skipIf(name === 'Redis' && embeddedOnly)(
    `${name}: positions older or newer than 48 h go, by every clock, and from the memory of replicas`,
    async () => {
      const kv =
        name === 'Redis' ? await openRedis() : await openEmbeddedKv({ path: join(dir, 'kv'), onError })
      await kv.clear()
      const nowMs = await kv.clock()
      let offsetMs = 0
      const now = () => nowMs + offsetMs
      await place(kv, named(2_500), nowMs - OLD_MS)
      await place(kv, ['ahead', 'lately'], nowMs + HOUR_MS)
      await place(kv, ['yesterday'], nowMs - 24 * HOUR_MS)
      await place(kv, ['far ahead'], nowMs + OLD_MS)
      const log = createLog({}, () => undefined)
      const live = new LivePositions(kv, now, log)
      await live.refresh()
      expect(live.held()).toBe(2_504)
      // A clock that is a month ahead or behind removes nothing that the other clock would keep.
      for (offsetMs of [-720 * HOUR_MS, 720 * HOUR_MS, 0]) {
        await dropOldPositions({ kv, now })
        await live.forgetOld()
        const staying = offsetMs === 0 ? ['ahead', 'lately', 'yesterday'] : undefined
        if (staying === undefined) expect(await placed(kv)).toContain('yesterday')
        else expect(await placed(kv)).toEqual(staying)
      }
      expect(live.held()).toBe(3)
      await place(kv, ['yesterday'], nowMs)
      await place(kv, ['new'], nowMs)
      await live.refresh()
      expect(live.held()).toBe(4)
      await kv.close()
    },
  )

describeOnServers('a full Redis', () => {
  describeFlushHarness('old positions', (harness) => {
    test('admits again after a flush', async () => {
      const kv = await openRedis()
      const redis = new Redis(server!.url)
      await kv.clear()
      await activate(kv)
      const oldMs = Math.min(harness.nowMs, await kv.clock()) - OLD_MS
      const free = await memory(redis)
      await place(kv, named(INVENTED), oldMs)
      // Set the limit to the current use.
      await redis.config('SET', 'maxmemory', String(Math.floor((free + (await memory(redis))) / 2)))
      try {
        expect(await rejection(admit(kv, checkin()))).toBeInstanceOf(KvFull)
        expect(await harness.flush({ kv })).toMatchObject({ failures: 0 })
        expect(await admit(kv, checkin())).toMatchObject({ outcome: 'admitted' })
        expect(await placed(kv)).toHaveLength(1)
      } finally {
        await redis.config('SET', 'maxmemory', '0')
        redis.disconnect()
        await kv.close()
      }
    })
  })
})

async function memory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1])
}

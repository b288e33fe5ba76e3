/** The live map's incrementally updated order equals sorting all positions. */
import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { type Kv, userHash } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { onError, rules } from '#tests/kv/drivers.ts'
import { createRandom } from '#tests/helpers/random.ts'

const PEOPLE = 40
const HOUR = 3_600_000
const dir = await newDirectory('live-map')
const kv: Kv = await openKv({ url: '', partitions: 1, path: join(dir, 'kv'), onError })
afterAll(async () => {
  await kv.close()
  await rm(dir, { recursive: true, force: true })
})

const move = (userId: string, t: number, lat: number, store = kv) =>
  store.restore(
    0,
    [
      {
        id: crypto.randomUUID(),
        userId,
        kind: 'sync',
        entries: [],
        duplicateKey: '',
        recordedMs: 0,
        position: { t, lat, lng: 120 },
      },
    ],
    rules(),
  )

test('after moves, repeats and erasures each pilgrim is listed once, latest first', async () => {
  const random = createRandom(3)
  const startMs = Date.now() - HOUR
  const live = new LivePositions(
    kv,
    () => startMs + HOUR,
    createLog({}, () => undefined),
  )
  const latest = new Map<string, { t: number; lat: number }>()
  for (let round = 0; round < 30; round++) {
    for (let n = Math.floor(random() * 12); n > 0; n--) {
      const userId = `p${Math.floor(random() * PEOPLE)}`
      const [t, lat] = [startMs + Math.floor(random() * 1_000) * 3_000, 24 + random()]
      await move(userId, t, lat)
      if (t >= (latest.get(userId)?.t ?? 0)) latest.set(userId, { t, lat })
    }
    if (round % 7 === 3) {
      const userId = `p${Math.floor(random() * PEOPLE)}`
      await kv.erase(userId, { generation: round, erasedMs: Date.now() })
      expect(await kv.erased(0)).toContainEqual(expect.objectContaining({ userHash: userHash(userId) }))
      latest.delete(userId)
    }
    await live.refresh()
    const shown = await live.read({ limit: 5_000, since: 0 })
    expect(shown.map(({ t }) => t)).toEqual([...latest.values()].map(({ t }) => t).sort((a, b) => b - a))
    expect(new Map(shown.map(({ userId, t, lat }) => [userId, { t, lat }]))).toEqual(latest)
  }
})

test('a public id is the same for an hour, and another one in the next', async () => {
  let nowMs = Date.parse('2026-04-12T04:00:00Z')
  const live = new LivePositions(
    kv,
    () => nowMs,
    createLog({}, () => undefined),
  )
  await live.refresh()
  const name = live.publicId('p1')
  expect(name).toMatch(/^[\w-]{16}$/)
  nowMs += HOUR - 1
  expect([live.publicId('p1'), live.publicId('p2') === name]).toEqual([name, false])
  nowMs += 1
  expect(live.publicId('p1')).not.toBe(name)
})

test('replaced positions do not accumulate', async () => {
  const store = await openKv({ url: '', partitions: 1, path: join(dir, 'unread'), onError })
  const live = new LivePositions(
    store,
    Date.now,
    createLog({}, () => undefined),
  )
  for (let t = 1; t <= 20; t++) {
    for (const userId of ['a', 'b', 'c']) await move(userId, t, 24, store)
    await live.refresh()
    expect(live.held()).toBe(3)
  }
  expect((await live.read({ limit: 10, since: 0 })).map((moved) => moved.t)).toEqual([20, 20, 20])
  await store.close()
})

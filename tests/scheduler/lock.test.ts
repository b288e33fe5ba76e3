/** One flush per partition at a time: waiting, taking over, and losing the lock. */
import { expect, test } from 'bun:test'
import { type Kv, partitionOf } from '#shared/stores/kv/kv.ts'
import { until } from '#tests/helpers/wait.ts'
import { expectProjections } from './projections.ts'
import { describeFlushHarness, type FlushHarness } from './flush-harness.ts'
import { walk } from './walks.ts'

/** The same time as in the scheduler. */
const LOCK_MS = 90_000
const PILGRIMS = 40
const POINTS = PILGRIMS * 5

async function fill(harness: FlushHarness): Promise<void> {
  for (let i = 0; i < PILGRIMS; i++) await harness.buffer(`pilgrim-${i}`, walk(5))
}

/** Names of the locks of all partitions. */
const locks = ({ kv }: FlushHarness): string[] =>
  Array.from({ length: kv.partitions }, (_, i) => `flush:${i}`)

/** A kv whose first acknowledgement waits until it is released. */
function holding(kv: Kv) {
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const acknowledge: Kv['acknowledge'] = async (...args) => {
    reached.resolve()
    await held.promise
    await kv.acknowledge(...args)
  }
  return { kv: { ...kv, acknowledge }, reached: reached.promise, letGo: held.resolve }
}

describeFlushHarness('flush lock', (harness) => {
  test('two concurrent flushes share the work and duplicate nothing', async () => {
    await fill(harness)
    const results = await Promise.all([
      harness.flush({ slicePoints: 10 }),
      harness.flush({ slicePoints: 10 }),
    ])
    expect(results.reduce((sum, { stored }) => sum + stored, 0)).toBe(POINTS)
    expect(results.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(0)
    expect(results.reduce((sum, { skipped }) => sum + skipped, 0)).toBeGreaterThan(0)
    expect(await harness.pending()).toEqual([])
    await expectProjections(harness.db, harness.calendar)
  })

  test('two flushes that both assume to hold it store nothing twice', async () => {
    await fill(harness)
    const kv: Kv = {
      ...harness.kv,
      lock: async () => 'mine',
      renewLock: async () => true,
      unlock: async () => undefined,
    }
    const results = await Promise.all(Array.from({ length: 3 }, () => harness.flush({ kv, slicePoints: 10 })))
    expect(results.reduce((sum, { stored }) => sum + stored, 0)).toBe(POINTS)
    expect(results.reduce((sum, { failures }) => sum + failures, 0)).toBe(0)
    expect(await harness.pending()).toEqual([])
    await expectProjections(harness.db, harness.calendar)
    expect(harness.complaints).toEqual([])
  })

  test('is released afterwards, also when the flush failed', async () => {
    await fill(harness)
    const acknowledge: Kv['acknowledge'] = () => Promise.reject(new TypeError('a fault of ours'))
    await harness.flush({ kv: { ...harness.kv, acknowledge } })
    for (const name of locks(harness)) expect(await harness.kv.lock(name, 1)).not.toBeNull()
  })

  test('a flush on demand waits for the running one, and then stores the points that arrived meanwhile', async () => {
    await harness.buffer('anna', walk(5))
    const first = holding(harness.kv)
    const running = harness.flush({ kv: first.kv })
    await first.reached
    await harness.buffer('ben', walk(7))
    await harness.buffer('anna', walk(8))
    const tries = Promise.withResolvers<void>()
    const lock: Kv['lock'] = async (...args) => {
      const token = await harness.kv.lock(...args)
      if (token === null) tries.resolve()
      return token
    }
    const demanded = harness.flush({ kv: { ...harness.kv, lock } }, 30_000)
    await tries.promise
    first.letGo()
    expect(await running).toMatchObject({ failures: 0 })
    expect(await demanded).toMatchObject({ skipped: 0, failures: 0 })
    expect(await harness.pending()).toEqual([])
    expect(await harness.storedPoints()).toBe(15)
  })

  test('two schedulers share the partitions: a locked one does not delay the others', async () => {
    await fill(harness)
    const waiting = async () => [
      ...new Set(
        (await harness.pending()).map((entry) => partitionOf(entry.split(' ')[0]!, harness.kv.partitions)),
      ),
    ]
    const held = Math.min(...(await waiting()))
    const first = holding(harness.kv)
    const running = harness.flush({ kv: first.kv })
    await first.reached
    const demanded = harness.flush({}, 30_000)
    await until(
      async () => (await waiting()).every((partition) => partition === held),
      'all other partitions to be flushed',
    )
    first.letGo()
    expect([await running, await demanded].map(({ failures }) => failures)).toEqual([0, 0])
    expect(await harness.pending()).toEqual([])
    expect(await harness.storedPoints()).toBe(POINTS)
  })

  test('a flush whose wait times out, or that does not wait, skips the partition', async () => {
    await fill(harness)
    for (const name of locks(harness)) await harness.kv.lock(name, LOCK_MS)
    const partitions = harness.kv.partitions
    expect(await harness.flush()).toMatchObject({ stored: 0, skipped: partitions, failures: 0 })
    const startedAt = performance.now()
    expect(await harness.flush({}, 300)).toMatchObject({ stored: 0, skipped: partitions, failures: 0 })
    // All partitions share the wait.
    expect(performance.now() - startedAt).toBeWithin(300, 4_000)
    expect(await harness.pending()).toHaveLength(POINTS)
  })

  test('expires when its flush has died', async () => {
    await fill(harness)
    for (const name of locks(harness)) await harness.kv.lock(name, 300)
    expect(await harness.flush({}, 10_000)).toMatchObject({ stored: POINTS, skipped: 0 })
  })

  test('of a killed flush is taken over long before it expires', async () => {
    await fill(harness)
    for (const name of locks(harness)) await harness.kv.lock(name, 9_000)
    const startedAt = performance.now()
    expect(await harness.flush({ lockMs: 9_000 }, 60_000)).toMatchObject({ stored: POINTS, skipped: 0 })
    expect(performance.now() - startedAt).toBeLessThan(7_000)
  })

  test('is renewed as long as the flush runs', async () => {
    await harness.buffer('anna', walk(5))
    const first = holding(harness.kv)
    // A renewed lock is not lost: the flush continues to its last slice.
    const running = harness.flush({ kv: first.kv, lockMs: 1_800, slicePoints: 2 })
    await first.reached
    // Half a second is 2.5 times the time after which a lock that is not renewed counts as abandoned.
    expect(await harness.flush({ lockMs: 1_800 }, 500)).toMatchObject({ skipped: 1 })
    first.letGo()
    expect(await running).toMatchObject({ stored: 5, failures: 0 })
  })

  test('a flush that loses it stops, and does not release the lock of the other one', async () => {
    const name = locks(harness)[0]!
    const users = pilgrimsOf(harness, 12)
    for (const userId of users) await harness.buffer(userId, walk(5))
    let stolen: string | null = null
    let settled = 0
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      await harness.kv.acknowledge(...args)
      if (settled++ > 0) return
      // Like a frozen process: the lock expires before it is renewed.
      Bun.sleepSync(400)
      stolen = await until(() => harness.kv.lock(name, LOCK_MS), 'the lock', { everyMs: 1 })
      await Bun.sleep(200)
    }
    const result = await harness.flush({ kv: { ...harness.kv, acknowledge }, lockMs: 200, slicePoints: 5 })
    expect(result).toMatchObject({ failures: 1 })
    expect(harness.complaints).toMatchObject([{ level: 'error', error: 'the flush lock was lost' }])
    expect(await harness.kv.lock(name, 1)).toBeNull()
    expect(await harness.db.sql`SELECT FROM flushes WHERE partition = 0`).toHaveLength(0)
    await harness.kv.unlock(name, stolen!)
    await harness.flush()
    expect(await harness.storedPoints()).toBe(60)
    expect(await harness.pending()).toEqual([])
    await expectProjections(harness.db, harness.calendar)
  })

  test('a stopping process finishes its slices, leaves the rest, and does not wait', async () => {
    await fill(harness)
    const stopping = new AbortController()
    const acknowledge: Kv['acknowledge'] = async (...args) => {
      await harness.kv.acknowledge(...args)
      stopping.abort()
    }
    const result = await harness.flush({
      kv: { ...harness.kv, acknowledge },
      slicePoints: 5,
      stopping: stopping.signal,
    })
    expect(result).toMatchObject({ failures: 0, skipped: harness.kv.partitions })
    expect(result.stored).toBeGreaterThan(0)
    expect(await harness.pending()).toHaveLength(POINTS - result.stored)
    expect(await harness.db.sql`SELECT FROM flushes WHERE succeeded`).toHaveLength(0)
    await harness.flush()
    await expectProjections(harness.db, harness.calendar)

    const late = new AbortController()
    await harness.buffer('pilgrim-0', walk(20, Date.parse('2026-04-13T04:00:00Z')))
    const stopsLast: Kv['acknowledge'] = async (...args) => {
      await harness.kv.acknowledge(...args)
      late.abort()
    }
    // Everything is stored, but the map waits for the next flush.
    const last = await harness.flush({ kv: { ...harness.kv, acknowledge: stopsLast }, stopping: late.signal })
    expect(last.stored).toBe(20)
    expect(last.skipped).toBeGreaterThan(0)
    expect(await harness.db.sql`SELECT FROM cell_changes`).toHaveLength(1)
    await harness.flush()
    expect(await harness.db.sql`SELECT FROM cell_changes`).toHaveLength(0)

    for (const name of locks(harness)) await harness.kv.lock(name, LOCK_MS)
    const waiting = new AbortController()
    setTimeout(() => waiting.abort(), 50)
    expect(await harness.flush({ stopping: waiting.signal }, 60_000)).toMatchObject({ stored: 0 })
  })
})

/** Ids of pilgrims in partition 0. */
function pilgrimsOf(harness: FlushHarness, count: number): string[] {
  const ids = Array.from({ length: 1_000 }, (_, i) => `pilgrim-${i}`)
  return ids.filter((id) => partitionOf(id, harness.kv.partitions) === 0).slice(0, count)
}

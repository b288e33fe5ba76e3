/** Status, limits, caches, locks and health, for every driver of the kv port. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { until } from '#tests/helpers/wait.ts'
import { admit, checkin, type KvDriver } from './drivers.ts'
import { type Passed, passedSince, TIMEOUT_MS, WINDOW_MS } from './windows.ts'

const SOON = { everyMs: 5 }

export function verbsSuite(driver: KvDriver): void {
  describe('other verbs', () => {
    let kv: Kv
    beforeAll(async () => {
      kv = await driver.open()
    })
    afterAll(async () => {
      await kv?.close()
    })

    test('the status: none at first; an older one never replaces a newer', async () => {
      expect(await kv.status()).toBeNull()
      await kv.setStatus({ status: 'active', version: 10, message: null })
      expect(await kv.status()).toEqual({ status: 'active', version: 10, message: null })
      const paused = { status: 'paused', version: 11, message: 'a|b\n|c "d" 雨' } as const
      await kv.setStatus(paused)
      await kv.setStatus({ status: 'active', version: 9, message: null })
      await kv.setStatus({ status: 'active', version: 2, message: 'older' })
      expect(await kv.status()).toEqual(paused)
      await kv.setStatus({ ...paused, message: 'another message' })
      expect(await kv.status()).toEqual({ ...paused, message: 'another message' })
      await kv.setStatus({ ...paused, message: '' })
      expect(await kv.status()).toEqual({ ...paused, message: null })
    })

    test('of statuses that are set concurrently the newest one stays', async () => {
      const versions = [21, 25, 23, 24, 22, 20]
      await Promise.all(versions.map((version) => kv.setStatus({ status: 'ended', version, message: null })))
      expect(await kv.status()).toMatchObject({ version: 25 })
    })

    test('the clock is the store’s own time', async () => {
      const before = await kv.clock()
      await Bun.sleep(20)
      expect((await kv.clock()) - before).toBeWithin(20, 5_000)
      expect(Math.abs(before - Date.now())).toBeLessThan(5_000)
    })

    test('a limit lets max calls pass in any window, a repeated call once', async () => {
      const window = { max: 3, windowMs: WINDOW_MS }
      expect(await kv.limit('a', '1', window)).toEqual({ allowed: true, remaining: 2, retryAfterMs: 0 })
      expect(await kv.limit('a', '1', window)).toEqual({ allowed: true, remaining: 2, retryAfterMs: 0 })
      await kv.limit('a', '2', window)
      expect(await kv.limit('a', '3', window)).toEqual({ allowed: true, remaining: 0, retryAfterMs: 0 })
      const refused = await kv.limit('a', '4', window)
      expect(refused).toMatchObject({ allowed: false, remaining: 0 })
      expect(refused.retryAfterMs).toBeGreaterThan(0)
      expect(refused.retryAfterMs).toBeLessThanOrEqual(WINDOW_MS)
      expect((await kv.limit('a', '3', window)).allowed).toBe(true)
      expect((await kv.limit('b', '4', window)).allowed).toBe(true)
      await Bun.sleep(refused.retryAfterMs)
      expect((await kv.limit('a', '4', window)).allowed).toBe(true)
    })

    test('a limit holds in every window of many calls, and lets through what it may', async () => {
      const window = { max: 4, windowMs: WINDOW_MS }
      const allowed: Passed[] = []
      const end = performance.now() + TIMEOUT_MS
      for (let i = 0; allowed.length < 3 * 4 && performance.now() < end; i++) {
        const sent = performance.now()
        if ((await kv.limit('c', String(i), window)).allowed)
          allowed.push({ sent, answered: performance.now() })
        else expect(passedSince(allowed, sent - WINDOW_MS)).toBeGreaterThanOrEqual(4)
        await Bun.sleep(2)
      }
      expect(allowed).toHaveLength(3 * 4)
      for (let i = 4; i < allowed.length; i++)
        // The store's clock counts whole milliseconds.
        expect(allowed[i]!.answered - allowed[i - 4]!.sent).toBeGreaterThan(WINDOW_MS - 1)
    })

    test('of calls at once each is charged to its own window, in order, a repeated one once', async () => {
      const [two, five] = [2, 5].map((max) => ({ max, windowMs: 60_000 }))
      const calls = [
        ['e', '1', two!],
        ['f', '1', five!],
        ['e', '1', two!],
        ['e', '2', two!],
        ['f', '2', five!],
        ['e', '3', two!],
        ['e', '1', two!],
      ] as const
      const verdicts = await Promise.all(calls.map(([key, id, window]) => kv.limit(key, id, window)))
      expect(verdicts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 1],
        [true, 4],
        [true, 1],
        [true, 0],
        [true, 3],
        [false, 0],
        [true, 0],
      ])
      expect(verdicts[5]!.retryAfterMs).toBeWithin(55_000, 60_001)
    })

    test('of calls at once a limit lets exactly max through', async () => {
      const calls = Array.from({ length: 50 }, (_, i) =>
        kv.limit('d', String(i), { max: 7, windowMs: 60_000 }),
      )
      expect((await Promise.all(calls)).filter(({ allowed }) => allowed)).toHaveLength(7)
    })

    test('a cached value is returned until it expires or is deleted', async () => {
      expect(await kv.cached('key')).toBeNull()
      await kv.cache('key', 'value\n|雨', 60_000)
      expect(await kv.cached('key')).toBe('value\n|雨')
      await kv.cache('key', 'other', 60_000)
      expect(await kv.cached('key')).toBe('other')
      // Shorter than a busy machine may take to read it: only its expiry is observed.
      await kv.cache('key', 'brief', 50)
      await until(async () => (await kv.cached('key')) === null, 'the cache to expire', SOON)
      await kv.cache('key', 'again', 60_000)
      await kv.forget('key')
      expect(await kv.cached('key')).toBeNull()
    })

    test('an entry is exchanged only while it is as it was read', async () => {
      expect(await kv.exchange('swapped', 'none', 'late', 60_000)).toBe(false)
      expect(await kv.exchange('swapped', null, 'first', 60_000)).toBe(true)
      expect(await kv.exchange('swapped', null, 'second', 60_000)).toBe(false)
      const swaps = ['a', 'b', 'c'].map((value) => kv.exchange('swapped', 'first', value, 60_000))
      expect(await Promise.all(swaps)).toEqual([true, false, false])
      expect(await kv.exchange('swapped', 'b', null, 60_000)).toBe(false)
      expect(await kv.cached('swapped')).toBe('a')
      expect(await kv.exchange('swapped', 'a', null, 60_000)).toBe(true)
      expect(await kv.cached('swapped')).toBeNull()
    })

    test('all entries of a prefix are deleted, and no others', async () => {
      const kept = ['other:a', 'a:all:b', 'all']
      for (const key of ['all:a', 'all:b:c', 'all:', ...kept]) await kv.cache(key, 'value', 60_000)
      await kv.forgetAll('all:')
      for (const key of ['all:a', 'all:b:c', 'all:']) expect(await kv.cached(key)).toBeNull()
      for (const key of kept) expect(await kv.cached(key)).toBe('value')
    })

    test('cacheOnce returns the stored value', async () => {
      const values = ['a', 'b', 'c', 'd']
      const got = await Promise.all(values.map((value) => kv.cacheOnce('once', value, 60_000)))
      expect(new Set(got).size).toBe(1)
      expect(await kv.cached('once')).toBe(got[0]!)
      await kv.cache('once', 'x', 50)
      await until(
        async () => (await kv.cacheOnce('once', 'new', 60_000)) === 'new',
        'the old value to expire',
        SOON,
      )
    })

    test('a lock is held by one, and only its owner releases or extends it', async () => {
      const tokens = await Promise.all(Array.from({ length: 10 }, () => kv.lock('flush', 60_000)))
      const [token, ...others] = tokens.filter((one) => one !== null)
      expect(others).toEqual([])
      expect(await kv.lock('another', 60_000)).toBeString()
      expect(await kv.renewLock('flush', 'not mine', 60_000)).toBe(false)
      await kv.unlock('flush', 'not mine')
      expect(await kv.lock('flush', 60_000)).toBeNull()
      expect(await kv.renewLock('flush', token!, 60_000)).toBe(true)
      await kv.unlock('flush', token!)
      expect(await kv.renewLock('flush', token!, 60_000)).toBe(false)
      expect(await kv.lock('flush', 60_000)).toBeString()
    })

    test('a lock ends when it is not renewed, and its former holder cannot release it', async () => {
      const old = (await kv.lock('short', 60_000))!
      expect(await kv.renewLock('short', old, 150)).toBe(true)
      const next = await until(() => kv.lock('short', 60_000), 'the lock to fall', SOON)
      expect(await kv.renewLock('short', old, 60_000)).toBe(false)
      await kv.unlock('short', old)
      expect(await kv.renewLock('short', next, 60_000)).toBe(true)
    })

    test('a lock is lost to who asks for it when its holder is silent for longer than that', async () => {
      const old = (await kv.lock('silent', 60_000))!
      expect(await kv.lock('silent', 60_000, 1_000)).toBeNull()
      await Bun.sleep(600)
      expect(await kv.renewLock('silent', old, 60_000)).toBe(true)
      await Bun.sleep(600)
      expect(await kv.lock('silent', 60_000, 1_000)).toBeNull()
      const next = await until(() => kv.lock('silent', 60_000, 1_000), 'the silence to be long enough', SOON)
      expect(await kv.renewLock('silent', old, 60_000)).toBe(false)
      expect(await kv.renewLock('silent', next, 60_000)).toBe(true)
    })

    test('the probe resolves, memory is not full, and no slot moves', async () => {
      await kv.probe()
      expect(await kv.movingSlots()).toBe(0)
      expect(await kv.memoryUse()).toBe(0)
    })

    test('cleared, it is a new store, with another epoch', async () => {
      await kv.setStatus({ status: 'active', version: 1_000, message: null })
      const one = checkin()
      await admit(kv, one)
      await kv.hide(one.userId, true)
      await kv.cache('key', 'value', 60_000)
      const [before] = await kv.counters()
      await kv.clear()
      expect(await kv.status()).toBeNull()
      expect(await kv.peek(one.userId)).toEqual([])
      expect(await kv.bufferSize()).toBe(0)
      expect(await kv.oldestPending()).toBeNull()
      expect(await kv.cached('key')).toBeNull()
      for (let partition = 0; partition < kv.partitions; partition++) {
        expect(await kv.hidden(partition)).toEqual([])
        expect(await kv.moved(partition, 0, 10)).toEqual([])
      }
      await kv.setStatus({ status: 'paused', version: 1, message: null })
      expect(await kv.status()).toMatchObject({ status: 'paused', version: 1 })
      const [after] = await kv.counters()
      expect(after!.admitted).toBe(0)
      expect(after!.epoch).not.toBe(before!.epoch)
    })
  })
}

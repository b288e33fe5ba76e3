/** Erasures, for every driver of the kv port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { pack, type Point, unpack } from '#shared/buffer/point.ts'
import { type Kv, partitionOf, userHash } from '#shared/kv/kv.ts'
import { activate, admit, checkin, type KvDriver, restore } from './drivers.ts'

const pointAt = (receivedMs: number): Point => ({
  kind: 'c',
  sentMs: receivedMs,
  recordedMs: receivedMs,
  receivedMs,
  lat: 24,
  lng: 120,
  accuracy: null,
  altitude: null,
  speed: null,
  mode: null,
  source: null,
  inRange: true,
})

export function erasedSuite(driver: KvDriver): void {
  describe('erased people', () => {
    let kv: Kv
    const now = Date.now()
    const one = (userId: string, receivedMs: number) =>
      checkin({
        userId,
        entries: [pack(pointAt(receivedMs))],
        position: { t: receivedMs, lat: 24, lng: 120 },
      })
    const erasedIn = (userId: string) => kv.erased(partitionOf(userId, kv.partitions))
    const liveIn = async (userId: string) =>
      (await kv.moved(partitionOf(userId, kv.partitions), 0, 1_000)).map((moved) => moved.userId)
    const counters = async () => {
      const all = await kv.counters()
      return all.reduce(
        (sum, { admitted, erased, dropped }) => ({
          admitted: sum.admitted + admitted,
          erased: sum.erased + erased,
          dropped: sum.dropped + dropped,
        }),
        { admitted: 0, erased: 0, dropped: 0 },
      )
    }

    beforeEach(async () => {
      kv = await driver.open()
      await activate(kv)
    })
    afterEach(() => kv.close())

    test('lose pending points, live position and hidden state; others keep theirs', async () => {
      await admit(kv, one('gone', now))
      await admit(kv, one('stays', now))
      await kv.hide('gone', true)
      expect(await kv.erase('gone', { generation: 1, erasedMs: now })).toBe(1)
      expect(await kv.peek('gone')).toEqual([])
      expect(await kv.peek('stays')).toHaveLength(1)
      expect(await liveIn('gone')).not.toContain('gone')
      expect(await liveIn('stays')).toContain('stays')
      expect(await kv.hidden(partitionOf('gone', kv.partitions))).toEqual([])
      expect(await kv.bufferSize()).toBe(1)
      expect(await erasedIn('gone')).toContainEqual({
        userHash: userHash('gone'),
        generation: 1,
        erasedMs: now,
      })
      expect(await counters()).toEqual({ admitted: 2, erased: 1, dropped: 0 })
    })

    test('begin anew: later points carry the generation', async () => {
      await kv.erase('again', { generation: 3, erasedMs: now })
      await admit(kv, one('again', now + 1))
      const [entry] = await kv.peek('again')
      expect(unpack(entry!)).toEqual({ ...pointAt(now + 1), generation: 3 })
      expect(await liveIn('again')).toContain('again')
    })

    test('do not come back by a restore of older points; points received later are accepted', async () => {
      await kv.erase('again', { generation: 1, erasedMs: now })
      await restore(kv, one('again', now))
      expect(await kv.peek('again')).toEqual([])
      expect(await liveIn('again')).not.toContain('again')
      await restore(kv, one('again', now + 1))
      expect((await kv.peek('again')).map((entry) => unpack(entry).generation)).toEqual([1])
      expect(await counters()).toEqual({ admitted: 1, erased: 0, dropped: 1 })
    })

    test('can be erased again after a lost answer, and points admitted since stay', async () => {
      await admit(kv, one('again', now))
      expect(await kv.erase('again', { generation: 1, erasedMs: now }, ['photos'])).toBe(1)
      await admit(kv, one('again', now + 1))
      await kv.cache('photos', '3', 60_000)
      expect(await kv.erase('again', { generation: 1, erasedMs: now }, ['photos'])).toBe(0)
      expect(await kv.cached('photos')).toBeNull()
      expect((await kv.peek('again')).map((entry) => unpack(entry).receivedMs)).toEqual([now + 1])
      expect(await liveIn('again')).toContain('again')
      expect(await counters()).toEqual({ admitted: 2, erased: 1, dropped: 0 })
      // An older erasure that arrives late deletes nothing, and the generation stays.
      await kv.erase('again', { generation: 2, erasedMs: now + 1 })
      await admit(kv, one('again', now + 2))
      await kv.erase('again', { generation: 1, erasedMs: now })
      expect((await kv.peek('again')).map((entry) => unpack(entry).generation)).toEqual([2])
      expect((await erasedIn('again')).at(-1)).toMatchObject({ generation: 2, erasedMs: now + 1 })
    })

    test('do not come back by a call that was made before and arrives after', async () => {
      await kv.erase('again', { generation: 1, erasedMs: now })
      expect(await admit(kv, one('again', now))).toMatchObject({ outcome: 'admitted', pending: 0 })
      expect(await kv.peek('again')).toEqual([])
      expect(await liveIn('again')).not.toContain('again')
      expect(await counters()).toEqual({ admitted: 0, erased: 0, dropped: 1 })
    })

    test('are stored again in a store that has lost its data', async () => {
      await kv.storeErasures([{ userHash: userHash('again'), generation: 2, erasedMs: now }])
      await admit(kv, one('again', now + 1))
      expect((await kv.peek('again')).map((entry) => unpack(entry).generation)).toEqual([2])
    })
  })
}

/** Erasures, for every driver of the kv port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { pack, type Point, unpack } from '#shared/points/point.ts'
import { type Kv, partitionOf, userHash } from '#shared/stores/kv/kv.ts'
import { point } from '#tests/scheduler/walks.ts'
import { activate, admit, checkin, type KvDriver, restore } from './drivers.ts'

const pointAt = (receivedMs: number): Point =>
  point({ kind: 'c', sentMs: receivedMs, receivedMs, lat: 24, lng: 120 })

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
    afterEach(() => kv?.close())

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
        stands: false,
      })
      expect(await counters()).toEqual({ admitted: 2, erased: 1, dropped: 0 })
    })

    test('are read after a mark: each erasure once, in their order, and who is erased again once more', async () => {
      const all = Array.from({ length: 2_500 }, (_, i) => userHash(`e${i}`))
      const partition = kv.partitions - 1
      const store = (hashes: readonly string[], generation: number) =>
        kv.storeErasures(hashes.map((hash) => ({ userHash: hash, generation, erasedMs: now })))
      let mark = 0
      const readOn = async (): Promise<string[]> => {
        const read: string[] = []
        for (;;) {
          const page = await kv.erasedAfter(partition, mark)
          mark = page.mark
          if (page.userHashes.length === 0) return read
          read.push(...page.userHashes)
        }
      }
      expect(await readOn()).toEqual([])
      await store(all, 1)
      expect(await readOn()).toEqual(all)
      expect(await readOn()).toEqual([])
      await store([all[7]!, userHash('another')], 2)
      expect(await readOn()).toEqual([all[7]!, userHash('another')])
      // An older one changes nothing.
      await store([all[7]!], 1)
      expect(await readOn()).toEqual([])
      expect(await kv.erased(partition)).toHaveLength(all.length + 1)
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
      expect(await admit(kv, one('again', now))).toEqual({ outcome: 'erased' })
      expect(await kv.peek('again')).toEqual([])
      expect(await liveIn('again')).not.toContain('again')
    })

    test('are told so until they consent anew; a restore drops their points and positions', async () => {
      const erased = { generation: 1, erasedMs: now, stands: true }
      await admit(kv, one('gone', now))
      await kv.erase('gone', erased)
      const later = one('gone', now + 3_600_000)
      const nothing = { ...later, kind: 'sync' as const, entries: [], position: null }
      expect(await admit(kv, later)).toEqual({ outcome: 'erased' })
      expect(await admit(kv, nothing)).toEqual({ outcome: 'erased' })
      await restore(kv, later)
      await restore(kv, { ...nothing, position: later.position })
      expect(await kv.peek('gone')).toEqual([])
      expect(await liveIn('gone')).not.toContain('gone')
      expect(await counters()).toEqual({ admitted: 1, erased: 1, dropped: 1 })
      expect(await admit(kv, one('stays', now))).toMatchObject({ outcome: 'admitted' })

      await kv.storeErasures([{ userHash: userHash('gone'), ...erased, stands: false }])
      // The sweep of erasures repeats an erasure that it read before.
      await kv.erase('gone', erased)
      expect(await admit(kv, one('gone', now))).toEqual({ outcome: 'erased' })
      expect(await admit(kv, later)).toMatchObject({ outcome: 'admitted', pending: 1 })
      await kv.erase('gone', { generation: 2, erasedMs: now + 1, stands: true })
      expect(await kv.peek('gone')).toEqual([])
      expect(await admit(kv, later)).toEqual({ outcome: 'erased' })
    })

    test('who consented anew keep what was restored before the store knew of the erasure', async () => {
      await restore(kv, one('again', now))
      await restore(kv, one('again', now + 1))
      expect(await kv.erase('again', { generation: 1, erasedMs: now, stands: false })).toBe(1)
      const kept = (await kv.peek('again')).map((entry) => unpack(entry))
      expect(kept).toEqual([{ ...pointAt(now + 1), generation: 1 }])
      expect(await liveIn('again')).toContain('again')
      expect(await counters()).toEqual({ admitted: 2, erased: 1, dropped: 0 })
    })

    test('points of those who have taken back their consent are not admitted; a restore takes them', async () => {
      await kv.hide('one', true, true)
      await kv.hide('hidden', true)
      expect(await admit(kv, one('one', now))).toEqual({ outcome: 'no-consent' })
      expect(await admit(kv, one('hidden', now))).toMatchObject({ outcome: 'admitted' })
      await restore(kv, one('one', now))
      expect(await kv.peek('one')).toHaveLength(1)
      await kv.hide('one', false)
      expect(await admit(kv, one('one', now + 1))).toMatchObject({ outcome: 'admitted', pending: 2 })
    })

    test('are stored again in a store that has lost its data', async () => {
      await kv.storeErasures([{ userHash: userHash('again'), generation: 2, erasedMs: now }])
      await admit(kv, one('again', now + 1))
      expect((await kv.peek('again')).map((entry) => unpack(entry).generation)).toEqual([2])
    })
  })
}

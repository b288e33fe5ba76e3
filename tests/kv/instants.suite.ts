/** Check-ins at the same instant, for every driver of the kv port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kv, partitionOf } from '#shared/stores/kv/kv.ts'
import { activate, admit, checkin, type KvDriver, restore, rules, sync } from './drivers.ts'
import { WINDOW_MS } from './windows.ts'

export function instantsSuite(driver: KvDriver): void {
  describe('check-ins at one instant', () => {
    let kv: Kv
    beforeEach(async () => {
      kv = await driver.open()
      await activate(kv)
    })
    afterEach(() => kv?.close())

    const of = (userId: string, t: number, lat: number, received = t, changes = {}) =>
      checkin({
        userId,
        t,
        entries: [{ field: `c${t}`, value: `[0,${received},${lat},121.5,1]` }],
        duplicateKey: `p${lat},121.5`,
        ...changes,
      })
    const fields = async (userId: string) => (await kv.peek(userId)).map(({ field }) => field).sort()

    test('check-ins without a timestamp at different places get different instants, once each', async () => {
      const { userId } = checkin()
      const verdicts = await kv.admit(
        partitionOf(userId, kv.partitions),
        [25, 26, 27].map((lat) => of(userId, 1_000, lat)),
        rules(),
      )
      expect(verdicts).toEqual(
        [0, 1, 2].map((later) => ({
          outcome: 'admitted',
          duplicates: 0,
          duplicate: false,
          pending: later + 1,
          recordedMs: 1_000 + later,
          held: null,
        })),
      )
      expect(await fields(userId)).toEqual(['c1000', 'c1001', 'c1002'])
      const again = of(userId, 1_000, 26)
      expect(await admit(kv, again)).toMatchObject({ duplicate: true, recordedMs: 1_001, pending: 3 })
      // A restore uses no duplicate window: it recognises each check-in by its place.
      for (const lat of [27, 26, 25]) await restore(kv, of(userId, 1_000, lat))
      expect(await fields(userId)).toEqual(['c1000', 'c1001', 'c1002'])
    })

    test('a check-in with a track gets another instant, and its track points do not', async () => {
      const { userId } = checkin()
      await admit(kv, of(userId, 1_000, 25))
      const next = of(userId, 1_000, 26)
      const entries = [...next.entries, ...sync(userId, [1_000, 2_000]).entries]
      expect(await admit(kv, { ...next, entries })).toMatchObject({ duplicates: 0, recordedMs: 1_001 })
      expect(await fields(userId)).toEqual(['c1000', 'c1001', 't1000', 't2000'])
    })

    test('restores of several replicas keep each check-in', async () => {
      const { userId } = checkin()
      for (const lat of [25, 26, 27]) await restore(kv, of(userId, 1_000, lat))
      expect(await fields(userId)).toEqual(['c1000', 'c1001', 'c1002'])
    })

    test.each([
      ['that has its own time', 1_000, 5_000],
      ['after one that has its own time', 5_000, 1_000],
    ])('one %s is no duplicate of one without', async (_, received, other) => {
      const { userId } = checkin()
      await admit(kv, of(userId, 1_000, 25, received))
      const timed = of(userId, 1_000, 26, other, { duplicateKey: 't1000' })
      expect(await admit(kv, timed)).toMatchObject({ duplicate: false, pending: 2, recordedMs: 1_001 })
    })

    test('two check-ins with the same timestamp of the client are one', async () => {
      const { userId } = checkin()
      await admit(kv, of(userId, 1_000, 25, 5_000, { duplicateKey: '' }))
      const again = of(userId, 1_000, 26, 6_000, { duplicateKey: '' })
      expect(await admit(kv, again)).toMatchObject({ duplicate: true, pending: 1, recordedMs: 1_000 })
    })

    test('a duplicate of a duplicate is answered with the time of the first check-in', async () => {
      // Long, because on a busy machine a sleep takes longer.
      const duplicateMs = 5 * WINDOW_MS
      const short = rules({ duplicateMs })
      const first = checkin()
      await admit(kv, first, short)
      await Bun.sleep(duplicateMs / 2)
      const again = { ...first, recordedMs: 7 }
      expect(await admit(kv, { ...again, id: 'again' }, short)).toMatchObject({ duplicate: true })
      await Bun.sleep(duplicateMs / 2 + 5)
      // The first is outside the window, the second is not.
      expect(await admit(kv, { ...again, id: 'third' }, short)).toMatchObject({
        duplicate: true,
        recordedMs: first.recordedMs,
      })
    })
  })
}

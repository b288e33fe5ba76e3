/** The counters of a partition, for every driver of the kv port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kv, partitionOf, type Receipt } from '#shared/stores/kv/kv.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, admit, checkin, type KvDriver, restore, rules, sync } from './drivers.ts'

export function booksSuite(driver: KvDriver): void {
  describe('counters', () => {
    let kv: Kv
    const countersOf = async (userId: string) => (await kv.counters())[partitionOf(userId, kv.partitions)]!
    const acknowledge = async (userId: string, count = Infinity, epoch?: string) => {
      const entries = (await kv.peek(userId)).slice(0, count)
      await kv.acknowledge(partitionOf(userId, kv.partitions), [{ userId, entries }], epoch)
    }

    beforeEach(async () => {
      kv = await driver.open()
      await activate(kv)
    })
    afterEach(() => kv?.close())

    test('count accepted points by caller, and what became of them', async () => {
      await admit(kv, sync('U', [1, 2, 3, 4, 5]))
      await restore(kv, sync('U', [5, 6]))
      await acknowledge('U', 2)
      expect(await countersOf('U')).toMatchObject({
        admitted: 6,
        callers: { [kv.caller]: 6 },
        duplicate: 1,
        settled: 2,
        erased: 0,
      })
      await kv.erase('U', { generation: 1, erasedMs: 10 })
      await restore(kv, sync('U', [7]))
      await acknowledge('U')
      expect(await countersOf('U')).toMatchObject({
        admitted: 6,
        settled: 2,
        erased: 4,
        dropped: 1,
        expired: 0,
      })
    })

    test('count a repeated acknowledgement once, and ignore entries that differ from the buffer', async () => {
      await admit(kv, sync('U', [1, 2]))
      const entries = await kv.peek('U')
      const stored = [{ userId: 'U', entries: [...entries, { field: 't9', value: '' }] }]
      const partition = partitionOf('U', kv.partitions)
      await kv.acknowledge(partition, [{ userId: 'U', entries: [{ field: 't1', value: 'another' }] }])
      expect(await countersOf('U')).toMatchObject({ settled: 0 })
      await Promise.all([kv.acknowledge(partition, stored), kv.acknowledge(partition, stored)])
      expect(await countersOf('U')).toMatchObject({ admitted: 2, settled: 2, expired: 0 })
    })

    test('an acknowledgement for another epoch deletes nothing', async () => {
      await admit(kv, sync('U', [1]))
      const epoch = await kv.epoch(partitionOf('U', kv.partitions))
      expect(epoch).toBe((await countersOf('U')).epoch)
      await acknowledge('U', Infinity, 'another life')
      expect(await kv.peek('U')).toHaveLength(1)
      await acknowledge('U', Infinity, epoch)
      expect(await countersOf('U')).toMatchObject({ admitted: 1, settled: 1 })
    })

    test('receipts hold the caller’s total in the store', async () => {
      const receipts: Receipt[] = []
      kv.onReceipt((receipt) => receipts.push(receipt))
      const partition = partitionOf('U', kv.partitions)
      await admit(kv, sync('U', [1, 2]))
      await admit(kv, sync('U', [1, 2]))
      await restore(kv, checkin({ userId: 'U' }))
      const { epoch } = await countersOf('U')
      expect(receipts).toEqual([
        { partition, epoch, points: 2, total: 2 },
        { partition, epoch, points: 1, total: 3 },
      ])
    })

    test('count expired points, with the next flush at the latest', async () => {
      const short = rules({ retentionMs: 1_000 })
      await admit(kv, sync('left', [1, 2, 3]), short)
      await admit(kv, sync('back', [1, 2]), short)
      await admit(kv, sync('other', [1, 2]))
      await until(
        async () => (await kv.peek('left')).length + (await kv.peek('back')).length === 0,
        'the points to expire',
      )
      // A pilgrim with new points stays on the pending list.
      await admit(kv, sync('back', [3]))
      for (const userId of ['left', 'back', 'other']) await acknowledge(userId, 1)
      const sum =
        (name: 'admitted' | 'settled' | 'expired') => (counters: readonly Record<typeof name, number>[]) =>
          counters.reduce((total, one) => total + one[name], 0)
      const counters = await kv.counters()
      expect([sum('admitted')(counters), sum('settled')(counters), sum('expired')(counters)]).toEqual([
        8, 2, 5,
      ])
    })
  })
}

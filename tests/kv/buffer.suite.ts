/** Pending points, for every driver of the kv port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Entry, type Kv, partitionOf } from '#shared/stores/kv/kv.ts'
import { until } from '#tests/helpers/wait.ts'
import { activate, admit, checkin, type KvDriver, restore, rules, sync } from './drivers.ts'

/** Ids with every allowed character, all together and each alone. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:@-'
const IDS = [ALPHABET, `${'x'.repeat(127)}.`, 'a:b', 'a', 'b', '__proto__', 'constructor', '-', ':', '@', '0']

export function bufferSuite(driver: KvDriver): void {
  describe('buffer', () => {
    let kv: Kv
    const partition = (userId: string) => partitionOf(userId, kv.partitions)
    const pending = async () =>
      (await Promise.all(Array.from({ length: kv.partitions }, (_, p) => kv.pendingUsers(p)))).flat()
    const drain = async (userId: string) => (await kv.drain(partition(userId), [userId]))[0]!.entries
    const acknowledge = (userId: string, entries: readonly Entry[]) =>
      kv.acknowledge(partition(userId), [{ userId, entries }])

    beforeEach(async () => {
      kv = await driver.open()
      await activate(kv)
    })
    afterEach(() => kv?.close())

    test('each pilgrim has a separate buffer, for every allowed id', async () => {
      const submissions = IDS.map((userId) => checkin({ userId, position: null }))
      for (const submission of submissions) await admit(kv, submission)
      expect((await pending()).sort()).toEqual([...IDS].sort())
      expect(await kv.bufferSize()).toBe(IDS.length)
      for (const { userId, entries } of submissions) {
        expect(await kv.peek(userId)).toEqual([...entries])
        expect(await drain(userId)).toEqual([...entries])
      }
      expect(await kv.peekEach(['nobody', ...IDS.toReversed()])).toEqual([
        [],
        ...submissions.map(({ entries }) => [...entries]).toReversed(),
      ])
      expect(await kv.peekEach([])).toEqual([])
      for (const { userId, entries } of submissions) await acknowledge(userId, entries)
      expect(await pending()).toEqual([])
      expect(await kv.bufferSize()).toBe(0)
    })

    test('pilgrims are listed longest pending first', async () => {
      const all = Array.from({ length: 100 }, (_, i) => `U${i}`)
      const users = all.filter((userId) => partition(userId) === 0).slice(0, 5)
      expect(await kv.oldestPending()).toBeNull()
      const before = Date.now()
      for (const userId of users.toReversed()) {
        await admit(kv, checkin({ userId }))
        await Bun.sleep(2)
      }
      const since = (await kv.oldestPending())!
      expect(since).toBeGreaterThanOrEqual(before)
      expect(await kv.pendingUsers(0)).toEqual(users.toReversed())
      await admit(kv, checkin({ userId: users[4]! }))
      expect(await kv.pendingUsers(0)).toEqual(users.toReversed())
      expect(await kv.oldestPending()).toBe(since)
    })

    test('one call drains many pilgrims of a partition, also empty ones', async () => {
      expect(await kv.drain(0, [])).toEqual([])
      expect(await kv.drain(0, ['nobody'])).toEqual([{ userId: 'nobody', entries: [] }])
      const times = Array.from({ length: 1_500 }, (_, i) => i)
      await admit(kv, sync('U', times))
      expect(new Set((await drain('U')).map(({ field }) => field))).toEqual(
        new Set(times.map((t) => `t${t}`)),
      )
    })

    test('an acknowledgement deletes exactly the stored entries; newer or different ones stay', async () => {
      await admit(kv, sync('U', [1, 2, 3]))
      const drained = await drain('U')
      await admit(kv, sync('U', [4]))
      const otherValue = { field: 't3', value: 'not what is held' }
      await acknowledge('U', [...drained.slice(0, 2), otherValue, { field: 't99', value: '' }])
      expect((await kv.peek('U')).map(({ field }) => field)).toEqual(['t3', 't4'])
      expect(await pending()).toEqual(['U'])
      await acknowledge('U', await drain('U'))
      await acknowledge('U', drained)
      expect(await kv.peek('U')).toEqual([])
      expect(await pending()).toEqual([])
      expect(await admit(kv, sync('U', [1]))).toMatchObject({ duplicates: 0, pending: 1 })
    })

    test('the pending time of a pilgrim with further points starts at the last acknowledgement', async () => {
      await admit(kv, sync('U', [1]))
      const first = (await kv.oldestPending())!
      await Bun.sleep(5)
      const drained = await drain('U')
      await admit(kv, sync('U', [2]))
      expect(await kv.oldestPending()).toBe(first)
      await acknowledge('U', drained)
      expect(await kv.oldestPending()).toBeGreaterThan(first)
      await acknowledge('U', await drain('U'))
      expect(await kv.oldestPending()).toBeNull()
    })

    test('one call acknowledges thousands of points of several pilgrims', async () => {
      const all = Array.from({ length: 100 }, (_, i) => `U${i}`)
      const users = all.filter((userId) => partition(userId) === 0).slice(0, 5)
      const times = Array.from({ length: 1_000 }, (_, i) => i)
      for (const userId of users) await admit(kv, sync(userId, times))
      await kv.acknowledge(0, [])
      await kv.acknowledge(0, await kv.drain(0, users))
      expect(await kv.bufferSize()).toBe(0)
    })

    test('points stay for their retention, which every write and every renewal starts again', async () => {
      // Redis counts the retention of a write in whole seconds.
      const short = rules({ retentionMs: 1_000 })
      const gone = async (userId: string) => (await kv.peek(userId)).length === 0
      for (const userId of ['left', 'renewed', 'written', 'known']) await admit(kv, sync(userId, [1]), short)
      await Bun.sleep(600)
      await kv.renew(partition('renewed'), ['renewed', 'nobody'], 60_000)
      await admit(kv, sync('written', [2]), short)
      await admit(kv, sync('known', [1]), short)
      await until(() => gone('left'), 'the points to expire')
      expect(await drain('left')).toEqual([])
      expect(await gone('written')).toBe(false)
      expect(await gone('known')).toBe(false)
      await until(() => gone('written'), 'the later points to expire')
      expect(await kv.peek('renewed')).toHaveLength(1)
      expect(await admit(kv, sync('left', [2]), short)).toMatchObject({ pending: 1 })
      // Points may expire between the list and the drain; then the next list leaves them out.
      await until(async () => {
        for (const userId of await pending()) await acknowledge(userId, await drain(userId))
        return (await kv.bufferSize()) === 0
      }, 'an empty buffer')
    })

    test('counters hold accepted points, check-ins among them, duplicates, and the epoch', async () => {
      await admit(kv, sync('U', [1, 2, 3]))
      await admit(kv, sync('U', [3, 4]))
      const first = checkin({ userId: 'U' })
      await admit(kv, first)
      await admit(kv, { ...first, id: 'again' })
      await restore(kv, { ...first, id: 'and again' })
      await acknowledge('U', await drain('U'))
      const counters = await kv.counters()
      expect(counters).toHaveLength(kv.partitions)
      expect(counters[partition('U')]).toMatchObject({ admitted: 5, checkins: 1, duplicate: 3 })
      await activate(kv, 2)
      expect((await kv.counters()).map(({ epoch }) => epoch)).toEqual(counters.map(({ epoch }) => epoch))
      for (const { epoch } of counters) expect(epoch).toMatch(/^[\da-f-]{36}$/)
    })

    test('positions that moved since a time are listed oldest first, and move only forward in time', async () => {
      const all = Array.from({ length: 100 }, (_, i) => `U${i}`)
      const [a, b, c] = all.filter((userId) => partition(userId) === 0)
      const at = (userId: string, t: number, lat: number) =>
        admit(kv, checkin({ userId, position: { t, lat, lng: -0.000_000_1 } }))
      await at(a!, 1_000, 1)
      await at(b!, 1_000, 2)
      const [first, second] = await kv.moved(0, 0, 10)
      expect(first).toMatchObject({ userId: a, t: 1_000, lat: 1, lng: -0.000_000_1 })
      expect(second).toMatchObject({ userId: b, lat: 2 })
      await Bun.sleep(3)
      await at(a!, 999, 3)
      expect(await kv.moved(0, 0, 10)).toEqual([first!, second!])
      await at(a!, 1_000, 4)
      await at(c!, -5, 5)
      const moved = await kv.moved(0, 0, 10)
      expect(moved.map(({ userId, lat }) => `${userId} ${lat}`)).toEqual([`${b} 2`, `${a} 4`, `${c} 5`])
      expect(moved[1]!.movedMs).toBeGreaterThan(second!.movedMs)
      expect(await kv.moved(0, second!.movedMs + 1, 10)).toEqual(moved.slice(1))
      expect(await kv.moved(0, 0, 1)).toEqual(moved.slice(0, 1))
    })

    test('no two changes of the live map share a time', async () => {
      const crowd = Array.from({ length: 300 }, () => checkin({ entries: [] }))
      await kv.restore(0, crowd, rules())
      const hidden = crowd.map(({ userId }) => userId).find((userId) => partition(userId) === 0)!
      await kv.hide(hidden, true)
      const moved = await kv.moved(0, 0, 1_000)
      expect(moved).toHaveLength(300)
      expect(new Set(moved.map(({ movedMs }) => movedMs)).size).toBe(300)
      expect(moved.at(-1)).toMatchObject({ userId: hidden, hiddenUntilMs: Infinity })
    })

    test('a rough place replaces a better one only when that is an hour older', async () => {
      const at = async (t: number, lat: number, rough: boolean) => {
        await admit(kv, checkin({ userId: 'U', position: { t, lat, lng: 1, rough } }))
        return (await kv.moved(partition('U'), 0, 10))[0]
      }
      const hour = 3_600_000
      expect(await at(1_000, 1, true)).toMatchObject({ t: 1_000, lat: 1, rough: true })
      expect(await at(2_000, 2, false)).toMatchObject({ t: 2_000, lat: 2 })
      expect(await at(1_999 + hour, 3, true)).toMatchObject({ t: 2_000, lat: 2 })
      expect(await at(2_001 + hour, 4, true)).toMatchObject({ t: 2_001 + hour, lat: 4 })
      expect(await at(3_000, 5, false)).toMatchObject({ t: 3_000, lat: 5 })
    })

    test('pilgrims are hidden from the map, and shown again', async () => {
      for (const userId of IDS) await kv.hide(userId, true)
      await kv.hide('a', false)
      await kv.hide('nobody', false)
      const hidden = await Promise.all(Array.from({ length: kv.partitions }, (_, p) => kv.hidden(p)))
      expect(hidden.flat().sort()).toEqual(IDS.filter((userId) => userId !== 'a').sort())
      for (const [p, users] of hidden.entries()) for (const userId of users) expect(partition(userId)).toBe(p)
    })

    test('a place is hidden at once, with the first place of somebody hidden, and shown from the next full hour on', async () => {
      const hour = 3_600_000
      const place = async (userId: string) =>
        (await kv.moved(partition(userId), 0, 10)).find((moved) => moved.userId === userId)!
      const hiddenUntil = async (userId: string) => (await place(userId)).hiddenUntilMs
      const checkInOf = (userId: string, t: number) =>
        admit(kv, checkin({ userId, t, id: `${userId}${t}`, position: { t, lat: 1, lng: 1 } }))
      await kv.hide('later', true)
      for (const userId of ['later', 'seen', 'calm']) await checkInOf(userId, 1_000)
      const before = await place('seen')
      await kv.hide('calm', false)
      expect(await hiddenUntil('calm')).toBe(0)
      await kv.hide('seen', true)
      expect((await place('seen')).movedMs).toBeGreaterThanOrEqual(before.movedMs)
      for (const userId of ['later', 'seen']) {
        expect(await hiddenUntil(userId)).toBe(Infinity)
        const fromMs = await kv.clock()
        await kv.hide(userId, false)
        const returnsMs = await hiddenUntil(userId)
        expect(returnsMs % hour).toBe(0)
        expect(returnsMs).toBeGreaterThan(fromMs)
        expect(returnsMs).toBeLessThanOrEqual((await kv.clock()) + hour)
        // Neither a new position nor being shown again changes that.
        await checkInOf(userId, 2_000)
        await kv.hide(userId, false)
        expect(await hiddenUntil(userId)).toBe(returnsMs)
      }
    })
  })
}

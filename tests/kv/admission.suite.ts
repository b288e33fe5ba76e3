/** Admission, for every driver of the kv port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Kv, partitionOf } from '#shared/stores/kv/kv.ts'
import { activate, admit, checkin, type KvDriver, restore, rules, sync } from './drivers.ts'
import { type Passed, passedSince, TIMEOUT_MS, WINDOW_MS } from './windows.ts'

export function admissionSuite(driver: KvDriver): void {
  describe('admission', () => {
    let kv: Kv
    beforeEach(async () => {
      kv = await driver.open()
      await activate(kv)
    })
    afterEach(() => kv?.close())

    test('without a status the verdict is unknown', async () => {
      await kv.close()
      kv = await driver.open()
      const submission = checkin()
      expect(await admit(kv, submission)).toEqual({ outcome: 'unknown' })
      expect(await kv.peek(submission.userId)).toEqual([])
    })

    test('a check-in with a timestamp is accepted once by its time', async () => {
      const first = checkin({ t: 1_000 })
      expect(await admit(kv, first)).toEqual({
        outcome: 'admitted',
        duplicates: 0,
        duplicate: false,
        pending: 1,
        recordedMs: 1_000,
        held: null,
      })
      const again = checkin({ ...first, id: 'another request', recordedMs: 7 })
      expect(await admit(kv, again)).toEqual({
        outcome: 'admitted',
        duplicates: 1,
        duplicate: true,
        pending: 1,
        recordedMs: 1_000,
        held: null,
      })
      expect(await kv.peek(first.userId)).toEqual([...first.entries])
    })

    test('a check-in without a timestamp is accepted once by its place', async () => {
      const { userId } = checkin()
      const at = (t: number, place: string) => checkin({ userId, t, duplicateKey: place })
      expect(await admit(kv, at(1_000, 'p25.03,121.5'))).toMatchObject({ duplicate: false })
      expect(await admit(kv, at(2_000, 'p25.03,121.5'))).toMatchObject({ duplicate: true, recordedMs: 1_000 })
      expect(await admit(kv, at(3_000, 'p25.04,121.5'))).toMatchObject({ duplicate: false, pending: 2 })
      expect((await kv.peek(userId)).map(({ field }) => field)).toEqual(['c1000', 'c3000'])
    })

    test('after the duplicate window the verdict holds the buffered value of the same identity', async () => {
      const short = rules({ checkin: { max: 5, windowMs: WINDOW_MS }, duplicateMs: WINDOW_MS })
      const first = checkin()
      await admit(kv, first, short)
      await Bun.sleep(WINDOW_MS + 5)
      const later = checkin({
        ...first,
        id: 'later',
        entries: [{ field: first.entries[0]!.field, value: 'other' }],
      })
      expect(await admit(kv, later, short)).toMatchObject({
        duplicate: true,
        duplicates: 1,
        held: first.entries[0]!.value,
      })
      expect(await kv.peek(first.userId)).toEqual([...first.entries])
    })

    test('the same place after the duplicate window is another check-in', async () => {
      const short = rules({ checkin: { max: 5, windowMs: WINDOW_MS }, duplicateMs: WINDOW_MS })
      const first = checkin({ t: 1_000, duplicateKey: 'p1,2' })
      await admit(kv, first, short)
      await Bun.sleep(WINDOW_MS + 5)
      const later = checkin({ userId: first.userId, t: 2_000, duplicateKey: 'p1,2' })
      expect(await admit(kv, later, short)).toMatchObject({ duplicate: false, pending: 2, recordedMs: 2_000 })
    })

    test('track points that come with a duplicate check-in are accepted', async () => {
      const first = checkin({ t: 1_000 })
      await admit(kv, first)
      const entries = [...first.entries, ...sync(first.userId, [2_000, 3_000]).entries]
      const position = { t: 3_000, lat: 1, lng: 2 }
      const again = checkin({ ...first, id: 'again', entries, position })
      expect(await admit(kv, again)).toMatchObject({ duplicate: true, duplicates: 1, pending: 3 })
      expect(await admit(kv, { ...again, id: 'third' })).toMatchObject({ duplicates: 3, pending: 3 })
      expect(await kv.moved(partitionOf(first.userId, kv.partitions), 0, 10)).toMatchObject([position])
    })

    test('known points of a track are counted, also repetitions within it', async () => {
      const first = sync('U', [1, 2, 3])
      expect(await admit(kv, first)).toMatchObject({ outcome: 'admitted', duplicates: 0, pending: 3 })
      const second = sync('U', [3, 4, 4])
      expect(await admit(kv, second)).toMatchObject({ duplicates: 2, pending: 4, held: null })
      expect(await admit(kv, sync('U', []))).toMatchObject({ outcome: 'admitted', duplicates: 0, pending: 4 })
    })

    test.each([
      ['kept for the window', 1],
      ['kept for longer, for duplicates', 30_000],
    ])('never lets more than five in any window pass, and five it lets pass: %s', async (_, duplicateMs) => {
      const short = rules({ checkin: { max: 5, windowMs: WINDOW_MS }, duplicateMs })
      const admitted: Passed[] = []
      const end = performance.now() + TIMEOUT_MS
      while (admitted.length < 4 * 5 && performance.now() < end) {
        const sent = performance.now()
        const verdict = await admit(kv, checkin({ userId: 'U' }), short)
        if (verdict.outcome === 'admitted') admitted.push({ sent, answered: performance.now() })
        else {
          expect(verdict).toMatchObject({ outcome: 'limited' })
          expect(passedSince(admitted, sent - WINDOW_MS)).toBeGreaterThanOrEqual(5)
        }
        await Bun.sleep(2)
      }
      expect(admitted).toHaveLength(4 * 5)
      for (let i = 5; i < admitted.length; i++)
        // The store's clock counts whole milliseconds.
        expect(admitted[i]!.answered - admitted[i - 5]!.sent).toBeGreaterThan(WINDOW_MS - 1)
    })

    test('a limited verdict names the exact time until the next call is allowed', async () => {
      const short = rules({ sync: { max: 2, windowMs: WINDOW_MS } })
      for (const t of [1, 2]) await admit(kv, sync('U', [t]), short)
      const verdict = await admit(kv, sync('U', [3]), short)
      if (verdict.outcome !== 'limited') throw new Error(`was ${verdict.outcome}`)
      expect(verdict.retryAfterMs).toBeGreaterThan(0)
      expect(verdict.retryAfterMs).toBeLessThanOrEqual(WINDOW_MS)
      await Bun.sleep(verdict.retryAfterMs)
      expect(await admit(kv, sync('U', [3]), short)).toMatchObject({ outcome: 'admitted' })
    })

    test('duplicates are charged to the limit, and a repeated request once', async () => {
      const first = checkin()
      for (const id of ['a', 'b', 'b', 'b', 'c', 'd', 'e'])
        expect(await admit(kv, { ...first, id })).toMatchObject({ outcome: 'admitted' })
      expect(await admit(kv, { ...first, id: 'f' })).toMatchObject({ outcome: 'limited' })
      expect(await admit(kv, { ...first, id: 'a' })).toMatchObject({ outcome: 'admitted', duplicate: true })
    })

    test('check-ins, tracks and pilgrims have windows of their own', async () => {
      for (let i = 0; i < 5; i++) await admit(kv, checkin({ userId: 'U' }))
      expect(await admit(kv, checkin({ userId: 'U' }))).toMatchObject({ outcome: 'limited' })
      expect(await admit(kv, sync('U', [1]))).toMatchObject({ outcome: 'admitted' })
      expect(await admit(kv, checkin({ userId: 'V' }))).toMatchObject({ outcome: 'admitted' })
    })

    test('a paused or ended event refuses with its message unchanged, and charges nobody', async () => {
      const message = 'Rain | wind\nand "hail" — 雨\\'
      await kv.setStatus({ status: 'paused', version: 2, message })
      for (let i = 0; i < 6; i++)
        expect(await admit(kv, checkin({ userId: 'U' }))).toEqual({
          outcome: 'refused',
          status: 'paused',
          message,
        })
      await kv.setStatus({ status: 'active', version: 3, message: null })
      expect(await admit(kv, checkin({ userId: 'U' }))).toMatchObject({ outcome: 'admitted' })
      await kv.setStatus({ status: 'ended', version: 4, message: null })
      const verdict = await admit(kv, sync('U', [1]))
      expect(verdict).toEqual({ outcome: 'refused', status: 'ended', message: null })
    })

    test('a submission beyond the bound of pending points is neither accepted nor charged', async () => {
      const small = rules({ pendingMax: 3, sync: { max: 2, windowMs: 60_000 } })
      await admit(kv, sync('U', [1, 2]), small)
      for (let i = 0; i < 3; i++)
        expect(await admit(kv, sync('U', [3, 4]), small)).toEqual({ outcome: 'full' })
      expect(await admit(kv, sync('U', [3]), small)).toMatchObject({ outcome: 'admitted', pending: 3 })
      expect(await kv.peek('U')).toHaveLength(3)
      await restore(kv, sync('U', [5, 6]), small)
      expect(await admit(kv, checkin({ userId: 'U' }), small)).toEqual({ outcome: 'full' })
    })

    test('submissions of one call are decided in their order', async () => {
      const all = Array.from({ length: 100 }, (_, i) => `U${i}`)
      const users = all.filter((userId) => partitionOf(userId, kv.partitions) === 0).slice(0, 4)
      const submissions = Array.from({ length: 7 }, (_, i) =>
        users.map((userId) => checkin({ userId, t: i < 2 ? 1_000 : 1_000 * i })),
      ).flat()
      const verdicts = await kv.admit(0, submissions, rules())
      const outcomes = Map.groupBy(verdicts, (_, i) => submissions[i]!.userId)
      for (const of of outcomes.values())
        expect(of.map((one) => (one.outcome === 'admitted' ? `${one.pending}` : one.outcome))).toEqual([
          '1',
          '1',
          '2',
          '3',
          '4',
          'limited',
          'limited',
        ])
      expect(outcomes.size).toBe(4)
    })

    test('a restore ignores status, limit and bound, and accepts each point once', async () => {
      await kv.setStatus({ status: 'ended', version: 9, message: null })
      const small = rules({ pendingMax: 1, checkin: { max: 1, windowMs: 60_000 } })
      const submissions = [1, 2, 3].map((t) =>
        checkin({ userId: 'U', t, entries: sync('U', [t, 10]).entries }),
      )
      for (let i = 0; i < 2; i++) await kv.restore(partitionOf('U', kv.partitions), submissions, small)
      expect((await kv.peek('U')).map(({ field }) => field)).toEqual(['t1', 't10', 't2', 't3'])
      expect(await kv.moved(partitionOf('U', kv.partitions), 0, 10)).toMatchObject([{ userId: 'U', t: 3 }])
      const counters = (await kv.counters())[partitionOf('U', kv.partitions)]
      expect(counters).toMatchObject({ admitted: 4, duplicate: 2 + 6 })
    })

    test('one restore sets the positions of many pilgrims', async () => {
      const crowd = Array.from({ length: 4_500 }, () => checkin({ entries: [] }))
      await kv.restore(0, crowd, rules())
      expect(await kv.moved(0, 0, 5_000)).toHaveLength(4_500)
    })
  })
}

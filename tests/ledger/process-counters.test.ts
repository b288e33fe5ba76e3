/** How a process counts the store's receipts, and the purpose of its counter file. */
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lostPoints } from '#shared/points/ledger/ledger.ts'
import { afterReceipt, openProcessCounters } from '#shared/points/ledger/counters.ts'
import { createLog } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { describeFlushHarness } from '#tests/scheduler/flush-harness.ts'

test('every receipt reveals points that the store has lost, after any number of losses', () => {
  let pair: readonly [number, number] = [0, 0]
  const receive = (points: number, total: number) => (pair = afterReceipt(pair, { points, total }))
  expect(receive(3, 3)).toEqual([3, 0])
  expect(receive(2, 5)).toEqual([5, 0])
  // The store has lost everything: it has only the points of this call.
  expect(receive(2, 2)).toEqual([7, 5])
  expect(receive(4, 6)).toEqual([11, 5])
  // It has lost a part, and then everything again.
  expect(receive(1, 4)).toEqual([12, 8])
  expect(receive(1, 1)).toEqual([13, 12])
  // A receipt for nothing, or one preceded by others' receipts, implies no loss.
  expect(receive(0, 1)).toEqual([13, 12])
  expect(receive(1, 5)).toEqual([17, 12])
})

test('lost are expired, forgotten and unaccounted points; too many of one do not hide those of another', () => {
  expect(lostPoints({ expired: 1, forgotten: 20, unaccounted: 300 })).toBe(321)
  expect(lostPoints({ forgotten: -5, unaccounted: 3 })).toBe(3)
  expect(lostPoints({ expired: 2, forgotten: 4, unaccounted: -9 })).toBe(6)
  expect(lostPoints({ forgotten: 7 })).toBe(7)
})

describeFlushHarness('the counters of a process', (harness) => {
  test('name refused points by reason, apart from all others', async () => {
    const counters = openProcessCounters({
      kv: harness.kv,
      db: harness.db,
      log: createLog({}, () => undefined),
      journalPath: null,
      journaled: () => 3,
    })
    counters.count('duplicate', 2)
    counters.count('rejected:too-old', 4)
    counters.count('rejected:paused', 0)
    await counters.sync()
    expect(counters.rejected()).toEqual({ 'too-old': 4 })
    await counters.stop()
  })
})

describeFlushHarness('the counter file of a process that stops', (harness) => {
  test.each([
    [0, []],
    [1, ['mine.counters']],
    [2, ['mine.counters']],
  ])('with %d points in its journal', async (journaled, left) => {
    const dir = await newDirectory('counters')
    const counters = openProcessCounters({
      kv: harness.kv,
      db: harness.db,
      log: createLog({}, () => undefined),
      journalPath: join(dir, 'mine.journal'),
      journaled: () => journaled,
    })
    expect(readdirSync(dir)).toEqual(['mine.counters'])
    await counters.stop()
    expect(readdirSync(dir)).toEqual(left)
  })
})

/** How a process counts the store's receipts. */
import { expect, test } from 'bun:test'
import { afterReceipt } from '#shared/ledger/process-counters.ts'

test('every receipt reveals points that the store has lost, after any number of losses', () => {
  let pair: readonly [number, number] = [0, 0]
  const receive = (points: number, total: number) => (pair = afterReceipt(pair, { points, total }))
  expect(receive(3, 3)).toEqual([3, 0])
  expect(receive(2, 5)).toEqual([5, 0])
  // It has lost everything: it knows only the points of this call.
  expect(receive(2, 2)).toEqual([7, 5])
  expect(receive(4, 6)).toEqual([11, 5])
  // It has lost a part, and then everything again.
  expect(receive(1, 4)).toEqual([12, 8])
  expect(receive(1, 1)).toEqual([13, 12])
  // Nothing is lost by a receipt for nothing, nor where others' receipts came first.
  expect(receive(0, 1)).toEqual([13, 12])
  expect(receive(1, 5)).toEqual([17, 12])
})

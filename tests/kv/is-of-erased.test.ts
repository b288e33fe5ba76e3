import { expect, test } from 'bun:test'
import { isOfErased, receivedMsOf } from '#shared/stores/kv/kv.ts'

test.each([
  // [whether the erasure stands, generation and time of receipt of the point, expected result], for an
  // erasure of generation 2 at 100
  [true, 2, 200, true],
  [false, 1, 99, true],
  [false, 1, 100, true],
  // The kv had lost the generation.
  [false, 0, 101, false],
  // The replica's clock is behind.
  [false, 2, 50, false],
  [false, 1, -Infinity, true],
])('stands: %p, generation %p, received at %p: %p', (stands, generation, receivedMs, isErased) => {
  expect(isOfErased({ generation: 2, erasedMs: 100, stands }, { generation, receivedMs })).toBe(isErased)
})

test('the time of receipt of a value, with a stamp, without one, and unreadable', () => {
  expect(['[0,123,24.1,120.6,1]', '3~[-5,123,24.1,120.6,1]', 'no point'].map(receivedMsOf)).toEqual([
    123,
    123,
    -Infinity,
  ])
})

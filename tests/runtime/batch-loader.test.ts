/** Reading at once what many ask for at the same time. */
import { expect, test } from 'bun:test'
import { createBatchLoader } from '#shared/runtime/batch-loader.ts'
import { rejection } from '#tests/helpers/rejection.ts'

/** A store whose readings are answered by hand, with what stands in it when they begin. */
function setUp(patienceMs?: number) {
  const store = new Map<string, number>()
  const readings: { keys: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = []
  const ask = createBatchLoader((keys) => {
    const found = new Map(keys.flatMap((key) => (store.has(key) ? [[key, store.get(key)!]] : [])))
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, number>>()
    readings.push({ keys, answer: () => resolve(found), fail: reject })
    return promise
  }, patienceMs)
  return { store, readings, ask }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('what is asked for in one turn is read at once, each key once', async () => {
  const { store, readings, ask } = setUp()
  store.set('a', 1).set('b', 2)
  const asked = Promise.all([ask('a'), ask('b'), ask('a'), ask('nothing')])
  await turn()
  expect(readings.map(({ keys }) => keys)).toEqual([['a', 'b', 'nothing']])
  readings[0]!.answer()
  expect(await asked).toEqual([1, 2, 1, undefined])
})

test('who asks after something was written is told of it, whatever is being read just then', async () => {
  const { store, readings, ask } = setUp()
  store.set('a', 1)
  const before = ask('a')
  await turn()
  store.set('a', 2)
  const after = ask('a')
  readings[0]!.answer()
  expect(await before).toBe(1)
  await turn()
  readings[1]!.answer()
  expect(await after).toBe(2)
})

test('what is asked for during a reading waits for it, and is then read at once', async () => {
  const { store, readings, ask } = setUp(60_000)
  store.set('a', 1).set('b', 2).set('c', 3)
  const first = ask('a')
  await turn()
  const others = [ask('b')]
  for (let turns = 0; turns < 5; turns++) await turn()
  others.push(ask('c'))
  for (let turns = 0; turns < 5; turns++) await turn()
  expect(readings.map(({ keys }) => keys)).toEqual([['a']])
  readings[0]!.answer()
  expect(await first).toBe(1)
  await turn()
  expect(readings.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c']])
  readings[1]!.answer()
  expect(await Promise.all(others)).toEqual([2, 3])
})

test('a reading that hangs holds the next ones up for a moment only', async () => {
  const { readings, ask } = setUp()
  const hanging = ask('a')
  await turn()
  const startedMs = performance.now()
  const next = ask('b')
  while (readings.length < 2) await turn()
  expect(performance.now() - startedMs).toBeLessThan(10_000)
  readings[1]!.answer()
  expect(await next).toBeUndefined()
  readings[0]!.answer()
  expect(await hanging).toBeUndefined()
})

test('a failure is everybody’s who shares the reading, and nobody else’s', async () => {
  const { store, readings, ask } = setUp()
  store.set('a', 1)
  const failing = [rejection(ask('a')), rejection(ask('b'))]
  await turn()
  readings[0]!.fail(new Error('away'))
  for (const error of await Promise.all(failing)) expect((error as Error).message).toBe('away')
  const again = ask('a')
  while (readings.length < 2) await turn()
  readings[1]!.answer()
  expect(await again).toBe(1)
})

test('a flood is read in portions', async () => {
  const { store, readings, ask } = setUp()
  const keys = Array.from({ length: 1_000 }, (_, i) => `${i}`)
  for (const key of keys) store.set(key, Number(key))
  const asked = Promise.all(keys.map((key) => ask(key)))
  for (let i = 0; i < readings.length || i < 10; i++) {
    while (readings.length === i) await turn()
    expect(readings[i]!.keys.length).toBeWithin(1, 101)
    readings[i]!.answer()
    await turn()
  }
  expect(await asked).toEqual(keys.map(Number))
})

/** The batch loader: which keys it reads together, and how hanging or failing reads affect others. */
import { expect, test } from 'bun:test'
import { createBatchLoader } from '#shared/runtime/batch-loader.ts'
import { rejection } from '#tests/helpers/rejection.ts'

/** A store whose reads are answered by hand, with the values at their start. */
function setUp(patienceMs?: number, failsAll: (error: Error) => boolean = () => true) {
  const store = new Map<string, number>()
  const readings: { keys: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = []
  const ask = createBatchLoader(
    (keys) => {
      const found = new Map(keys.flatMap((key) => (store.has(key) ? [[key, store.get(key)!]] : [])))
      const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, number>>()
      readings.push({ keys, answer: () => resolve(found), fail: reject })
      return promise
    },
    (error) => failsAll(error as Error),
    patienceMs,
  )
  return { store, readings, ask }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('keys requested in one turn of the event loop are read in one batch, each key once', async () => {
  const { store, readings, ask } = setUp()
  store.set('a', 1).set('b', 2)
  const asked = Promise.all([ask('a'), ask('b'), ask('a'), ask('nothing')])
  await turn()
  expect(readings.map(({ keys }) => keys)).toEqual([['a', 'b', 'nothing']])
  readings[0]!.answer()
  expect(await asked).toEqual([1, 2, 1, undefined])
})

test('a request after a write sees the write, even while another batch is being read', async () => {
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

test('keys requested during a batch wait for it and are then read in one batch', async () => {
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

test('a batch that hangs delays the next ones only until the timeout', async () => {
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

test('a failure rejects all requests of its batch and no others', async () => {
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

test('one key that cannot be read fails alone, and costs few readings', async () => {
  const { store, readings, ask } = setUp(60_000, ({ message }: Error) => message === 'away')
  const keys = Array.from({ length: 100 }, (_, i) => `${i}`)
  for (const key of keys) store.set(key, Number(key))
  const asked = Promise.allSettled(keys.map((key) => ask(key)))
  await turn()
  for (let i = 0; i < readings.length; i++) {
    const { keys: together, fail, answer } = readings[i]!
    if (together.includes('37')) fail(new Error('damaged'))
    else answer()
    await turn()
  }
  expect((await asked).flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([37])
  expect(readings.length).toBeLessThan(17)
})

test('many keys are read in several batches', async () => {
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

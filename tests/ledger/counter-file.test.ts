/** The counter file, which survives the kill of its process. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCounterFile, readCounterFile } from '#shared/points/ledger/counter-file.ts'
import { newDirectory } from '#tests/helpers/process.ts'

const newPath = async (): Promise<string> => join(await newDirectory('counters'), 'counters')

test('the last value of each name is read', async () => {
  const path = await newPath()
  const file = openCounterFile(path)
  file.set('a', [1, 0])
  file.set('b', [2, 3])
  file.set('a', [4, 5])
  const noted = new Map([
    ['a', [4, 5] as const],
    ['b', [2, 3] as const],
  ])
  expect(file.pairs).toEqual(noted)
  expect(readCounterFile(path)).toEqual(noted)
  file.close(true)
  expect(readCounterFile(path)).toEqual(noted)
})

test('a file that no process needs to adopt is deleted, and counters in memory have no file', async () => {
  const path = await newPath()
  const file = openCounterFile(path)
  file.set('a', [1, 1])
  file.close(false)
  expect(existsSync(path)).toBe(false)
  const memory = openCounterFile(null)
  memory.set('a', [1, 1])
  expect(memory.pairs).toEqual(new Map([['a', [1, 1] as const]]))
  memory.close(false)
})

test('a name that is too long damages no record', async () => {
  const path = await newPath()
  const file = openCounterFile(path)
  expect(() => file.set('n'.repeat(49), [1, 2])).toThrow('too long')
  file.set('a', [3, 4])
  file.close(true)
  expect(readCounterFile(path)).toEqual(new Map([['a', [3, 4] as const]]))
})

test('a truncated record is left out', async () => {
  const path = await newPath()
  const file = openCounterFile(path)
  file.set('a', [1, 2])
  file.set('b', [3, 4])
  file.close(true)
  truncateSync(path, readFileSync(path).length - 1)
  expect([...readCounterFile(path).keys()]).toEqual(['a'])
})

test.each([
  ['a negative number', 16, -1],
  ['a part of a number', 16, 0.5],
  ['no number', 8, Number.NaN],
  ['a negative second number', 8, -1],
])('a record with %s is left out, its other number being good', async (_, fromEnd, value) => {
  const path = await newPath()
  const file = openCounterFile(path)
  file.set('good', [0, 0])
  file.set('bad', [7, 7])
  file.close(true)
  const bytes = readFileSync(path)
  bytes.writeDoubleLE(value, bytes.length - fromEnd)
  writeFileSync(path, bytes)
  expect(readCounterFile(path)).toEqual(new Map([['good', [0, 0] as const]]))
})

/** How a partition's pending points are cut into slices. */
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { slices } from '#shared/points/pending-points.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { onError, rules, sync } from '#tests/kv/drivers.ts'

const MOST = 10

/** Slices of the pending points of pilgrims who sent points at these times, in this order. */
async function slicesOf(pending: readonly (readonly number[])[]) {
  const dir = await newDirectory('slices')
  const kv = await openKv({ url: '', partitions: 1, path: join(dir, 'kv'), onError })
  try {
    await kv.setStatus({ status: 'active', version: 1, message: null })
    const tracks = pending.map((times, i) => sync(`pilgrim-${i}`, times))
    for (const track of tracks) await kv.admit(0, [track], rules())
    return await Array.fromAsync(slices(kv, 0, MOST))
  } finally {
    await kv.close()
    await rm(dir, { recursive: true })
  }
}

/** Points of each pilgrim in each slice, of pilgrims with these numbers of pending points. */
async function cut(...pending: readonly number[]): Promise<number[][]> {
  const found = await slicesOf(pending.map((points) => Array.from({ length: points }, (_, t) => t)))
  return found.map((slice) => slice.pending.map(({ entries }) => entries.length))
}

test('a slice ends with the pilgrim who fills it', async () => {
  expect(await cut(4, 4, 4, 4, 4, 4, 4)).toEqual([[4, 4, 4], [4, 4, 4], [4]])
  expect(await cut(10, 1, 9)).toEqual([[10], [1, 9]])
  expect(await cut(3)).toEqual([[3]])
  expect(await cut()).toEqual([])
})

test('reads grow slowly, because pilgrims with many points may follow one with few', async () => {
  const dir = await newDirectory('slices')
  const kv = await openKv({ url: '', partitions: 1, path: join(dir, 'kv'), onError })
  const reads: number[] = []
  const counted = {
    ...kv,
    drain: (partition: number, users: readonly string[]) => {
      reads.push(users.length)
      return kv.drain(partition, users)
    },
  }
  await kv.setStatus({ status: 'active', version: 1, message: null })
  const many = Array.from({ length: 40 }, (_, t) => t)
  const add = (from: number, count: number, times: readonly number[]) =>
    kv.admit(
      0,
      Array.from({ length: count }, (_, i) => sync(`pilgrim-${from + i}`, times)),
      rules(),
    )
  await add(0, 50, many)
  await add(50, 1, [1])
  await add(51, 60, many)
  const found = await Array.fromAsync(slices(counted, 0, 40))
  await kv.close()
  await rm(dir, { recursive: true })
  expect(found.flatMap(({ pending }) => pending)).toHaveLength(111)
  expect(reads.slice(0, 5)).toEqual([50, 1, 2, 1, 1])
})

test('a pilgrim with more points than a slice holds is split', async () => {
  expect(await cut(25, 2)).toEqual([[10], [10], [5, 2]])
})

test('the parts of a split pilgrim are in order of time, so that none has points before those of the one before', async () => {
  const latestFirst = Array.from({ length: 25 }, (_, t) => 24 - t)
  const found = await slicesOf([latestFirst])
  const times = found.flatMap(({ pending }) =>
    pending.flatMap(({ entries }) => entries.map(({ field }) => field)),
  )
  expect(times).toEqual(Array.from({ length: 25 }, (_, t) => `t${t}`))
})

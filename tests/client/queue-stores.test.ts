/** The stores of the queue: one suite for all. */
import { afterAll, describe, expect, test } from 'bun:test'
import 'fake-indexeddb/auto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueuedPoint, QueueStore } from '#shared/client/index.ts'
import { openIndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import { createMemoryStore } from '#shared/client/queue/memory-store.ts'
import { KINDS } from '#shared/client/queue/store.ts'
import { openSqliteStore } from '#shared/client/queue/sqlite-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'queue-'))
afterAll(() => rmSync(directory, { recursive: true }))

const point = (t: number, more: Partial<QueuedPoint> = {}): QueuedPoint => ({
  userId: 'me',
  kind: 'track',
  t,
  fields: { lat: 24 + t / 1e6, lng: 120.67, accuracy: 8, source: '手機 "1"' },
  ...more,
})
const rejectedPoint = (given: QueuedPoint) => ({ ...given, reason: 'too-old', message: null })

let opened = 0
/** A store with points of two pilgrims: three track points and one check-in of `me`, one point of `you`. */
async function filled(open: (name: string) => Promise<QueueStore>) {
  const name = `store-${++opened}`
  const store = await open(name)
  await store.add([point(300), point(100)])
  await store.add([point(200), point(100, { kind: 'checkin' }), point(50, { userId: 'you' })])
  return { name, store }
}

/** All stores under test; a memory store does not survive a restart. */
const STORES = [
  { kind: 'memory', survives: false, open: async () => createMemoryStore() },
  {
    kind: 'SQLite',
    survives: true,
    open: async (name: string) => openSqliteStore(join(directory, `${name}.db`)),
  },
  { kind: 'IndexedDB', survives: true, open: openIndexedDbStore },
]

describe.each(STORES)('$kind', ({ open, survives }) => {
  test('gives the oldest points of a pilgrim and a kind, up to a limit, whole', async () => {
    const { store } = await filled(open)
    expect(await store.oldest('me', 'track', 2)).toEqual([point(100), point(200)])
    expect(await store.oldest('me', 'checkin', 9)).toEqual([point(100, { kind: 'checkin' })])
    expect(await store.oldest('nobody', 'track', 9)).toEqual([])
    expect(await store.counts('me', KINDS)).toEqual({ checkin: 1, track: 3, later: 0, rejected: 0 })
    expect(await store.counts('you', KINDS)).toEqual({ checkin: 0, track: 1, later: 0, rejected: 0 })
    await store.close()
  })

  test('keeps the first of two points of one instant', async () => {
    const { store } = await filled(open)
    const other = point(100, { fields: { lat: 1, lng: 1 } })
    await store.add([other, point(400), { ...other, t: 400 }])
    expect(await store.oldest('me', 'track', 9)).toEqual([point(100), point(200), point(300), point(400)])
    await store.close()
  })

  test('deletes what is settled, sets rejected points aside, and ignores what is gone', async () => {
    const { store } = await filled(open)
    const refused = rejectedPoint(point(200))
    await store.settle([point(100)], [refused])
    await store.settle([point(100)], [refused, rejectedPoint(point(999))])
    expect(await store.oldest('me', 'track', 9)).toEqual([point(300)])
    expect(await store.counts('me', KINDS)).toEqual({ checkin: 1, track: 1, later: 0, rejected: 1 })
    expect(await store.rejected('me')).toEqual([refused])
    expect(await store.rejected('you')).toEqual([])
    await store.dismiss([refused])
    expect(await store.rejected('me')).toEqual([])
    expect(await store.oldest('you', 'track', 9)).toHaveLength(1)
    await store.close()
  })

  test('keeps the waits of each pilgrim, and clears one of them alone', async () => {
    const { store } = await filled(open)
    const waits = { all: { failures: 2, notBefore: 5, ms: 3, code: 'network', message: 'gone' } } as const
    expect(await store.waits('me')).toEqual({})
    await store.setWaits('me', waits)
    expect(await store.waits('me')).toEqual(waits)
    await store.settle([], [rejectedPoint(point(200))])
    await store.clear('me')
    expect(await store.waits('me')).toEqual({})
    expect(await store.rejected('me')).toEqual([])
    expect(await store.counts('me', KINDS)).toEqual({ checkin: 0, track: 0, later: 0, rejected: 0 })
    expect(await store.counts('you', KINDS)).toEqual({ checkin: 0, track: 1, later: 0, rejected: 0 })
    await store.close()
  })

  if (!survives) return
  test('is the same after a restart, also without being closed', async () => {
    const { name, store } = await filled(open)
    await store.settle([point(100)], [rejectedPoint(point(200))])
    const again = await open(name)
    expect(again.name).toBe(store.name)
    expect(await again.oldest('me', 'track', 9)).toEqual([point(300)])
    expect(await again.rejected('me')).toEqual([rejectedPoint(point(200))])
    // Two open at the same time see each other's changes.
    await again.settle([point(300)], [])
    expect(await store.counts('me', KINDS)).toEqual({ checkin: 1, track: 0, later: 0, rejected: 1 })
    await Promise.all([store.close(), again.close()])
  })
})

/** The IndexedDB store across releases: pending entries survive an upgrade and a rollback. */
import { expect, test } from 'bun:test'
import 'fake-indexeddb/auto'
import type { QueuedPoint } from '#shared/client/index.ts'
import {
  type IndexedDbOptions,
  openIndexedDbStore,
  OutdatedError,
  SCHEMA_STEPS,
  type SchemaStep,
} from '#shared/client/queue/indexed-db-store.ts'
import { KINDS } from '#shared/client/queue/store.ts'
import { until } from '#tests/helpers/wait.ts'
import { rejection } from '#tests/helpers/rejection.ts'

const point = (t: number): QueuedPoint => ({
  userId: 'me',
  kind: 'track',
  t,
  fields: { lat: 24, lng: 120.67 },
})
const REFUSED = { ...point(50), reason: 'too-old', message: null }
const WAITS = { all: { failures: 2, notBefore: 5, ms: 3, code: 'network', message: 'gone' } } as const

/** A database as written by version 1. It stays the same, whatever later versions do. */
function writeVersion1(name: string): Promise<void> {
  const done = Promise.withResolvers<void>()
  const request = indexedDB.open(name, 1)
  request.addEventListener('upgradeneeded', () => {
    const db = request.result
    db.createObjectStore('points', { keyPath: ['userId', 'kind', 't'] })
    db.createObjectStore('rejected', { keyPath: ['userId', 'kind', 't'] })
    db.createObjectStore('waits')
  })
  request.addEventListener('success', () => {
    const db = request.result
    const transaction = db.transaction(['points', 'rejected', 'waits'], 'readwrite')
    for (const t of [300, 100, 200]) transaction.objectStore('points').add(point(t))
    transaction.objectStore('rejected').add(REFUSED)
    transaction.objectStore('waits').put(WAITS, 'me')
    transaction.addEventListener('complete', () => {
      db.close()
      done.resolve()
    })
  })
  return done.promise
}

let made = 0
const newName = (): string => `versions-${++made}`

interface Points {
  getAllKeys(): Promise<IDBValidKey[]>
  get(key: IDBValidKey): Promise<QueuedPoint>
  put(point: object): Promise<unknown>
}

/** The next release: it adds a change time to each point, and an object store. */
const addStore: SchemaStep = async (db, transaction) => {
  db.createObjectStore('notes')
  // The types of a release's steps are those of its own version.
  const points = transaction.objectStore('points') as unknown as Points
  for (const key of await points.getAllKeys()) await points.put({ ...(await points.get(key)), changed: true })
}
const NEXT: IndexedDbOptions = { steps: [...SCHEMA_STEPS, addStore] }

const heldBy = async (name: string, options: IndexedDbOptions = {}) => {
  const store = await openIndexedDbStore(name, options)
  const held = {
    points: await store.oldest('me', 'track', 9),
    rejected: await store.rejected('me'),
    waits: await store.waits('me'),
  }
  await store.close()
  return held
}

test('this release and the next one open what version 1 has written', async () => {
  const name = newName()
  await writeVersion1(name)
  const written = { points: [100, 200, 300].map(point), rejected: [REFUSED], waits: WAITS }
  expect(await heldBy(name)).toEqual(written)
  const changed = written.points.map((one) => ({ ...one, changed: true }))
  expect(await heldBy(name, NEXT)).toEqual({ ...written, points: changed } as never)
})

test('a new device runs all steps, and each of them once', async () => {
  const name = newName()
  const ran: number[] = []
  const noted = (version: number): SchemaStep => {
    const step = version === 1 ? SCHEMA_STEPS[0]! : () => undefined
    return (...given) => {
      ran.push(version)
      return step(...given)
    }
  }
  const open = async (...versions: number[]) =>
    (await openIndexedDbStore(name, { steps: versions.map(noted) })).close()
  await open(1, 2)
  expect(ran).toEqual([1, 2])
  await open(1, 2)
  await open(1, 2, 3, 4)
  expect(ran).toEqual([1, 2, 3, 4])
})

test('a step that fails changes nothing', async () => {
  const name = newName()
  await writeVersion1(name)
  const fail: SchemaStep = async (db, transaction) => {
    await addStore(db, transaction)
    throw new Error('no room')
  }
  const error = await rejection(openIndexedDbStore(name, { steps: [...SCHEMA_STEPS, fail] }))
  expect(error).toMatchObject({ message: 'no room' })
  expect((await heldBy(name)).points).toEqual([100, 200, 300].map(point))
})

test('an older release leaves a newer database as it is, and says so', async () => {
  const name = newName()
  await writeVersion1(name)
  await heldBy(name, NEXT)
  const error = await rejection(openIndexedDbStore(name))
  expect(error).toBeInstanceOf(OutdatedError)
  expect(error).toMatchObject({ message: expect.stringContaining('Load the page again') })
  expect((await heldBy(name, NEXT)).points).toHaveLength(3)
})

test('two tabs of different releases: the older one finishes what it writes, closes, and is told', async () => {
  const name = newName()
  let notifications = 0
  const older = await openIndexedDbStore(name, { onOutdated: () => void notifications++ })
  await older.add([point(1)])
  const writing = older.add([point(2), point(3)])
  const newer = await openIndexedDbStore(name, NEXT)
  await writing
  expect(notifications).toBe(1)
  for (const call of [
    () => older.add([point(4)]),
    () => older.counts('me', KINDS),
    () => older.setWaits('me', {}),
  ])
    expect(await rejection(call())).toBeInstanceOf(OutdatedError)
  await older.close()
  expect(await newer.counts('me', KINDS)).toEqual({ checkin: 0, track: 3, later: 0, rejected: 0 })
  await newer.add([point(4)])
  expect(await newer.oldest('me', 'track', 9)).toMatchObject([{ t: 1 }, { t: 2 }, { t: 3 }, { t: 4 }])
  await newer.close()
})

test('a tab that does not close keeps the next release waiting, which says so', async () => {
  const name = newName()
  await writeVersion1(name)
  const stuck = Promise.withResolvers<IDBDatabase>()
  const request = indexedDB.open(name, 1)
  request.addEventListener('success', () => stuck.resolve(request.result))
  const holder = await stuck.promise
  let blocked = 0
  const opening = openIndexedDbStore(name, { ...NEXT, onBlocked: () => void blocked++ })
  await until(() => blocked === 1, 'the older tab to be noticed', { timeoutMs: 5_000, everyMs: 2 })
  holder.close()
  const store = await opening
  expect(await store.counts('me', KINDS)).toEqual({ checkin: 0, track: 3, later: 0, rejected: 1 })
  await store.close()
})

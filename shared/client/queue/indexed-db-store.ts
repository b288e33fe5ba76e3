/** A store in the browser's IndexedDB, which pages of one origin share and which survives reloads. */
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type { Kind, QueuedPoint, QueueStore, RejectedPoint, Waits } from './store.ts'

type Key = [userId: string, kind: Kind, t: number]

interface Schema extends DBSchema {
  points: { key: Key; value: QueuedPoint }
  rejected: { key: Key; value: RejectedPoint }
  waits: { key: string; value: Waits }
}

const keyOf = ({ userId, kind, t }: Pick<QueuedPoint, 'userId' | 'kind' | 't'>): Key => [userId, kind, t]

/** All keys that begin so: an array sorts after every number and every string. */
const beginning = (...start: string[]): IDBKeyRange => IDBKeyRange.bound(start, [...start, []])

/**
 * Opens the store, and creates it if it is new.
 * @throws DOMException where the browser has no IndexedDB or refuses it, as some do in private windows
 */
export async function openIndexedDbStore(name = 'track-queue'): Promise<QueueStore> {
  const db = await openDB<Schema>(name, 1, {
    upgrade(fresh) {
      fresh.createObjectStore('points', { keyPath: ['userId', 'kind', 't'] })
      fresh.createObjectStore('rejected', { keyPath: ['userId', 'kind', 't'] })
      fresh.createObjectStore('waits')
    },
    // A later version of the app in another tab may change the schema.
    blocking: () => db.close(),
  })
  return {
    name: `indexed-db-${name}`,
    add: (points) => add(db, points),
    oldest: (userId, kind, limit) => db.getAll('points', beginning(userId, kind), limit),
    settle: (durable, rejected) => settle(db, durable, rejected),
    async counts(userId) {
      const { store } = db.transaction('points')
      const [checkin, track, rejected] = await Promise.all([
        store.count(beginning(userId, 'checkin')),
        store.count(beginning(userId, 'track')),
        db.count('rejected', beginning(userId)),
      ])
      return { checkin, track, rejected }
    },
    async rejected(userId) {
      const all = await db.getAll('rejected', beginning(userId))
      return all.sort((a, b) => a.t - b.t)
    },
    async dismiss(points) {
      const { store, done } = db.transaction('rejected', 'readwrite')
      await Promise.all([...points.map((point) => store.delete(keyOf(point))), done])
    },
    waits: async (userId) => (await db.get('waits', userId)) ?? {},
    setWaits: async (userId, waits) => void (await db.put('waits', waits, userId)),
    async clear(userId) {
      const transaction = db.transaction(['points', 'rejected', 'waits'], 'readwrite')
      await Promise.all([
        transaction.objectStore('points').delete(beginning(userId)),
        transaction.objectStore('rejected').delete(beginning(userId)),
        transaction.objectStore('waits').delete(userId),
        transaction.done,
      ])
    },
    close: async () => db.close(),
  }
}

async function add(db: IDBPDatabase<Schema>, points: readonly QueuedPoint[]): Promise<void> {
  // Strict: on the disk when it resolves, so that an empty battery loses nothing either.
  const { store, done } = db.transaction('points', 'readwrite', { durability: 'strict' })
  const keep = async (point: QueuedPoint) => {
    if ((await store.getKey(keyOf(point))) === undefined) await store.add(point)
  }
  // One after the other: of two points of one instant the first stays.
  const all = async () => {
    for (const point of points) await keep(point)
  }
  await Promise.all([all(), done])
}

async function settle(
  db: IDBPDatabase<Schema>,
  durable: readonly QueuedPoint[],
  rejected: readonly RejectedPoint[],
): Promise<void> {
  const transaction = db.transaction(['points', 'rejected'], 'readwrite')
  const points = transaction.objectStore('points')
  const aside = transaction.objectStore('rejected')
  const move = async (point: RejectedPoint) => {
    if ((await points.getKey(keyOf(point))) === undefined) return
    await aside.put(point)
    await points.delete(keyOf(point))
  }
  await Promise.all([
    ...durable.map((point) => points.delete(keyOf(point))),
    ...rejected.map(move),
    transaction.done,
  ])
}

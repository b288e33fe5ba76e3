/** A store in the browser's IndexedDB, shared by pages of one origin; it survives reloads. */
import { type Entry, KINDS, type QueueStore, type Rejected, type Waits } from './store.ts'
import { type DBSchema, type IDBPDatabase, openDB, type OpenDBCallbacks, type IDBPTransaction } from 'idb'

type Key = [userId: string, kind: string, t: number]

interface Schema extends DBSchema {
  points: { key: Key; value: Entry }
  rejected: { key: Key; value: Rejected }
  waits: { key: string; value: Waits }
  values: { key: string; value: unknown }
}

const keyOf = ({ userId, kind, t }: Pick<Entry, 'userId' | 'kind' | 't'>): Key => [userId, kind, t]

/** All keys with this prefix: an array sorts after every number and every string. */
const beginning = (...start: string[]): IDBKeyRange => IDBKeyRange.bound(start, [...start, []])

/** A queue's store that also holds an app's own small values, by name, in the same database. */
export interface IndexedDbStore extends QueueStore {
  /** The values of the requested names. Names without a value are absent. */
  values(isWanted?: (name: string) => boolean): Promise<Values>
  /**
   * Writes values, all or none; `undefined` deletes one. The write starts in the same turn, so a page that is closed
   * right after the call loses nothing.
   * @param durability `strict`: on the disk when it resolves
   */
  setValues(values: Values, durability?: IDBTransactionDurability): Promise<void>
}

export type Values = ReadonlyMap<string, unknown>

/**
 * The values stored by a newer release, for a release that was rolled back. Empty if there are none.
 * @throws DOMException if the browser refuses
 */
export async function readNewerValues(name: string): Promise<Values> {
  const db = await openDB<Schema>(name)
  try {
    return db.objectStoreNames.contains('values') ? await readValues(db) : new Map()
  } finally {
    db.close()
  }
}

async function readValues(db: IDBPDatabase<Schema>, isWanted = (_name: string) => true): Promise<Values> {
  const { store } = db.transaction('values')
  const names = (await store.getAllKeys()).filter(isWanted)
  return new Map(await Promise.all(names.map(async (name) => [name, await store.get(name)] as const)))
}

export interface IndexedDbOptions {
  /**
   * A newer release of the app has opened the store in another tab and changes its schema. This store is closed:
   * further writes fail, and stored data are safe. Ask for a reload, which loads the newer release.
   */
  readonly onOutdated?: (() => void) | undefined
  /** Another tab with an older release has the store open. It opens here once that tab is closed or reloaded. */
  readonly onBlocked?: (() => void) | undefined
  /** The schema of this release. Tests pass that of another one. */
  readonly steps?: readonly SchemaStep[] | undefined
}

/** A newer release has changed the schema of the store. Waiting entries are safe, and that release sends them. */
export class OutdatedError extends Error {
  override readonly name = 'OutdatedError'
  constructor(options?: ErrorOptions) {
    super('A newer release has changed the store. Load the page again.', options)
  }
}

type Upgrade = NonNullable<OpenDBCallbacks<Schema>['upgrade']>

/** Brings a database up to date: all of its steps, or none. @throws what a step throws */
async function runSteps(
  steps: readonly SchemaStep[],
  [db, before, , transaction]: Parameters<Upgrade>,
): Promise<void> {
  // If it is aborted, the request to open also fails, and that is reported.
  transaction.done.catch(() => undefined)
  try {
    for (const step of steps.slice(before))
      await step(db as unknown as IDBPDatabase, transaction as unknown as Upgrading)
  } catch (error) {
    transaction.abort()
    throw error
  }
}

/** Errors of a connection that the browser has closed, as it does in the background or when it clears its data. */
const LOST = new Set(['InvalidStateError', 'UnknownError', 'AbortError'])
/** Timeout of the database: some browsers lose the requests of a page in the background. */
const ANSWER_MS = 10_000

const answered = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new DOMException('The store does not answer.', 'TimeoutError'))
    const timer = setTimeout(late, ANSWER_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/** A database that is reopened when its connection is lost. */
async function openDatabase(name: string, options: IndexedDbOptions) {
  const { onOutdated, onBlocked, steps = SCHEMA_STEPS } = options
  let opened: Promise<IDBPDatabase<Schema>> | null = null
  let ended: Error | null = null

  function open(): Promise<IDBPDatabase<Schema>> {
    let stepError: unknown
    const isAgain = opened !== null
    const opening = openDB<Schema>(name, steps.length, {
      upgrade: (...given) => void runSteps(steps, given).catch((error: unknown) => (stepError = error)),
      blocked: () => onBlocked?.(),
      blocking(_version, _newer, event) {
        ended = new OutdatedError()
        // Writes in progress are completed before it closes.
        ;(event.target as IDBDatabase).close()
        onOutdated?.()
      },
      terminated: () => lose(opening),
    }).catch((cause: Error) => {
      lose(opening)
      if (cause.name !== 'VersionError') throw stepError ?? cause
      ended = new OutdatedError({ cause })
      if (isAgain) onOutdated?.()
      throw ended
    })
    return opening
  }

  let isLost = false
  const lose = (connection: typeof opened) => {
    if (connection === opened) isLost = true
  }

  /** @throws the error of the work; after a lost connection, that of the second attempt */
  async function use<T>(work: (db: IDBPDatabase<Schema>) => Promise<T>, isAgain = false): Promise<T> {
    if (ended !== null) throw ended
    if (isLost || opened === null) [opened, isLost] = [open(), false]
    const used = opened
    try {
      return await answered(used.then(work))
    } catch (error) {
      const { name: why } = error as Error
      if (!LOST.has(why) && why !== 'TimeoutError') throw error
      lose(used)
      used.then((db) => db.close()).catch(() => undefined)
      if (isAgain || why === 'TimeoutError') throw error
      return use(work, true)
    }
  }

  await (opened = open())
  return {
    use,
    async close() {
      ended ??= new Error('The store is closed.')
      await opened?.then((db) => db.close())
    },
  }
}

/**
 * Opens the store, creates it if it is new, and upgrades a store of an older release.
 * @throws OutdatedError if a newer release has used the store; it stays unchanged
 * @throws DOMException if the browser has no IndexedDB or refuses it, as some do in private windows
 */
export async function openIndexedDbStore(
  name = 'track-queue',
  options: IndexedDbOptions = {},
): Promise<IndexedDbStore> {
  const { use, close } = await openDatabase(name, options)
  return {
    name: `indexed-db-${name}`,
    add: (points) => use((db) => add(db, points)),
    oldest: (userId, kind, limit) => use((db) => db.getAll('points', beginning(userId, kind), limit)),
    settle: (durable, rejected) => use((db) => settle(db, durable, rejected)),
    counts: (userId, kinds) =>
      use(async (db) => {
        const transaction = db.transaction(['points', 'rejected'])
        const count = (name: 'points' | 'rejected', kind: string) =>
          transaction.objectStore(name).count(beginning(userId, kind))
        const [counts, rejected] = await Promise.all([
          Promise.all(kinds.map(async (kind) => [kind, await count('points', kind)] as const)),
          Promise.all(KINDS.map((kind) => count('rejected', kind))),
        ])
        return { ...Object.fromEntries(counts), rejected: rejected.reduce((sum, n) => sum + n, 0) }
      }),
    async rejected(userId) {
      const all = await use((db) => db.getAll('rejected', beginning(userId)))
      return all.sort((a, b) => a.t - b.t)
    },
    dismiss: (points) =>
      use(async (db) => {
        const { store, done } = db.transaction('rejected', 'readwrite')
        await Promise.all([...points.map((point) => store.delete(keyOf(point))), done])
      }),
    waits: async (userId) => (await use((db) => db.get('waits', userId))) ?? {},
    setWaits: async (userId, waits) => void (await use((db) => db.put('waits', waits, userId))),
    clear: (userId) =>
      use(async (db) => {
        const transaction = db.transaction(['points', 'rejected', 'waits'], 'readwrite')
        await Promise.all([
          transaction.objectStore('points').delete(beginning(userId)),
          transaction.objectStore('rejected').delete(beginning(userId)),
          transaction.objectStore('waits').delete(userId),
          transaction.done,
        ])
      }),
    values: (isWanted) => use((db) => readValues(db, isWanted)),
    setValues: (values, durability = 'default') =>
      use(async (db) => {
        const transaction = db.transaction('values', 'readwrite', { durability })
        const { store, done } = transaction
        const written = [...values].map(([name, value]) =>
          value === undefined ? store.delete(name) : store.put(value, name),
        )
        transaction.commit()
        await Promise.all([...written, done])
      }),
    close,
  }
}

async function add(db: IDBPDatabase<Schema>, points: readonly Entry[]): Promise<void> {
  // Strict: on the disk when it resolves, so that an empty battery loses nothing either.
  const { store, done } = db.transaction('points', 'readwrite', { durability: 'strict' })
  const keep = async (point: Entry) => {
    if ((await store.getKey(keyOf(point))) === undefined) await store.add(point)
  }
  // Sequential: of two points of one instant the first stays.
  const all = async () => {
    for (const point of points) await keep(point)
  }
  await Promise.all([all(), done])
}

async function settle(
  db: IDBPDatabase<Schema>,
  durable: readonly Entry[],
  rejected: readonly Rejected[],
): Promise<void> {
  const transaction = db.transaction(['points', 'rejected'], 'readwrite')
  const points = transaction.objectStore('points')
  const aside = transaction.objectStore('rejected')
  const move = async (point: Rejected) => {
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

type Upgrading = IDBPTransaction<unknown, string[], 'versionchange'>

/** Upgrades the database of the previous version. If it fails, the database is unchanged. */
export type SchemaStep = (db: IDBPDatabase, transaction: Upgrading) => void | Promise<void>

export const SCHEMA_STEPS: readonly SchemaStep[] = [
  function createStores(db) {
    db.createObjectStore('points', { keyPath: ['userId', 'kind', 't'] })
    db.createObjectStore('rejected', { keyPath: ['userId', 'kind', 't'] })
    db.createObjectStore('waits')
  },
  function createValues(db) {
    db.createObjectStore('values')
  },
]

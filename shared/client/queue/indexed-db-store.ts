/** A store in the browser's IndexedDB, which pages of one origin share and which survives reloads. */
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

/** All keys that begin so: an array sorts after every number and every string. */
const beginning = (...start: string[]): IDBKeyRange => IDBKeyRange.bound(start, [...start, []])

/** A queue's store that also keeps an app's own small values, by name, in the same database. */
export interface IndexedDbStore extends QueueStore {
  /** The values of the wanted names. Names without a value are absent. */
  values(isWanted?: (name: string) => boolean): Promise<Values>
  /**
   * Writes values, all or none; `undefined` deletes one. It is sent to the browser in the turn of the call, so a page
   * that is ended right after it loses nothing.
   * @param durability `strict`: on the disk when it resolves
   */
  setValues(values: Values, durability?: IDBTransactionDurability): Promise<void>
}

export type Values = ReadonlyMap<string, unknown>

/**
 * The values that a newer release keeps, for a release that was taken back. Empty where there are none.
 * @throws DOMException where the browser refuses
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
   * A newer release of the app has opened the store in another tab and changes its schema. This store is closed: what
   * is written to it fails, and what it has kept is safe. Ask for a reload, which brings the newer release.
   */
  readonly onOutdated?: (() => void) | undefined
  /**
   * Another tab with an older release keeps the store open. It opens here as soon as that tab is closed or reloaded.
   */
  readonly onBlocked?: (() => void) | undefined
  /** The schema of this release. A test gives that of another one. */
  readonly steps?: readonly SchemaStep[] | undefined
}

/** A newer release has changed the schema of the store. What waits is safe, and that release sends it. */
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
  // Where it is aborted, the request to open fails, too, and that is reported.
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
/** A database that has not answered by then has failed: some browsers lose the requests of a page in the background. */
const ANSWER_MS = 10_000

const answered = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new DOMException('The store does not answer.', 'TimeoutError'))
    const timer = setTimeout(late, ANSWER_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/** A database that is opened again when its connection is lost. */
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
        // What is being written is written before it closes.
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

  /** @throws what the work throws; where the connection was lost, what it throws the second time */
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
 * Opens the store, creates it if it is new, and brings a store of an older release up to date.
 * @throws OutdatedError where a newer release has used the store; it stays as it is
 * @throws DOMException where the browser has no IndexedDB or refuses it, as some do in private windows
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
  // One after the other: of two points of one instant the first stays.
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

/** Changes the database of the version before. Where it fails, the database stays as it was. */
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

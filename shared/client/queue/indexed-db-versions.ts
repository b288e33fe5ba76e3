/**
 * The schema of the IndexedDB store, step by step: the first step creates version 1, the next one changes it to
 * version 2, and so on.
 *
 * Steps are only ever appended: a phone may come from any version. A step loses no point; a long one does its work
 * with the given transaction alone, because waiting for anything else ends that transaction.
 */
import type { IDBPDatabase, IDBPTransaction } from 'idb'

export type Upgrading = IDBPTransaction<unknown, string[], 'versionchange'>

/** Changes the database of the version before. Where it fails, the database stays as it was. */
export type SchemaStep = (db: IDBPDatabase, transaction: Upgrading) => void | Promise<void>

export const SCHEMA_STEPS: readonly SchemaStep[] = [
  function createStores(db) {
    db.createObjectStore('points', { keyPath: ['userId', 'kind', 't'] })
    db.createObjectStore('rejected', { keyPath: ['userId', 'kind', 't'] })
    db.createObjectStore('waits')
  },
]

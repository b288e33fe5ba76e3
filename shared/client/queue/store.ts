/** The entries that the queue stores on the device, and the port to the store. */
import type { Answer, ClientError, ClientErrorCode } from '../answer.ts'
import type { CallOptions, Input } from '../create-client.ts'

/**
 * `checkin`: sent on purpose, by itself. `track`: recorded by the phone, sent in batches. `later`: a track point that
 * was in the future when it was sent.
 */
export type Kind = (typeof KINDS)[number]
export const KINDS = ['checkin', 'track', 'later'] as const

/** The fields of a point besides its time: degrees, metres, km/h. */
export type PointFields = Omit<Input<'checkIn'>, 'user_id' | 'timestamp' | 'track_points'>

/** A waiting entry: a point, or an entry of an app's own kind. Pilgrim, kind and time identify it. */
export interface Entry {
  readonly userId: string
  readonly kind: string
  /** Epoch milliseconds, a whole number. */
  readonly t: number
  readonly fields: object
}

/** A waiting point. The service identifies it in the same way. */
export interface QueuedPoint extends Entry {
  readonly kind: Kind
  readonly fields: PointFields
}

export const isPointKind = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind)

/** A kind of entry that the app adds. Its entries are sent before check-ins and points, or after them. */
export interface AddedKind {
  /**
   * Sends an entry. It is called again with the same entry after a lost answer, so the service must recognise
   * repetitions. Never rejects.
   */
  send(entry: Entry, options: CallOptions): Promise<Answer<unknown>>
  /** Entries with the same result are merged: later fields replace earlier ones. Absent: each is sent by itself. */
  readonly mergesBy?: ((fields: object) => string) | undefined
  /** Sent after check-ins and points. */
  readonly last?: boolean | undefined
  /** Further codes that refuse an entry for good. */
  readonly final?: readonly ClientErrorCode[] | undefined
  /** An entry at which the service fails is not overtaken by a later one. */
  readonly ordered?: boolean | undefined
  /** Failures of other kinds do not delay it, and its own do not delay others. */
  readonly urgent?: boolean | undefined
  /** Called after the entries have left the queue: with the service's data, or with the final refusal. */
  readonly onSettled?:
    | ((entries: readonly Entry[], result: { readonly data?: unknown; readonly error?: ClientError }) => void)
    | undefined
}

/** The kinds that an app adds, by name. An earlier one is sent first. */
export type AddedKinds = Readonly<Record<string, AddedKind>>

/** An entry that the service has refused for good. */
export interface Rejected extends Entry {
  /** A reason of `track/sync`, or the code of the refusal. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string | null
}

/** A point that the service has refused for good. */
export interface RejectedPoint extends QueuedPoint {
  /** A reason of `track/sync`, or the code of the refusal. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string | null
}

/** Why and how long the queue waits. */
export interface Wait {
  /** Consecutive failures. */
  readonly failures: number
  /** Epoch milliseconds. */
  readonly notBefore: number
  /** The length of the wait, which shows whether the clock was set back. */
  readonly ms: number
  readonly code: ClientErrorCode
  readonly message: string
}

/** `all` applies to every kind, `points` to check-ins and points; each kind also waits by itself. */
export type Waits = Readonly<Record<string, Wait>>

/** Number of waiting entries by kind, and of rejected points. */
export type Counts = Readonly<Record<string, number> & { readonly rejected: number }>

/**
 * Stores points across reloads. Each method is one transaction: it happens completely or not at all, and has happened
 * when its promise resolves. Several queues may share a store.
 */
export interface QueueStore {
  /** Name of the lock: the same for all users of one store. */
  readonly name: string
  /** Adds entries. An existing entry with the same pilgrim, kind and time stays. */
  add(entries: readonly Entry[]): Promise<void>
  /** The pilgrim's entries of a kind, oldest first. */
  oldest(userId: string, kind: string, limit: number): Promise<Entry[]>
  /** Removes entries that the service has stored, and sets rejected ones aside. Ignores missing ones. */
  settle(durable: readonly Entry[], rejected: readonly Rejected[]): Promise<void>
  /** Number of waiting entries of each of these kinds, and of rejected points. */
  counts(userId: string, kinds: readonly string[]): Promise<Counts>
  /** Rejected entries that the app has not dismissed, oldest first. */
  rejected(userId: string): Promise<Rejected[]>
  dismiss(entries: readonly Rejected[]): Promise<void>
  waits(userId: string): Promise<Waits>
  setWaits(userId: string, waits: Waits): Promise<void>
  /** Removes all data of a pilgrim. */
  clear(userId: string): Promise<void>
  close(): Promise<void>
}

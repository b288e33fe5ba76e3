/** What the queue keeps on the device, and the port to where it is kept. */
import type { Answer, ClientError, ClientErrorCode } from '../answer.ts'
import type { CallOptions, Input } from '../create-client.ts'

/**
 * `checkin`: sent on purpose, by itself. `track`: recorded by the phone, sent in batches. `later`: a track point that
 * lay in the future when it was sent.
 */
export type Kind = (typeof KINDS)[number]
export const KINDS = ['checkin', 'track', 'later'] as const

/** The fields of a point beside its time: degrees, metres, km/h. */
export type PointFields = Omit<Input<'checkIn'>, 'user_id' | 'timestamp' | 'track_points'>

/** Anything that waits: a point, or an entry of a kind that the app adds. Pilgrim, kind and time identify it. */
export interface Entry {
  readonly userId: string
  readonly kind: string
  /** Epoch milliseconds, a whole number. */
  readonly t: number
  readonly fields: object
}

/** A point that waits. The service identifies it in the same way. */
export interface QueuedPoint extends Entry {
  readonly kind: Kind
  readonly fields: PointFields
}

export const isPointKind = (kind: string): kind is Kind => (KINDS as readonly string[]).includes(kind)

/** A kind of entry that the app adds. Its entries are sent before check-ins and points, or after them. */
export interface AddedKind {
  /**
   * Sends an entry. It is called again with the same entry after a lost answer, so the service must recognise it.
   * Never rejects.
   */
  send(entry: Entry, options: CallOptions): Promise<Answer<unknown>>
  /** Entries with the same answer go as one: later fields replace earlier ones. Absent: each goes by itself. */
  readonly mergesBy?: ((fields: object) => string) | undefined
  /** Sent after check-ins and points. */
  readonly last?: boolean | undefined
  /** Refusals with these codes are for good, beside those of every entry. */
  readonly final?: readonly ClientErrorCode[] | undefined
  /** An entry that the service fails at is not overtaken by a later one. */
  readonly ordered?: boolean | undefined
  /** Failures of other kinds do not hold it up, and its own do not hold up others. */
  readonly urgent?: boolean | undefined
  /** Called after the entries have left the queue: with the service's data, or with why it will never take them. */
  readonly onSettled?:
    | ((entries: readonly Entry[], result: { readonly data?: unknown; readonly error?: ClientError }) => void)
    | undefined
}

/** The kinds that an app adds, by name. An earlier one is sent first. */
export type AddedKinds = Readonly<Record<string, AddedKind>>

/** An entry that the service will never take. */
export interface Rejected extends Entry {
  /** A reason of `track/sync`, or the code of the refusal. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string | null
}

/** A point that the service will never take. */
export interface RejectedPoint extends QueuedPoint {
  /** A reason of `track/sync`, or the code of the refusal. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string | null
}

/** Why and how long the queue waits. */
export interface Wait {
  /** Failures in a row. */
  readonly failures: number
  /** Epoch milliseconds. */
  readonly notBefore: number
  /** The length of the wait, which shows whether the clock was set back. */
  readonly ms: number
  readonly code: ClientErrorCode
  readonly message: string
}

/** `all` holds for every kind, `points` for check-ins and points; each kind also waits by itself. */
export type Waits = Readonly<Record<string, Wait>>

/** Entries that wait, by kind; and the points that were rejected. */
export type Counts = Readonly<Record<string, number> & { readonly rejected: number }>

/**
 * Keeps points through reloads. Each method is one transaction: it happens whole or not at all, and has happened when
 * its promise resolves. Several queues may use one store at the same time.
 */
export interface QueueStore {
  /** The same for everybody who opens the same store: the name of the lock. */
  readonly name: string
  /** Keeps entries. Where pilgrim, kind and time are there already, the earlier entry stays. */
  add(entries: readonly Entry[]): Promise<void>
  /** The pilgrim's entries of a kind, oldest first. */
  oldest(userId: string, kind: string, limit: number): Promise<Entry[]>
  /**
   * Removes entries that are durable at the service, and moves rejected ones aside. An entry is one or the other. Ignores
   * those that are gone.
   */
  settle(durable: readonly Entry[], rejected: readonly Rejected[]): Promise<void>
  /** How many entries of each of these kinds wait, and how many points were rejected. */
  counts(userId: string, kinds: readonly string[]): Promise<Counts>
  /** Rejected entries that the app has not dismissed, oldest first. */
  rejected(userId: string): Promise<Rejected[]>
  dismiss(entries: readonly Rejected[]): Promise<void>
  waits(userId: string): Promise<Waits>
  setWaits(userId: string, waits: Waits): Promise<void>
  /** Removes all that is kept of a pilgrim. */
  clear(userId: string): Promise<void>
  close(): Promise<void>
}

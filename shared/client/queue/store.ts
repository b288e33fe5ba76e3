/** What the queue keeps on the device, and the port to where it is kept. */
import type { ClientErrorCode } from '../answer.ts'
import type { Input } from '../create-client.ts'

/**
 * `checkin`: sent on purpose, by itself. `track`: recorded by the phone, sent in batches. `later`: a track point that
 * lay in the future when it was sent.
 */
export type Kind = (typeof KINDS)[number]
export const KINDS = ['checkin', 'track', 'later'] as const

/** The fields of a point beside its time: degrees, metres, km/h. */
export type PointFields = Omit<Input<'checkIn'>, 'user_id' | 'timestamp' | 'track_points'>

/** A point that waits. Pilgrim, kind and time identify it, here as in the service. */
export interface QueuedPoint {
  readonly userId: string
  readonly kind: Kind
  /** Epoch milliseconds, a whole number. */
  readonly t: number
  readonly fields: PointFields
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

/** `all` holds for every kind; each kind also waits by itself. */
export type Waits = Partial<Readonly<Record<Kind | 'all', Wait>>>

export interface Counts {
  readonly checkin: number
  readonly track: number
  readonly later: number
  readonly rejected: number
}

/**
 * Keeps points through reloads. Each method is one transaction: it happens whole or not at all, and has happened when
 * its promise resolves. Several queues may use one store at the same time.
 */
export interface QueueStore {
  /** The same for everybody who opens the same store: the name of the lock. */
  readonly name: string
  /** Keeps points. Where pilgrim, kind and time are there already, the earlier point stays. */
  add(points: readonly QueuedPoint[]): Promise<void>
  /** The pilgrim's points of a kind, oldest first. */
  oldest(userId: string, kind: Kind, limit: number): Promise<QueuedPoint[]>
  /** Removes points that are durable at the service, and moves rejected ones aside. Ignores those that are gone. */
  settle(durable: readonly QueuedPoint[], rejected: readonly RejectedPoint[]): Promise<void>
  counts(userId: string): Promise<Counts>
  /** Rejected points that the app has not dismissed, oldest first. */
  rejected(userId: string): Promise<RejectedPoint[]>
  dismiss(points: readonly RejectedPoint[]): Promise<void>
  waits(userId: string): Promise<Waits>
  setWaits(userId: string, waits: Waits): Promise<void>
  /** Removes all that is kept of a pilgrim. */
  clear(userId: string): Promise<void>
  close(): Promise<void>
}

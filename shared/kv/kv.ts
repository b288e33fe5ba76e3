/**
 * The kv port: the short-term store that admits, holds and hands over GPS points, and keeps windows,
 * locks, caches and the activity's status. It speaks verbs; no caller knows what is behind them.
 *
 * Obligations of every driver: a resolved promise means the effect is durable as far as the driver's
 * README section promises; `admit`, `settle` and `limit` are atomic, `restore` is so for each submission; times
 * of windows, locks and caches are the store's own clock. A store that cannot be asked rejects with `KvUnavailable`.
 */
import type { Window } from '#shared/config/config.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import type { PartitionCounters, Receipt } from './counters.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

export type { PartitionCounters, Receipt } from './counters.ts'

/** The store did not answer in time or at all; whether the call took effect is not known. */
export class KvUnavailable extends LoggableError {
  override name = 'KvUnavailable'
}

/** The store has no memory left; the call took no effect. */
export class KvFull extends LoggableError {
  override name = 'KvFull'
}

/** Whether an error says that the store is away or full, rather than that a call is wrong. */
export const isKvUnavailable = (error: unknown): boolean =>
  error instanceof KvUnavailable || error instanceof KvFull

/** One point in a pilgrim's buffer: its identity (kind and time sent) and its packed value, each a single line. */
export interface Entry {
  readonly field: string
  readonly value: string
}

/** A pilgrim's latest known place. `t` is the place in time, epoch milliseconds. */
export interface Position {
  readonly t: number
  readonly lat: number
  readonly lng: number
}

/** What one request wants to put into the buffer of one pilgrim. */
export interface Submission {
  /** Unique per request; a repeated call with the same id is charged once. */
  readonly id: string
  readonly userId: string
  readonly kind: 'checkin' | 'sync'
  /** Of a check-in the first entry is the check-in itself. */
  readonly entries: readonly Entry[]
  /** Check-ins with the same key within the duplicate window are one; empty for a sync. */
  readonly duplicateKey: string
  /** Place in time of the check-in; answered again to its duplicates. */
  readonly recordedMs: number
  /** Latest of its points inside the area, for the live map. */
  readonly position: Position | null
}

/** The rules of admission, passed with each call so that the store keeps no configuration. */
export interface AdmissionRules {
  readonly checkin: Window
  readonly sync: Window
  readonly duplicateMs: number
  readonly retentionMs: number
  readonly pendingMax: number
}

export type Verdict =
  | {
      readonly outcome: 'admitted'
      /** How many of the entries were already there. */
      readonly duplicates: number
      /** Whether the check-in itself was already there. */
      readonly duplicate: boolean
      readonly pending: number
      /** Place in time of the check-in, or of the first one that it repeats. */
      readonly recordedMs: number
      /** Of a check-in that was still in the buffer: what is held there under its identity. */
      readonly held: string | null
    }
  | { readonly outcome: 'limited'; readonly retryAfterMs: number }
  | { readonly outcome: 'refused'; readonly status: 'paused' | 'ended'; readonly message: string | null }
  /** The pilgrim has too many pending points. */
  | { readonly outcome: 'full' }
  /** The store has no status: it must be primed from the database first. */
  | { readonly outcome: 'unknown' }

/** The activity's status with the version of its database row; an older version never replaces a newer. */
export interface VersionedStatus {
  readonly status: ActivityStatus
  readonly version: number
  readonly message: string | null
}

/** The pending points of one pilgrim. */
export interface Pending {
  readonly userId: string
  readonly entries: readonly Entry[]
}

/** A live position and when the store last saw it move (store's clock, epoch milliseconds). */
export interface Moved extends Position {
  readonly userId: string
  readonly movedMs: number
}

export interface LimitVerdict {
  readonly allowed: boolean
  readonly remaining: number
  /** Until the window has room again; 0 when allowed. */
  readonly retryAfterMs: number
}

/** That someone was erased, under a name that does not tell who: SHA-1 of the user id, in hex. */
export interface Erased {
  readonly userHash: string
  /** Counts up with each erasure; points carry the one under which they were admitted. */
  readonly generation: number
  readonly erasedMs: number
}

/** The name under which an erased pilgrim is remembered. */
export const userHash = (userId: string): string => new Bun.CryptoHasher('sha1').update(userId).digest('hex')

export interface Kv {
  readonly partitions: number
  /** Under which name this opened store is counted in the books. */
  readonly caller: string

  /** Decides and buffers submissions of one partition, in order, in one atomic call. */
  admit(partition: number, submissions: readonly Submission[], rules: AdmissionRules): Promise<Verdict[]>
  /** Buffers points that were already answered: asks neither status nor limit, drops known identities. */
  restore(partition: number, submissions: readonly Submission[], rules: AdmissionRules): Promise<void>

  /** A pilgrim's pending points, in no order. */
  peek(userId: string): Promise<Entry[]>
  /** The same of several pilgrims, in their order. */
  peekEach(userIds: readonly string[]): Promise<Entry[][]>
  /** Pilgrims with pending points, longest waiting first; a snapshot. */
  pendingUsers(partition: number): Promise<string[]>
  /** Pending points of some pilgrims of one partition. */
  drain(partition: number, userIds: readonly string[]): Promise<Pending[]>
  /**
   * Deletes exactly these entries, if their values are still the same.
   * @param epoch where the store has another one by now, nothing is deleted
   */
  settle(partition: number, stored: readonly Pending[], epoch?: string): Promise<void>
  /** Renews the retention of pilgrims whose points could not be stored. */
  renew(partition: number, userIds: readonly string[], retentionMs: number): Promise<void>
  /** Number of pilgrims with pending points, over all partitions. */
  bufferSize(): Promise<number>
  /**
   * Since when the longest waiting pilgrim waits (store's clock): from their first pending point, or from the
   * last time that some of theirs were stored; null: nothing waits.
   */
  oldestPending(): Promise<number | null>
  books(): Promise<PartitionCounters[]>
  /** The partition's epoch; empty before its books began. */
  epoch(partition: number): Promise<string>
  /** Called with what `admit` and `restore` put in, before they resolve. */
  onReceipt(listener: (receipt: Receipt) => void): void

  /** The status as the partitions hold it: null when any of them has none. */
  status(): Promise<VersionedStatus | null>
  /** Sets the status in every partition where it is newer; resolves when all have it or a newer one. */
  setStatus(status: VersionedStatus): Promise<void>

  /** Positions that moved at or after `sinceMs`, oldest first, at most `count`. */
  moved(partition: number, sinceMs: number, count: number): Promise<Moved[]>

  /** Takes a pilgrim off the live map, or lets them on it again. */
  hide(userId: string, hidden: boolean): Promise<void>
  /** Who is hidden in a partition. */
  hidden(partition: number): Promise<string[]>

  /**
   * Forgets a pilgrim; points that were received before do not come back, and later ones are stamped with the
   * generation. Safe to repeat: what was admitted since the first time stays.
   * @param caches keys of caches that are forgotten with them
   * @returns how many pending points went
   */
  erase(
    userId: string,
    erased: Pick<Erased, 'generation' | 'erasedMs'>,
    caches?: readonly string[],
  ): Promise<number>
  /** Remembers erasures again, after the store has lost everything. */
  rememberErased(erased: readonly Erased[]): Promise<void>
  /** Everyone who was erased, as a partition knows it. */
  erased(partition: number): Promise<Erased[]>

  /** Charges a call to a sliding window: never more than `max` in any window of that length. */
  limit(key: string, id: string, window: Window): Promise<LimitVerdict>

  cached(key: string): Promise<string | null>
  cache(key: string, value: string, ttlMs: number): Promise<void>
  /** Stores the value unless there is one; answers what stands there afterwards. */
  cacheOnce(key: string, value: string, ttlMs: number): Promise<string>
  forget(key: string): Promise<void>

  /**
   * Takes a lock for `ttlMs`; the token that releases it, or null when someone holds it.
   * @param silenceMs a holder who has not renewed it for so long is gone, and loses it; `ttlMs` if not said
   */
  lock(name: string, ttlMs: number, silenceMs?: number): Promise<string | null>
  /** Extends a lock that is still ours. */
  renewLock(name: string, token: string, ttlMs: number): Promise<boolean>
  /** Releases a lock that is still ours; someone else's stays. */
  unlock(name: string, token: string): Promise<void>

  /** The store's own time, epoch milliseconds; where it has several clocks, the one that is behind. */
  clock(): Promise<number>
  /** Connections that other processes of this service have to the store. */
  others(): Promise<number>
  /** Forgets everything there is, as a new store: for an installation that is set up anew, services stopped. */
  clear(): Promise<void>

  /** Resolves when the store takes a write in every partition, within about a second. */
  probe(): Promise<void>
  /** Used memory as a fraction of the allowed, of the fullest node; 0 when unbounded. */
  memoryUse(): Promise<number>
  /** Called whenever the store is reachable again after it was not. */
  onReconnect(listener: () => void): void
  close(): Promise<void>
}

/** Partition of a pilgrim: FNV-1a of the id, so that every replica and language agrees. */
export function partitionOf(userId: string, partitions: number): number {
  if (partitions === 1) return 0
  let hash = 0x811c9dc5
  for (let i = 0; i < userId.length; i++) hash = Math.imul(hash ^ userId.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % partitions
}

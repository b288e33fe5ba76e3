/**
 * The kv port: the short-term store that admits and buffers GPS points, and holds rate-limit windows, locks, caches
 * and the event's status. Callers use only these methods; drivers hide how they are stored.
 *
 * Obligations of every driver: when a promise resolves, the effect is durable as far as the driver promises
 * (shared/README.md). `admit`, `acknowledge` and `limit` are atomic; `restore` is atomic for each submission. Times of
 * windows, locks and caches are by the store's own clock. An unavailable store rejects with `KvUnavailable`.
 */
import type { Window } from '#shared/runtime/config/config.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** The store did not answer in time or at all. The call may or may not have taken effect. */
export class KvUnavailable extends LoggableError {
  override name = 'KvUnavailable'
}

/** The store has no memory left; the call had no effect. */
export class KvFull extends LoggableError {
  override name = 'KvFull'
}

/** Whether an error means that the store is unavailable or full, as opposed to a wrong call. */
export const isKvUnavailable = (error: unknown): boolean =>
  error instanceof KvUnavailable || error instanceof KvFull

/** One point in a pilgrim's buffer: its identity (kind and time sent) and its packed value, each a single line. */
export interface Entry {
  readonly field: string
  readonly value: string
}

/** A pilgrim's latest known position at time `t`, epoch milliseconds. */
export interface Position {
  readonly t: number
  readonly lat: number
  readonly lng: number
  /** Whether it is rough (`core/rules/geo.ts`). */
  readonly rough?: boolean
}

/** A rough position replaces a better one on the map once the better one is older by this much. */
const ROUGH_AFTER_MS = 3_600_000

/**
 * Of two positions of a pilgrim the one with the higher rank is on the map; `admit-points.lua` implements the same
 * rule.
 */
export const rankOf = ({ t, rough }: Position): number => (rough ? t - ROUGH_AFTER_MS : t)

/** Each kind has its own rate limit. `ingest`: track points of a tracker app. */
export const SUBMISSION_KINDS = ['checkin', 'sync', 'ingest'] as const
type SubmissionKind = (typeof SUBMISSION_KINDS)[number]

export interface Submission {
  /**
   * Unique per request; a repeated call with the same id is charged once. A call of `ingest` without new points is
   * free, so its id has no meaning.
   */
  readonly id: string
  readonly userId: string
  readonly kind: SubmissionKind
  /** The first entry of a check-in is the check-in itself; track points follow. */
  readonly entries: readonly Entry[]
  /** Check-ins with the same key within the duplicate window are duplicates; empty for other kinds. */
  readonly duplicateKey: string
  /** Time at which the check-in counts; the answers to its duplicates contain it. */
  readonly recordedMs: number
  /** Latest of its positions inside the area, for the live map. */
  readonly position: Position | null
}

/** The rules of admission, passed with each call so that the store needs no configuration. */
export interface AdmissionRules {
  readonly checkin: Window
  readonly sync: Window
  readonly ingest: Window
  readonly duplicateMs: number
  readonly retentionMs: number
  readonly pendingMax: number
}

export type Verdict =
  | {
      readonly outcome: 'admitted'
      /** How many of the entries were already in the buffer. */
      readonly duplicates: number
      /** Whether the check-in itself was already there. */
      readonly duplicate: boolean
      /** The pilgrim's pending points after this submission. */
      readonly pending: number
      /** Time at which the check-in counts, or that of the first one if it is a repetition. */
      readonly recordedMs: number
      /** The buffered value under the identity of a check-in that was already there; null otherwise. */
      readonly held: string | null
    }
  | { readonly outcome: 'limited'; readonly retryAfterMs: number }
  | { readonly outcome: 'refused'; readonly status: 'paused' | 'ended'; readonly message: string | null }
  /** The pilgrim has too many pending points. */
  | { readonly outcome: 'full' }
  /** The pilgrim was erased, after the points were received or without a new consent. */
  | { readonly outcome: 'erased' }
  /** The pilgrim has withdrawn their consent. */
  | { readonly outcome: 'no-consent' }

/** `unknown`: the store has no status, and must be primed from the database first. */
export type StoreVerdict = Verdict | { readonly outcome: 'unknown' }

/** The activity's status with the version of its database row; an older version never replaces a newer one. */
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

/**
 * The counters of a partition in its current epoch. A store that came back empty begins a new epoch, with counters at
 * 0. At any moment admitted = settled + erased + expired + pending.
 */
export interface PartitionCounters {
  readonly epoch: string
  /** Accepted points, each once. */
  readonly admitted: number
  /** `admitted` by caller (`Kv.caller`); `before`: points that were already pending when counting began. */
  readonly callers: Readonly<Record<string, number>>
  /** Check-ins among the accepted points. */
  readonly checkins: number
  /** Points that were already in the buffer. */
  readonly duplicate: number
  /** Points that were rejected because their pilgrim was erased after they had been received. */
  readonly dropped: number
  /** Points that were deleted by an acknowledgement, because Postgres has stored them. */
  readonly settled: number
  /** Pending points that were deleted because their pilgrim was erased. */
  readonly erased: number
  /** Points whose retention ended before they were stored. Redis counts them at the next flush. */
  readonly expired: number
}

/** Confirms new points of this caller, with the caller's total. */
export interface Receipt {
  readonly partition: number
  readonly epoch: string
  /** New points of this call. */
  readonly points: number
  /** All points of this caller in this epoch of the partition, this call included. */
  readonly total: number
}

/** A live position. */
export interface Moved extends Position {
  readonly userId: string
  /**
   * Time of the last change of the position or its visibility: the store's clock (epoch ms), raised above every earlier
   * change in the partition. So it orders the changes, and each has a distinct time.
   */
  readonly movedMs: number
  /** The map shows it from this time: 0, or a full hour; infinite: the pilgrim is hidden. */
  readonly hiddenUntilMs: number
}

export interface LimitVerdict {
  readonly allowed: boolean
  readonly remaining: number
  /** Milliseconds until the window allows a call again; 0 when allowed. */
  readonly retryAfterMs: number
}

/** An erasure. It identifies the pilgrim only by a hash: SHA-1 of the user id, in hex. */
export interface Erased {
  readonly userHash: string
  /** Rises with each erasure; each point carries the generation at its admission. */
  readonly generation: number
  /** Points received until this time are rejected. Their times may be those of other clocks (`beginAnew`). */
  readonly erasedMs: number
  /** Whether all points are rejected, because the person has not consented again. */
  readonly stands?: boolean
}

/** Added to the time of an erasure that stands, so that every comparison finds all points before it. */
export const STANDS_MS = 4e15

/** Points received until this time belong before the erasure. Of two times the earlier one holds. */
export const storedMs = ({ erasedMs, stands = false }: Pick<Erased, 'erasedMs' | 'stands'>): number =>
  stands ? erasedMs + STANDS_MS : erasedMs

/**
 * Whether a point belongs to an erased person. The generation decides, independent of clocks; if the kv had lost the
 * generation, so that the point was admitted under an older one, the time of receipt decides.
 */
export const isOfErased = (
  { generation, erasedMs, stands = false }: Omit<Erased, 'userHash'>,
  point: { readonly generation: number; readonly receivedMs: number },
): boolean => stands || (point.generation < generation && point.receivedMs <= erasedMs)

/** The hash that identifies an erased pilgrim. */
export const userHash = (userId: string): string => new Bun.CryptoHasher('sha1').update(userId).digest('hex')

/** Data divided by pilgrim (`partitionOf`). */
interface Partitioned {
  readonly partitions: number
}

/** The GPS buffer: accepted points not yet in Postgres, and their counters. */
export interface KvPoints extends Partitioned {
  /** This client's name in the counters. */
  readonly caller: string
  /** Admits submissions of one partition, in order, in one atomic call. */
  admit(partition: number, submissions: readonly Submission[], rules: AdmissionRules): Promise<StoreVerdict[]>
  /**
   * Buffers points that were already acknowledged: it checks neither status, consent nor limit, and drops known
   * identities and points of erased people.
   * @returns the number of points that it did not have
   */
  restore(partition: number, submissions: readonly Submission[], rules: AdmissionRules): Promise<number>
  /** A pilgrim's pending points, in no order. */
  peek(userId: string): Promise<Entry[]>
  /** Pending points of several pilgrims, in the order of `userIds`. */
  peekEach(userIds: readonly string[]): Promise<Entry[][]>
  /** Numbers of pending points of several pilgrims, in the order of `userIds`. */
  pendingOf(userIds: readonly string[]): Promise<number[]>
  /** Pilgrims with pending points, longest pending first; a snapshot. */
  pendingUsers(partition: number): Promise<string[]>
  /** Pending points of some pilgrims of one partition. */
  drain(partition: number, userIds: readonly string[]): Promise<Pending[]>
  /**
   * Acknowledges stored entries: deletes exactly these, if their values are unchanged.
   * @param epoch if the store has begun another epoch, nothing is deleted
   */
  acknowledge(partition: number, stored: readonly Pending[], epoch?: string): Promise<void>
  /** Renews the retention of pilgrims whose points could not be stored. */
  renew(partition: number, userIds: readonly string[], retentionMs: number): Promise<void>
  /** Number of pilgrims with pending points, over all partitions. */
  bufferSize(): Promise<number>
  /**
   * Start of the longest pending period (store's clock): the pilgrim's first pending point, or the last acknowledgement
   * of some of their points; null: nothing is pending.
   */
  oldestPending(): Promise<number | null>
  /** The counters of each partition, in order. */
  counters(): Promise<PartitionCounters[]>
  /** The partition's epoch; empty before counting began. */
  epoch(partition: number): Promise<string>
  /** Registers a listener that is called with the new points of `admit` and `restore` before they resolve. */
  onReceipt(listener: (receipt: Receipt) => void): void
}

/** Latest positions, and the hidden pilgrims. */
export interface KvPresence extends Partitioned {
  /** Positions that moved at or after `sinceMs`, oldest first, at most `count`. */
  moved(partition: number, sinceMs: number, count: number): Promise<Moved[]>
  /**
   * Removes positions whose time `t` is outside a span, starting with those that changed longest ago.
   * @param skip number of positions to skip
   * @param count maximum number of positions to check, a few thousand
   */
  dropPositions(
    partition: number,
    skip: number,
    count: number,
    fromMs: number,
    toMs: number,
  ): Promise<{ readonly seen: number; readonly dropped: number }>
  /**
   * Hides a pilgrim from the live map, or shows them again at the next full hour: otherwise anyone who hides and shows
   * a pilgrim would see on the map which place is theirs.
   * @param refused whether their points are rejected, because they have withdrawn their consent
   */
  hide(userId: string, hidden: boolean, refused?: boolean): Promise<void>
  /** The hidden pilgrims of a partition. */
  hidden(partition: number): Promise<string[]>
  /** The pilgrims of a partition whose points are refused. */
  refused(partition: number): Promise<string[]>
}

/** Erased pilgrims: older points of these people are rejected. */
export interface KvErasures extends Partitioned {
  /**
   * Erases a pilgrim. Points received before are rejected from now on; later ones carry the new generation, including
   * pending ones. Safe to repeat, and in any order with `storeErasures`: the newer generation wins; for the same
   * generation, the new consent wins.
   * @param caches keys of cache entries to delete as well
   * @returns the number of deleted pending points
   */
  erase(userId: string, erased: Omit<Erased, 'userHash'>, caches?: readonly string[]): Promise<number>
  /** Stores erasures again after the store has lost its data, or after a new consent. */
  storeErasures(erased: readonly Erased[]): Promise<void>
  /** The erasures that a partition has stored. */
  erased(partition: number): Promise<Erased[]>
  /**
   * Next page of erased user hashes after `mark`, oldest first. Empty at the end.
   * @param mark 0, or the mark of the previous answer
   */
  erasedAfter(
    partition: number,
    mark: number,
  ): Promise<{ readonly userHashes: string[]; readonly mark: number }>
}

/** The copy of the activity's status that decides about admission. */
export interface KvStatus {
  /** The oldest status of all partitions; null when any of them has none. */
  status(): Promise<VersionedStatus | null>
  /** Sets the status in every partition where it is newer; resolves when all have it or a newer one. */
  setStatus(status: VersionedStatus): Promise<void>
}

/** Rate-limit windows, cached values and locks, by key. */
export interface KvKeys {
  /** Charges a call to a sliding window: never more than `max` in any window of that length. */
  limit(key: string, id: string, window: Window): Promise<LimitVerdict>
  cached(key: string): Promise<string | null>
  /**
   * @param alsoWhenFull for a few bytes that must be written even to a full kv, such as revoked keys, heartbeats and
   *   the palanquin's position
   */
  cache(key: string, value: string, ttlMs: number, alsoWhenFull?: boolean): Promise<void>
  /** Stores the value unless the key has one; returns the stored value. */
  cacheOnce(key: string, value: string, ttlMs: number): Promise<string>
  /**
   * Compares and sets in one step: stores a value, or deletes the entry for null, if the entry is still as it was read
   * (null: there was none). Also when the store is full.
   * @returns whether it was still the same
   */
  exchange(key: string, before: string | null, value: string | null, ttlMs: number): Promise<boolean>
  forget(key: string): Promise<void>
  /** Deletes every cache entry whose key begins with the prefix. */
  forgetAll(prefix: string): Promise<void>
  /**
   * Acquires a lock for `ttlMs`.
   * @param silenceMs a holder that has not renewed the lock for this long loses it; default `ttlMs`
   * @returns the token that releases the lock, or null when another holder has it
   */
  lock(name: string, ttlMs: number, silenceMs?: number): Promise<string | null>
  /** Extends a lock that this token still holds. @returns whether it did */
  renewLock(name: string, token: string, ttlMs: number): Promise<boolean>
  /** Releases a lock that this token still holds; another holder's lock stays. */
  unlock(name: string, token: string): Promise<void>
}

/** The store as a whole. */
export interface KvServer {
  /** The store's own time, epoch milliseconds; with several clocks the earliest. */
  clock(): Promise<number>
  /** Number of connections that other processes of this service have to the store. */
  others(): Promise<number>
  /** Deletes everything. For an installation that is set up again while its services are stopped. */
  clear(): Promise<void>
  /** Resolves, within about a second, when every partition accepts a write and every connection is up. */
  probe(): Promise<void>
  /**
   * Number of slots of a Redis Cluster that are moving between servers or did not arrive; else 0. Their points can be
   * lost.
   */
  movingSlots(): Promise<number>
  /**
   * Names of the store's processes that accept writes. A new one was started or has taken over, and may lack writes
   * that its predecessor acknowledged. The embedded store has none: it ends with its process.
   */
  servers(): Promise<string[]>
  /** Used memory as a fraction of the limit, of the fullest node; 0 without a limit. */
  memoryUse(): Promise<number>
  /** Registers a listener that is called whenever the store becomes reachable again. */
  onReconnect(listener: () => void): void
  close(): Promise<void>
}

/** The port. Code that needs a part of it declares only that part. */
export interface Kv extends KvPoints, KvPresence, KvErasures, KvStatus, KvKeys, KvServer {}

/** Partition of a pilgrim: FNV-1a of the id, so that every replica computes the same one. */
export function partitionOf(userId: string, partitions: number): number {
  if (partitions === 1) return 0
  let hash = 0x811c9dc5
  for (let i = 0; i < userId.length; i++) hash = Math.imul(hash ^ userId.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % partitions
}

/** Place and times of a check-in, epoch milliseconds. */
export interface CheckInPosition {
  readonly sentMs: number
  readonly recordedMs: number
  readonly receivedMs: number
  readonly lat: number
  readonly lng: number
}

const STANDING = /\[(-?\d+),(\d+),([^,]+),([^,]+),/

/** Reads place and times of a packed check-in; null for any other value. */
export function checkInPositionOf({ field, value }: Entry): CheckInPosition | null {
  const [offset, receivedMs, lat, lng] = (STANDING.exec(value)?.slice(1) ?? []).map(Number)
  if (lng === undefined) return null
  const sentMs = Number(field.slice(1))
  return { sentMs, recordedMs: sentMs + offset!, receivedMs: receivedMs!, lat: lat!, lng }
}

/** Whether a check-in came without a timestamp, so that it counts at its receipt or at the next free instant. */
const standsAtReceipt = ({ sentMs, recordedMs, receivedMs }: CheckInPosition): boolean =>
  recordedMs === sentMs && receivedMs <= sentMs

/**
 * Whether two check-ins of one pilgrim share an instant by accident: they are at different places, and one of them
 * came without a timestamp. The later one gets the next free instant.
 */
export const sharesInstantByAccident = (one: CheckInPosition, other: CheckInPosition): boolean =>
  (standsAtReceipt(one) || standsAtReceipt(other)) && (one.lat !== other.lat || one.lng !== other.lng)

/** The time of receipt of a packed point, with or without its stamp; -Infinity for any other value. */
export const receivedMsOf = (value: string): number =>
  Number(/^(?:\d+~)?\[[^,]*,(\d+)/.exec(value)?.[1] ?? -Infinity)

/** Splits a value of the buffer into the pilgrim's generation at that time and the packed point. */
export function readStamp(stamped: string): { readonly generation: number; readonly value: string } {
  const stamp = /^(\d+)~/.exec(stamped)
  if (stamp === null) return { generation: 0, value: stamped }
  return { generation: Number(stamp[1]), value: stamped.slice(stamp[0].length) }
}

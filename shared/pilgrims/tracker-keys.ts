/**
 * Tracker keys cached in the kv. A known key saves a query. A revoked key makes every replica ask Postgres, because the
 * transaction that revokes it may still fail. Entries are named by the key's hash. One more entry changes with each
 * revocation, so that a process can keep copies of known keys and still see at once that one of them may be revoked.
 */
import { and, eq } from 'drizzle-orm'
import type { Trouble } from '#shared/contracts/trackers.ts'
import { isRecent } from '#shared/runtime/clock.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import type { KvKeys } from '#shared/stores/kv/kv.ts'
import { trackers } from '#shared/stores/schema/tables.ts'

/** While Postgres is down, a key that was used within this time is accepted. */
const KNOWN_TTL_MS = 3 * 86_400_000
/** Twice the lifetime of a known key, so that no known key outlives its revocation. */
const REVOKED_TTL_MS = 2 * KNOWN_TTL_MS

/** A key that Postgres has confirmed. */
export interface KnownKey {
  readonly userId: string
  /** When Postgres confirmed it, epoch milliseconds. */
  readonly checkedMs: number
  /** When an app last sent accepted points, epoch milliseconds; absent: not yet, or too long ago. */
  readonly usedMs?: number | undefined
  /** The last request whose position was not accepted unchanged. */
  readonly refused?: { readonly reason: Trouble; readonly atMs: number } | undefined
  /** The last point dated in the future. */
  readonly ahead?: NotedAhead | undefined
}

/** SHA-256 of a key, in hex. */
export const trackerKeyHash = (key: string): string =>
  new Bun.CryptoHasher('sha256').update(key).digest('hex')

/** Key prefix of known keys. */
export const KNOWN_KEYS = 'tracker:'
const known = (hash: string): string => `${KNOWN_KEYS}${hash}`
const revoked = (hash: string): string => `tracker-revoked:${hash}`

const REVOCATIONS = 'tracker-revocations'

/**
 * A value that changes with each revocation of any key. A copy of a known key is valid while the value is still the one
 * that was read before the copy was made. @throws KvUnavailable
 */
export const readRevocations = (kv: KvKeys): Promise<string | null> => kv.cached(REVOCATIONS)

/** @returns `revoked`, the known key, or null. @throws KvUnavailable */
export async function readKnownKey(kv: KvKeys, hash: string): Promise<KnownKey | 'revoked' | null> {
  const [held, gone] = await Promise.all([kv.cached(known(hash)), kv.cached(revoked(hash))])
  if (gone !== null) return 'revoked'
  return held === null ? null : (JSON.parse(held) as KnownKey)
}

/**
 * Stores a key that Postgres has confirmed, unless it was revoked meanwhile.
 * @param isUnchanged whether no key was revoked since before this one was read, which spares a look at this one
 * @throws KvUnavailable
 */
export async function storeKnownKey(
  kv: KvKeys,
  hash: string,
  key: KnownKey,
  isUnchanged: () => Promise<boolean> = async () => false,
): Promise<void> {
  await kv.cache(known(hash), JSON.stringify(key), KNOWN_TTL_MS)
  // Either this read finds the revocation, or the revocation deletes the entry.
  if (!(await isUnchanged()) && (await kv.cached(revoked(hash))) !== null) await kv.forget(known(hash))
}

/** The outcome of a request with a key. */
export interface KeyUse {
  readonly isTaken: boolean
  readonly refused: Trouble | null
}

/** The same outcome is noted only once in this time. */
const USE_MS = 60_000

/** The key after a request with this outcome; null: there is nothing new to note. */
export function withUse(key: KnownKey, use: KeyUse, nowMs: number): KnownKey | null {
  const isUse = use.isTaken && !isRecent(key.usedMs ?? 0, nowMs, USE_MS)
  const { reason, atMs } = key.refused ?? { reason: null, atMs: 0 }
  const isTrouble = use.refused !== null && (use.refused !== reason || !isRecent(atMs, nowMs, USE_MS))
  if (!isUse && !isTrouble) return null
  return {
    ...key,
    ...(isUse && { usedMs: nowMs }),
    ...(isTrouble && { refused: { reason: use.refused, atMs: nowMs } }),
  }
}

/** Notes the outcome of a request with a key. @throws KvUnavailable */
export async function noteKeyUse(kv: KvKeys, hash: string, use: KeyUse, nowMs: number): Promise<void> {
  if (!use.isTaken && use.refused === null) return
  const key = await readKnownKey(kv, hash)
  if (key === null || key === 'revoked') return
  const noted = withUse(key, use, nowMs)
  if (noted !== null) await storeKnownKey(kv, hash, noted)
}

/** A point dated in the future: by how much, its time, and when it was received (epoch milliseconds). */
interface NotedAhead {
  readonly byMs: number
  readonly sentMs: number
  readonly atMs: number
  /** How fast the clock is; absent: one point alone proves nothing about the clock. */
  readonly clockMs?: number | undefined
}

const AHEAD_LATELY_MS = 3_600_000
/** Under a fast clock, points are ahead by nearly the same time, because each is sent soon after it was recorded. */
const SAME_AHEAD_MS = 2 * 60_000

/**
 * Notes that a point of a key was dated in the future.
 * @returns how fast the phone's clock is, if another recent point was ahead by the same time; else null. Once it is
 *   known, a point that is less ahead was sent later than it was recorded
 * @throws KvUnavailable
 */
export async function noteKeyAhead(
  kv: KvKeys,
  hash: string,
  { byMs, sentMs }: Pick<NotedAhead, 'byMs' | 'sentMs'>,
  nowMs: number,
): Promise<number | null> {
  const key = await readKnownKey(kv, hash)
  if (key === null || key === 'revoked') return null
  const { ahead } = key
  const last = ahead !== undefined && isRecent(ahead.atMs, nowMs, AHEAD_LATELY_MS) ? ahead : null
  const expectedMs = last?.clockMs ?? last?.byMs ?? -Infinity
  const leastMs = last?.clockMs === undefined ? expectedMs - SAME_AHEAD_MS : 0
  const isClock = last?.sentMs !== sentMs && byMs > leastMs && byMs < expectedMs + SAME_AHEAD_MS
  const clockMs = isClock ? Math.max(expectedMs, byMs) : undefined
  await storeKnownKey(kv, hash, { ...key, ahead: { byMs, sentMs, atMs: nowMs, clockMs } })
  return clockMs ?? null
}

/** Makes every replica ask Postgres for keys, even while the kv is full. Safe to repeat. @throws KvUnavailable */
export async function revokeKeys(kv: KvKeys, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return
  for (const hash of hashes) await kv.cache(revoked(hash), '1', REVOKED_TTL_MS, true)
  // After the revocations, so that a copy that is made from now on finds them, and before the deletions, so that an entry
  // that is stored after them finds the change.
  await kv.cache(REVOCATIONS, crypto.randomUUID(), REVOKED_TTL_MS, true)
  for (const hash of hashes) await kv.forget(known(hash))
}

/**
 * Deletes a pilgrim's trackers, or one of them. When it resolves, no replica accepts their keys. The kv is updated
 * before the commit: without it, other replicas would go on to accept them.
 * @returns how many there were
 * @throws KvUnavailable
 */
export async function endTrackers(tx: Tx, kv: KvKeys, userId: string, id?: string): Promise<number> {
  const gone = await tx.orm
    .delete(trackers)
    .where(and(eq(trackers.userId, userId), id === undefined ? undefined : eq(trackers.id, id)))
    .returning({ hash: trackers.keyHash })
  await revokeKeys(
    kv,
    gone.map(({ hash }) => hash),
  )
  return gone.length
}

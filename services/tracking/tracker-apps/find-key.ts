/** Finds the pilgrim of a tracker's key: in the kv, and periodically in Postgres. Records when a key was used. */
import { eq } from 'drizzle-orm'
import { TRACKER_KEY } from '#shared/contracts/trackers.ts'
import { isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { Refusal, unavailable } from '#shared/runtime/refusal.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import {
  type KnownKey,
  type KeyUse,
  noteKeyAhead,
  noteKeyUse,
  readKnownKey,
  storeKnownKey,
  trackerKeyHash,
} from '#shared/pilgrims/tracker-keys.ts'
import { isRecent, never } from '#shared/runtime/clock.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { trackers } from '#shared/stores/schema/tables.ts'

/** For this long a key is not looked up in Postgres again. */
const FRESH_MS = 60_000
/** Timeout of Postgres for a key known to the kv; unknown keys wait longer, because only Postgres can resolve them. */
const KNOWN_WAIT_MS = 1_000
const UNKNOWN_WAIT_MS = 2_500
/** For this long after a failure, known keys do not wait for Postgres. */
const AVOID_MS = 5_000

const unknownNow = () => unavailable('The tracker’s key cannot be checked at the moment. Send it again.', 30)

/**
 * @returns a function that returns the user id of a key, or null for a key that is unknown or revoked. It throws a
 * Refusal 503 when neither store can tell
 */
export function createKeyFinder({
  db,
  kv,
  now,
  stopwatch,
}: Pick<ServiceContext, 'db' | 'kv' | 'now' | 'stopwatch'>): (key: string) => Promise<string | null> {
  /** Keys cached in the kv before an outage may have been revoked during it. */
  let sinceOutage = never
  let sinceFailure = never
  kv.onReconnect(() => (sinceOutage = stopwatch()))

  /** Look-ups in progress, by hash: an app may send a day in as many requests as it has points. */
  const running = new Map<string, Promise<string | null>>()
  const lookUp = async (hash: string): Promise<string | null> => {
    try {
      const rows = await db.read(() =>
        db.orm.select({ userId: trackers.userId }).from(trackers).where(eq(trackers.keyHash, hash)),
      )
      return rows[0]?.userId ?? null
    } finally {
      running.delete(hash)
    }
  }
  const read = (hash: string, waitMs: number): Promise<string | null> =>
    within(
      running.getOrInsertComputed(hash, () => lookUp(hash)),
      waitMs,
      rejectWith(unknownNow),
    )
  const isFresh = ({ checkedMs }: KnownKey): boolean =>
    isRecent(checkedMs, now(), Math.min(FRESH_MS, sinceOutage()))

  return async (key) => {
    if (!TRACKER_KEY.test(key)) return null
    const hash = trackerKeyHash(key)
    const held = await orUnavailable(readKnownKey(kv, hash))
    const stale = typeof held === 'object' ? held : null
    if (stale !== null && (isFresh(stale) || sinceFailure() < AVOID_MS)) return stale.userId
    const checkedMs = now()
    let userId: string | null
    try {
      userId = await read(hash, stale === null ? UNKNOWN_WAIT_MS : KNOWN_WAIT_MS)
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !(error instanceof Refusal)) throw error
      if (stale === null) throw unknownNow()
      sinceFailure = stopwatch()
      return stale.userId
    }
    if (userId !== null && held !== 'unavailable' && held !== 'revoked')
      await orUnavailable(storeKnownKey(kv, hash, { ...stale, userId, checkedMs }))
    return userId
  }
}

/** The result of a call to the kv, or `unavailable`. */
async function orUnavailable<T>(call: Promise<T>): Promise<T | 'unavailable'> {
  try {
    return await call
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    return 'unavailable'
  }
}

/** @returns a function that records the outcome of a request. Without the kv nothing is recorded */
export const createUseNoter =
  ({ kv, now, log }: Pick<ServiceContext, 'kv' | 'now' | 'log'>) =>
  (key: string, use: KeyUse): void =>
    void noteKeyUse(kv, trackerKeyHash(key), use, now()).catch((error: unknown) => {
      if (!isKvUnavailable(error)) log.warn('the use of a tracker could not be noted', errorFields(error))
    })

/** @returns a function as `noteKeyAhead`, which returns null without the kv */
export const createAheadNoter =
  ({ kv, now }: Pick<ServiceContext, 'kv' | 'now'>) =>
  async (key: string, ahead: Parameters<typeof noteKeyAhead>[2]): Promise<number | null> => {
    const clockMs = await orUnavailable(noteKeyAhead(kv, trackerKeyHash(key), ahead, now()))
    return clockMs === 'unavailable' ? null : clockMs
  }

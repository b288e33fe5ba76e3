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
  readRevocations,
  storeKnownKey,
  trackerKeyHash,
  withUse,
} from '#shared/pilgrims/tracker-keys.ts'
import { type Elapsed, isRecent, never } from '#shared/runtime/clock.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { nextTurn } from '#shared/runtime/yield-to-event-loop.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { trackers } from '#shared/stores/schema/tables.ts'

/** For this long a key is not looked up in Postgres again, and a copy is used. */
const FRESH_MS = 60_000
/** Timeout of Postgres for a key known to the kv; unknown keys wait longer, because only Postgres can resolve them. */
const KNOWN_WAIT_MS = 1_000
const UNKNOWN_WAIT_MS = 2_500
/** For this long after a failure, known keys do not wait for Postgres. */
const AVOID_MS = 5_000

const unknownNow = () => unavailable('The tracker’s key cannot be checked at the moment. Send it again.', 30)

/** Copies in a process, about 20 MB. With more trackers in a minute, the kv is read more often. */
const MAX_COPIES = 50_000

/** `readRevocations`; undefined: the kv is unavailable. */
type Revocations = string | null | undefined

/** A known key as it was last read from the kv, with what this process has noted since. */
interface Copy {
  key: KnownKey
  /** `readRevocations`, read before the key. */
  readonly revocations: Revocations
  readonly age: Elapsed
}

/**
 * Keys of trackers, with copies in this process. A copy is used only after a read of the kv that began after the
 * request and found no new revocation. Requests of one turn of the event loop share that read.
 */
export class TrackerKeys {
  /** By hash, the most recent last. */
  readonly #copies = new Map<string, Copy>()
  /** The read that the requests of this turn share. */
  #revocations: Promise<Revocations> | null = null
  /** Look-ups in progress, by hash: an app may send a day in as many requests as it has points. */
  readonly #running = new Map<string, Promise<string | null>>()
  /** Keys that were known before an outage of the kv may have been revoked during it. */
  #sinceOutage = never
  #sinceFailure = never

  constructor(
    private readonly context: Pick<ServiceContext, 'db' | 'kv' | 'log' | 'now' | 'stopwatch'>,
    private readonly maxCopies = MAX_COPIES,
  ) {
    context.kv.onReconnect(() => (this.#sinceOutage = context.stopwatch()))
  }

  /** Copies in this process. */
  get copies(): number {
    return this.#copies.size
  }

  /** @returns the user id of a key, null for an unknown or revoked one. @throws Refusal 503 when no store can tell */
  async find(key: string): Promise<string | null> {
    if (!TRACKER_KEY.test(key)) return null
    const { kv, now } = this.context
    const hash = trackerKeyHash(key)
    const revocations = await this.#readRevocations()
    const copy = this.#copies.get(hash)
    const isValid = copy !== undefined && copy.revocations === revocations && copy.age() < FRESH_MS
    if (isValid && this.#isUsable(copy.key)) return copy.key.userId
    const held = revocations === undefined ? 'unavailable' : await orUnavailable(readKnownKey(kv, hash))
    const stale = typeof held === 'object' ? held : null
    if (stale !== null && this.#isUsable(stale)) {
      this.#keep(hash, stale, revocations)
      return stale.userId
    }
    const checkedMs = now()
    let userId: string | null
    try {
      userId = await this.#ask(hash, stale === null ? UNKNOWN_WAIT_MS : KNOWN_WAIT_MS)
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !(error instanceof Refusal)) throw error
      if (stale === null) throw unknownNow()
      this.#sinceFailure = this.context.stopwatch()
      return stale.userId
    }
    if (userId !== null && held !== 'unavailable' && held !== 'revoked') {
      const known = { ...stale, userId, checkedMs }
      await orUnavailable(storeKnownKey(kv, hash, known))
      this.#keep(hash, known, revocations)
    }
    return userId
  }

  /** Records the outcome of a request. Without the kv nothing is recorded. */
  noteUse(key: string, use: KeyUse): void {
    if (!use.isTaken && use.refused === null) return
    const { kv, now, log } = this.context
    const hash = trackerKeyHash(key)
    const nowMs = now()
    const copy = this.#copies.get(hash)
    if (copy !== undefined) {
      const noted = withUse(copy.key, use, nowMs)
      if (noted === null) return
      copy.key = noted
    }
    noteKeyUse(kv, hash, use, nowMs).catch((error: unknown) => {
      if (!isKvUnavailable(error)) log.warn('the use of a tracker could not be noted', errorFields(error))
    })
  }

  /** As `noteKeyAhead`; null without the kv. */
  async noteAhead(key: string, ahead: Parameters<typeof noteKeyAhead>[2]): Promise<number | null> {
    const { kv, now } = this.context
    const clockMs = await orUnavailable(noteKeyAhead(kv, trackerKeyHash(key), ahead, now()))
    return clockMs === 'unavailable' ? null : clockMs
  }

  /** A read that begins after the call. */
  #readRevocations(): Promise<Revocations> {
    this.#revocations ??= nextTurn().then(async () => {
      this.#revocations = null
      const read = await orUnavailable(readRevocations(this.context.kv).then((value) => ({ value })))
      return read === 'unavailable' ? undefined : read.value
    })
    return this.#revocations
  }

  #keep(hash: string, key: KnownKey, revocations: Revocations): void {
    this.#copies.delete(hash)
    this.#copies.set(hash, { key, revocations, age: this.context.stopwatch() })
    for (const [oldest, { age }] of this.#copies) {
      if (this.#copies.size <= this.maxCopies && age() < FRESH_MS) break
      this.#copies.delete(oldest)
    }
  }

  /** Whether Postgres need not be asked. */
  #isUsable({ checkedMs }: KnownKey): boolean {
    const { now } = this.context
    return (
      isRecent(checkedMs, now(), Math.min(FRESH_MS, this.#sinceOutage())) || this.#sinceFailure() < AVOID_MS
    )
  }

  async #ask(hash: string, waitMs: number): Promise<string | null> {
    return within(
      this.#running.getOrInsertComputed(hash, () => this.#lookUp(hash)),
      waitMs,
      rejectWith(unknownNow),
    )
  }

  async #lookUp(hash: string): Promise<string | null> {
    const { db } = this.context
    try {
      const rows = await db.read(() =>
        db.orm.select({ userId: trackers.userId }).from(trackers).where(eq(trackers.keyHash, hash)),
      )
      return rows[0]?.userId ?? null
    } finally {
      this.#running.delete(hash)
    }
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

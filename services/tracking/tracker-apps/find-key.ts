/** Finds the pilgrim of a tracker's key: in the kv, and periodically in Postgres. Records when a key was used. */
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
import { createBatchLoader } from '#shared/runtime/batch-loader.ts'
import type { ServiceContext } from '#shared/service/context.ts'

/** For this long a key is not looked up in Postgres again, and a copy is used. */
const FRESH_MS = 60_000
/** Timeout of Postgres for a key known to the kv; unknown keys wait longer, because only Postgres can resolve them. */
const KNOWN_WAIT_MS = 1_000
const UNKNOWN_WAIT_MS = 2_500
/** For this long after a failure, known keys do not wait for Postgres. */
const AVOID_MS = 5_000

const unknownNow = () => unavailable('The tracker’s key cannot be checked at the moment. Send it again.', 30)

/** A copy that was read within this time is written back without another read. */
const JUST_READ_MS = 1_000
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
 * request and found no new revocation. Requests at the same time share reads of the kv and of Postgres.
 */
export class TrackerKeys {
  /** By hash, the most recent last. */
  readonly #copies = new Map<string, Copy>()
  readonly #readRevocations: () => Promise<Revocations>
  /** Reads the user id of a hash from Postgres. */
  readonly #lookUp: (hash: string) => Promise<string | undefined>
  /**
   * Time since the last outage of the kv, in which it may have lost revocations. For a minute after an outage
   * only copies made after it are used. The dates of other replicas cannot decide that, because their clocks
   * differ.
   */
  #sinceOutage = never
  #sinceFailure = never

  constructor(
    private readonly context: Pick<ServiceContext, 'db' | 'kv' | 'log' | 'now' | 'stopwatch'>,
    private readonly maxCopies = MAX_COPIES,
  ) {
    const { db, kv, stopwatch } = context
    kv.onReconnect(() => (this.#sinceOutage = stopwatch()))
    const loadRevocations = createBatchLoader(
      async ([one]) => new Map([[one!, { value: await readRevocations(kv) }]]),
      isKvUnavailable,
    )
    this.#readRevocations = async () => {
      const read = await orUnavailable(loadRevocations('all'))
      return read === 'unavailable' ? undefined : read!.value
    }
    this.#lookUp = createBatchLoader(async (hashes) => {
      const rows = await db.read(
        () => db.sql<{ hash: string; user: string }[]>`
          SELECT key_hash AS hash, user_id AS user FROM trackers WHERE key_hash = ANY(${hashes as string[]})`,
      )
      return new Map(rows.map(({ hash, user }) => [hash, user]))
    }, isDatabaseUnavailable)
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
    const maxAgeMs = Math.min(FRESH_MS, this.#sinceOutage())
    const isValid = copy !== undefined && copy.revocations === revocations && copy.age() < maxAgeMs
    if (isValid && this.#isFresh(copy.key)) return copy.key.userId
    const held = revocations === undefined ? 'unavailable' : await orUnavailable(readKnownKey(kv, hash))
    const stale = typeof held === 'object' ? held : null
    const isTrusted = maxAgeMs === FRESH_MS
    if (stale !== null && (isTrusted || this.#avoidsPostgres()) && this.#isFresh(stale)) {
      if (isTrusted) this.#keep(hash, stale, revocations)
      return stale.userId
    }
    const checkedMs = now()
    let userId: string | null
    try {
      const waitMs = stale === null ? UNKNOWN_WAIT_MS : KNOWN_WAIT_MS
      userId = (await within(this.#lookUp(hash), waitMs, rejectWith(unknownNow))) ?? null
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !(error instanceof Refusal)) throw error
      if (stale === null) throw unknownNow()
      this.#sinceFailure = this.context.stopwatch()
      return stale.userId
    }
    if (userId !== null && held !== 'unavailable' && held !== 'revoked') {
      const known = { ...stale, userId, checkedMs }
      await orUnavailable(this.#store(hash, known, revocations))
      this.#keep(hash, known, revocations)
    }
    return userId
  }

  /** Records the outcome of a request. Without the kv nothing is recorded. */
  noteUse(hash: string, use: KeyUse): void {
    this.#note(hash, use).catch((error: unknown) => {
      if (isKvUnavailable(error)) return
      this.context.log.warn('the use of a tracker could not be noted', errorFields(error))
    })
  }

  async #note(hash: string, use: KeyUse): Promise<void> {
    const { kv, now } = this.context
    const nowMs = now()
    const copy = this.#copies.get(hash)
    if (copy === undefined) return noteKeyUse(kv, hash, use, nowMs)
    const noted = withUse(copy.key, use, nowMs)
    if (noted === null) return
    copy.key = noted
    return copy.age() < JUST_READ_MS
      ? this.#store(hash, noted, copy.revocations)
      : noteKeyUse(kv, hash, use, nowMs)
  }

  /** As `noteKeyAhead`; null without the kv. */
  async noteAhead(hash: string, ahead: Parameters<typeof noteKeyAhead>[2]): Promise<number | null> {
    const { kv, now } = this.context
    // A use that is noted later must not store the copy, which lacks this note.
    this.#copies.delete(hash)
    const clockMs = await orUnavailable(noteKeyAhead(kv, hash, ahead, now()))
    return clockMs === 'unavailable' ? null : clockMs
  }

  /** @param revocations read before the key */
  #store(hash: string, key: KnownKey, revocations: Revocations): Promise<void> {
    return storeKnownKey(
      this.context.kv,
      hash,
      key,
      async () => (await this.#readRevocations()) === revocations,
    )
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
  #isFresh({ checkedMs }: KnownKey): boolean {
    return isRecent(checkedMs, this.context.now(), FRESH_MS) || this.#avoidsPostgres()
  }

  #avoidsPostgres(): boolean {
    return this.#sinceFailure() < AVOID_MS
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

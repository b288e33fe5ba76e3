/**
 * Keeps for a moment what is dear to read of one pilgrim: of thousands of pending points, or of late ones, which fold
 * their whole day again. A profile may be asked for as often as somebody likes.
 */
import type { Database } from '#shared/stores/db/db.ts'

/** After this time nothing of an erased person is held. */
const KEPT_MS = 10_000
const MAX_KEPT = 500

interface Kept<T> {
  /** What the statistics are made from. */
  readonly made: string
  readonly untilMs: number
  readonly value: Promise<T>
}

type Keep<T> = (db: Database, key: string, made: unknown, read: () => Promise<T>) => Promise<T>

/**
 * @returns a function that reads, or gives what was read for the same key (a user id, with what is asked of it) and
 * the same `made`: JSON that changes whenever the answer does
 */
export function createKeeper<T>(): Keep<T> {
  const keptOf = new WeakMap<Database, Map<string, Kept<T>>>()
  return (db, key, madeFrom, read) => {
    const kept = keptOf.get(db) ?? new Map<string, Kept<T>>()
    keptOf.set(db, kept)
    const nowMs = performance.now()
    // In order of expiry.
    for (const [oldest, { untilMs }] of kept) {
      if (untilMs > nowMs && kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
    const made = Bun.hash(JSON.stringify(madeFrom)).toString(36)
    const held = kept.get(key)
    if (held?.made === made) return held.value
    const fresh = { made, untilMs: nowMs + KEPT_MS, value: read() }
    kept.delete(key)
    kept.set(key, fresh)
    fresh.value.catch(() => {
      if (kept.get(key) === fresh) kept.delete(key)
    })
    return fresh.value
  }
}

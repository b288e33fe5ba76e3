/**
 * Keeps the statistics of pilgrims with late pending points for a moment. A late point folds its whole day again, which
 * reads all points of the day, while a profile may be asked for as often as somebody likes.
 */
import type { Database } from '#shared/db/db.ts'
import type { Asked, Stored } from './stored-pilgrims.ts'

/** After this time nothing of an erased person is held. */
const KEPT_MS = 10_000
const MAX_KEPT = 500

interface Kept<T> {
  /** What the statistics are made from. */
  readonly made: string
  readonly untilMs: number
  readonly value: Promise<T>
}

/** Every change of stored or pending points changes one of these. */
const madeFrom = ({ pending }: Asked, { sums, firstMs, lastMs, lastDay, known }: Stored): string =>
  Bun.hash(JSON.stringify([pending, sums, firstMs, lastMs, lastDay, known.size])).toString(36)

type Keep<T> = (db: Database, asked: Asked, stored: Stored, read: () => Promise<T>) => Promise<T>

/** @returns a function that reads a pilgrim, or gives what was read for the same stored and pending points */
export function createLateKeeper<T>(): Keep<T> {
  const keptOf = new WeakMap<Database, Map<string, Kept<T>>>()
  return (db, asked, stored, read) => {
    const kept = keptOf.get(db) ?? new Map<string, Kept<T>>()
    keptOf.set(db, kept)
    const nowMs = performance.now()
    // In order of expiry.
    for (const [userId, { untilMs }] of kept) {
      if (untilMs > nowMs && kept.size <= MAX_KEPT) break
      kept.delete(userId)
    }
    const made = madeFrom(asked, stored)
    const held = kept.get(asked.userId)
    if (held?.made === made) return held.value
    const fresh = { made, untilMs: nowMs + KEPT_MS, value: read() }
    kept.delete(asked.userId)
    kept.set(asked.userId, fresh)
    fresh.value.catch(() => {
      if (kept.get(asked.userId) === fresh) kept.delete(asked.userId)
    })
    return fresh.value
  }
}

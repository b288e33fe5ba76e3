/** What the kv's books say was admitted since the last look, by all replicas. */
import { time } from '#shared/contracts/fields.ts'
import type { Admitted, CountsSeen } from '#shared/contracts/stream.ts'
import type { PartitionCounters } from '#shared/kv/kv.ts'

/** A look at the books. */
export interface Look {
  readonly books: readonly PartitionCounters[]
  /** By `performance.now()`. */
  readonly atMs: number
}

const admittedOf = ({ admitted, checkins, duplicate }: PartitionCounters): Admitted => ({
  points: admitted,
  checkins,
  duplicates: duplicate,
})
const NOTHING: Admitted = { points: 0, checkins: 0, duplicates: 0 }

const combine = (a: Admitted, b: Admitted, sign: 1 | -1): Admitted => ({
  points: a.points + sign * b.points,
  checkins: a.checkins + sign * b.checkins,
  duplicates: a.duplicates + sign * b.duplicates,
})

/** @param before null at the first look, which tells totals only */
export function countsOf(before: Look | null, now: Look, nowMs: number): CountsSeen {
  let totals = NOTHING
  let fresh = NOTHING
  for (const [partition, books] of now.books.entries()) {
    const all = admittedOf(books)
    totals = combine(totals, all, 1)
    if (before === null) continue
    const last = before.books[partition]
    // A partition that was lost has begun anew, and so have its books.
    const known = last?.epoch === books.epoch ? admittedOf(last) : NOTHING
    fresh = combine(fresh, combine(all, known, -1), 1)
  }
  const seconds = before === null ? 0 : Math.round(now.atMs - before.atMs) / 1_000
  return { at: time(nowMs), seconds, ...fresh, totals }
}

/** Whether there is something to tell: a rate, or that it has come to rest. */
export const hasChanges = (before: CountsSeen | null, now: CountsSeen): boolean =>
  before === null || now.points + now.duplicates > 0 || before.points + before.duplicates > 0

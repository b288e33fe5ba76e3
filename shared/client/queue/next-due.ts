/** What the queue sends next, and when. */
import type { Counts, Kind, Wait, Waits } from './store.ts'
import { longestWait, msLeft } from './waits.ts'

export interface Due {
  readonly kind: Kind
  /** Epoch milliseconds. */
  readonly at: number
  /** Why something waits, or has waited without a success since. */
  readonly wait: Wait | undefined
}

export interface Moment {
  /** Epoch milliseconds. */
  readonly now: number
  /** Track points are sent at once when there are as many. */
  readonly full: number
  /** Epoch milliseconds until which fewer track points are collected. */
  readonly collectedAt: number
  /** Epoch milliseconds before which no attempt is worth it. */
  readonly notBefore: number
}

/** What is sent next; null when nothing waits. */
export function nextDue(counts: Counts, waits: Waits, moment: Moment): Due | null {
  const { now, full, collectedAt, notBefore } = moment
  const all = (['checkin', 'track', 'later'] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind): Due => {
      const wait = longestWait(waits, kind, now) ?? waits.all ?? waits[kind]
      const isCollected = kind !== 'track' || counts.track >= full
      const waited = wait === undefined ? 0 : Math.max(0, msLeft(wait, now))
      return { kind, wait, at: Math.max(now + waited, isCollected ? 0 : collectedAt, notBefore) }
    })
    // Of those that are due now, check-ins go first.
    .sort((a, b) => a.at - b.at)
  const [first] = all
  return first === undefined ? null : { ...first, wait: all.find(({ wait }) => wait !== undefined)?.wait }
}

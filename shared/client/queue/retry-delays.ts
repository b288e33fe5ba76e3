/**
 * What the queue does after a failure, how long it waits, and what it sends next. Waits are kept in the store, so that
 * a reload does not shorten them.
 */
import type { ClientError } from '../answer.ts'
import { backoffMs } from '../request-backoff.ts'
import { type Kind, KINDS, type QueuedPoint, type Wait, type Waits, type Counts } from './store.ts'
import type { Clock } from './clock-and-network.ts'

/** Failures that hold for their kind: of a rate limit, and of a service that fails at this request. Others hold for all. */
const laneOf = (kind: Kind, { status }: ClientError): Kind | 'all' =>
  status === 429 || status === 500 ? kind : 'all'

export function afterFailure(waits: Waits, kind: Kind, error: ClientError, clock: Clock): Waits {
  const lane = laneOf(kind, error)
  const before = waits[lane]?.failures ?? 0
  const ms = backoffMs(before, error.retryAfter, clock.random())
  const { code, message } = error
  return { ...waits, [lane]: { failures: before + 1, notBefore: clock.now() + ms, ms, code, message } }
}

/** Points of the future are tried again after so long at least, and at most: a clock may be set right meanwhile. */
const EARLY_MS = 60_000
const LONGEST_EARLY_MS = 3_600_000
export const AHEAD = 'The point lies in the future: the device has a wrong clock.'

/** The waits after points that lay in the future, oldest first: they wait alone. */
export function afterTooEarly(waits: Waits, [first]: readonly QueuedPoint[], nowMs: number): Waits {
  if (first === undefined) return waits
  const ms = Math.min(LONGEST_EARLY_MS, Math.max(EARLY_MS, first.t - nowMs))
  if (waits.later !== undefined && msLeft(waits.later, nowMs) <= ms) return waits
  const notBefore = nowMs + ms
  return { ...waits, later: { failures: 0, notBefore, ms, code: 'clock', message: AHEAD } }
}

/** The waits after a success: the other kinds keep their own. */
export function afterSuccess(waits: Waits, kind: Kind): Waits {
  const { all: _all, [kind]: _own, ...others } = waits
  return others
}

/** The waits when the network is back: what waited for it alone is due. Why it waited is shown until a success. */
export function afterReconnection(waits: Waits): Waits {
  const { all } = waits
  return all?.code === 'network' || all?.code === 'timeout'
    ? { ...waits, all: { ...all, failures: 0, notBefore: 0, ms: 0 } }
    : waits
}

/** The wait that ends last for a kind; undefined when nothing has to wait. */
function longestWait(waits: Waits, kind: Kind, nowMs: number): Wait | undefined {
  const open = [waits.all, waits[kind]].filter((wait) => wait !== undefined && msLeft(wait, nowMs) > 0)
  return open.sort((a, b) => msLeft(b!, nowMs) - msLeft(a!, nowMs))[0]
}

/** A clock goes back by so much when it is corrected, also an app's own that follows the service's. */
const CORRECTION_MS = 180_000

/** Milliseconds that a wait has left. One that seems far longer than it was made ends: the clock was set back. */
function msLeft({ notBefore, ms }: Wait, nowMs: number): number {
  const left = notBefore - nowMs
  return left > ms + CORRECTION_MS ? 0 : left
}

/**
 * - `wait`: keep the points, and send them again after a while.
 * - `refuse`: the service never takes one of them, or they are too large together.
 * - `stop`: keep the points and send nothing until the app says so.
 */
type Judgement = 'wait' | 'refuse' | 'stop'

const STOPS = new Set<string>(['forbidden', 'ended', 'erased', 'conflict', 'not-found', 'method-not-allowed'])

export function judgeFailure({ code, status }: ClientError): Judgement {
  // A proxy may refuse a large body without the service's code.
  if (code === 'invalid-request' || status === 413) return 'refuse'
  // "paused" and "unauthorized" end when the operators or the pilgrim act, "unexpected" when the network's sign-in
  // does.
  return STOPS.has(code) ? 'stop' : 'wait'
}

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
  const all = KINDS.filter((kind) => counts[kind] > 0)
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

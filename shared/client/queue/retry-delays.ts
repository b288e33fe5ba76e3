/**
 * What the queue does after a failure, how long it waits, and what it sends next. Waits are stored, so that a reload
 * does not shorten them.
 */
import type { ClientError } from '../answer.ts'
import { backoffMs } from '../request-backoff.ts'
import {
  type AddedKind,
  type AddedKinds,
  isPointKind,
  type QueuedPoint,
  type Wait,
  type Waits,
} from './store.ts'
import type { Clock } from './clock-and-network.ts'

/** Codes that concern only check-ins and points, or only one kind of the app. */
const OF_KIND = new Set<string>([
  'paused',
  'ended',
  'forbidden',
  'conflict',
  'not-found',
  'method-not-allowed',
])

/**
 * The lane that a failure blocks. A rate limit, a service error at this request, and failures of an urgent kind block
 * only that kind; others block all.
 */
export function laneOf(kind: string, { status, code }: ClientError, isUrgent = false): string {
  if (isUrgent || status === 429 || status === 500) return kind
  if (!OF_KIND.has(code)) return 'all'
  return isPointKind(kind) ? 'points' : kind
}

/** The lanes in which a kind waits. */
export const lanesOf = (kind: string, isUrgent = false): readonly string[] =>
  isUrgent ? [kind] : isPointKind(kind) ? ['all', 'points', kind] : ['all', kind]

export function afterFailure(waits: Waits, lane: string, error: ClientError, clock: Clock): Waits {
  const before = waits[lane]?.failures ?? 0
  const ms = backoffMs(before, error.retryAfter, clock.random())
  const { code, message } = error
  return { ...waits, [lane]: { failures: before + 1, notBefore: clock.now() + ms, ms, code, message } }
}

/** Shortest and longest wait before points in the future are retried: a clock may be corrected meanwhile. */
const EARLY_MS = 60_000
const LONGEST_EARLY_MS = 3_600_000
export const AHEAD = 'The point lies in the future: the device has a wrong clock.'

/** The waits after points in the future, oldest first: they wait separately. */
export function afterTooEarly(waits: Waits, [first]: readonly QueuedPoint[], nowMs: number): Waits {
  if (first === undefined) return waits
  const ms = Math.min(LONGEST_EARLY_MS, Math.max(EARLY_MS, first.t - nowMs))
  if (waits.later !== undefined && msLeft(waits.later, nowMs) <= ms) return waits
  const notBefore = nowMs + ms
  return { ...waits, later: { failures: 0, notBefore, ms, code: 'clock', message: AHEAD } }
}

/** The waits after a success: the other kinds keep theirs. */
export const afterSuccess = (waits: Waits, kind: string): Waits =>
  Object.fromEntries(Object.entries(waits).filter(([lane]) => !lanesOf(kind).includes(lane)))

/** Connection failures: an answer of the service to any other request ends their wait. */
const OF_THE_WAY = new Set<string>(['network', 'timeout', 'unexpected'])

/** The waits when the network is back: entries that waited only for it are due. The reason is shown until a success. */
export function afterReconnection(waits: Waits): Waits {
  const { all } = waits
  return all !== undefined && OF_THE_WAY.has(all.code)
    ? { ...waits, all: { ...all, failures: 0, notBefore: 0, ms: 0 } }
    : waits
}

/** Codes for which a smaller request would not help, because nothing was answered. */
const UNANSWERED = new Set<string>(['network', 'timeout'])

/** Whether the last answer to this kind was a temporary refusal: the next attempt sends one entry, not a batch. */
export const isProbing = (waits: Waits, kind: string): boolean =>
  lanesOf(kind).some((lane) => {
    const wait = waits[lane]
    return wait !== undefined && !UNANSWERED.has(wait.code) && !REFUSES.has(wait.code)
  })

/** The wait that ends last; undefined when nothing has to wait. */
function longestWait(waits: readonly Wait[], nowMs: number): Wait | undefined {
  const open = waits.filter((wait) => msLeft(wait, nowMs) > 0)
  return open.sort((a, b) => msLeft(b, nowMs) - msLeft(a, nowMs))[0]
}

/** Maximum correction of a clock, including an app's own that follows the service's. */
const CORRECTION_MS = 180_000

/** Milliseconds that a wait has left. Returns 0 if more is left than the wait ever had: the clock was set back. */
function msLeft({ notBefore, ms }: Wait, nowMs: number): number {
  const left = notBefore - nowMs
  return left > ms + CORRECTION_MS ? 0 : left
}

/**
 * - `wait`: keep the points, and send them again after a while.
 * - `refuse`: the service will never accept one of them, or they are too large together.
 * - `stop`: keep the points and send nothing until the app calls `resume`.
 */
type Judgement = 'wait' | 'refuse' | 'stop'

const REFUSES = new Set<string>(['invalid-request', 'too-large'])
const STOPS = new Set<string>(['forbidden', 'ended', 'erased', 'conflict', 'not-found', 'method-not-allowed'])

/** @param added kind of an entry that is not a point: the end of the event is final for it */
export function judgeFailure({ code, status }: ClientError, added?: Pick<AddedKind, 'final'>): Judgement {
  // A proxy may reject a large body without the service's code.
  if (code === 'invalid-request' || status === 413) return 'refuse'
  if (added?.final?.includes(code)) return 'refuse'
  if (added !== undefined) return code === 'ended' ? 'refuse' : code === 'erased' ? 'stop' : 'wait'
  // "paused" and "unauthorized" end when the operators or the pilgrim act, "unexpected" when the network's sign-in
  // does.
  return STOPS.has(code) ? 'stop' : 'wait'
}

export interface Due {
  readonly kind: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Why entries wait, or have waited without a success since. */
  readonly wait: Wait | undefined
}

export interface Moment {
  /** Epoch milliseconds. */
  readonly now: number
  /** Number of track points at which they are sent at once. */
  readonly full: number
  /** Epoch milliseconds until which fewer track points are collected. */
  readonly collectedAt: number
  /** Epoch milliseconds before which an attempt is pointless. */
  readonly notBefore: number
}

/** The next request; null when nothing waits. @param counts of the kinds that may be sent, in their order */
export function nextDue(
  counts: Readonly<Record<string, number>>,
  waits: Waits,
  moment: Moment,
  added: AddedKinds = {},
): Due | null {
  const { now, full, collectedAt, notBefore } = moment
  const all = Object.keys(counts)
    .filter((kind) => counts[kind]! > 0)
    .map((kind): Due => {
      const own = lanesOf(kind, added[kind]?.urgent).flatMap((lane) => waits[lane] ?? [])
      const wait = longestWait(own, now) ?? own[0]
      const isCollected = kind !== 'track' || counts[kind]! >= full
      const waited = wait === undefined ? 0 : Math.max(0, msLeft(wait, now))
      return { kind, wait, at: Math.max(now + waited, isCollected ? 0 : collectedAt, notBefore) }
    })
    // Among kinds due now, the first one wins.
    .sort((a, b) => a.at - b.at)
  const [first] = all
  return first === undefined ? null : { ...first, wait: all.find(({ wait }) => wait !== undefined)?.wait }
}

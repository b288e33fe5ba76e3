/** How long the queue waits after failures, kept in the store so that a reload does not shorten it. */
import type { ClientError } from '../answer.ts'
import { backoffMs } from '../backoff.ts'
import type { Clock } from './surroundings.ts'
import type { Kind, QueuedPoint, Wait, Waits } from './store.ts'

/** A refusal by a rate limit holds for its kind, every other failure for all. */
const laneOf = (kind: Kind, { code }: ClientError): Kind | 'all' => (code === 'rate-limited' ? kind : 'all')

/** The waits after a failure. */
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

/** The waits after points that lay in the future, oldest first: they wait alone. */
export function afterTooEarly(waits: Waits, [first]: readonly QueuedPoint[], nowMs: number): Waits {
  if (first === undefined) return waits
  const ms = Math.min(LONGEST_EARLY_MS, Math.max(EARLY_MS, first.t - nowMs))
  if (waits.later !== undefined && msLeft(waits.later, nowMs) <= ms) return waits
  const message = 'The time of points lies in the future: a clock is wrong.'
  return { ...waits, later: { failures: 0, notBefore: nowMs + ms, ms, code: 'clock', message } }
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
export function longestWait(waits: Waits, kind: Kind, nowMs: number): Wait | undefined {
  const open = [waits.all, waits[kind]].filter((wait) => wait !== undefined && msLeft(wait, nowMs) > 0)
  return open.sort((a, b) => msLeft(b!, nowMs) - msLeft(a!, nowMs))[0]
}

/** Milliseconds that a wait has left. One that seems longer than it was made ends: the clock was set back. */
export function msLeft({ notBefore, ms }: Wait, nowMs: number): number {
  const left = notBefore - nowMs
  return left > ms ? 0 : left
}

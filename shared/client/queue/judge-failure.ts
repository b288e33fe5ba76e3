/** What the queue does after a failure: the table "Errors" of the contracts, as code. */
import type { ClientError } from '../answer.ts'

/**
 * - `wait`: keep the points, and send them again after a while.
 * - `smaller`: send fewer points at once, to get around a slow network, or to find the one that is refused.
 * - `reject`: the service will never take this point.
 * - `stop`: keep the points and send nothing until the app says so.
 */
export type Judgement = 'wait' | 'smaller' | 'reject' | 'stop'

const STOPS = new Set<string>(['forbidden', 'ended', 'erased', 'conflict', 'not-found', 'method-not-allowed'])
const REFUSES = new Set<string>(['invalid-request', 'too-large'])

/** @param count the number of points in the request that failed */
export function judgeFailure({ code, status }: ClientError, count: number): Judgement {
  // A proxy may refuse a large body without the service's code.
  if (REFUSES.has(code) || status === 413) return count > 1 ? 'smaller' : 'reject'
  // "paused" and "unauthorized" end when the operators or the pilgrim act, "unexpected" when the network's sign-in does.
  return STOPS.has(code) ? 'stop' : 'wait'
}

/**
 * Rules for times: how a clock that is changed while offline is corrected, and which positions are current.
 */

/** Smaller differences are network delay. */
export const CLOCK_TOLERANCE_MS = 120_000

export interface Clock {
  /** By how much the device's clock is ahead of the service's, in milliseconds. */
  readonly aheadMs: number
  /** How far the clock was set ahead, or the phone slept, since the last comparison with the service. */
  readonly spareMs: number
}

/**
 * The clock after a jump. Sleep looks like a clock that was set ahead, so only jumps that sleep does not
 * explain are applied: a wrong clock that is now right, and a clock set back further than it was set ahead
 * before.
 */
export function clockAfterJump({ aheadMs, spareMs }: Clock, jumpMs: number): Clock {
  const next = aheadMs + jumpMs
  const wasWrong = Math.abs(aheadMs) >= CLOCK_TOLERANCE_MS
  if (wasWrong && Math.abs(next) < CLOCK_TOLERANCE_MS) return { aheadMs: next, spareMs: 0 }
  if (jumpMs > 0) return { aheadMs, spareMs: spareMs + jumpMs }
  if (wasWrong && Math.abs(next) < aheadMs) return { aheadMs: next, spareMs }
  const undoneMs = Math.min(spareMs, -jumpMs)
  return { aheadMs: next + undoneMs, spareMs: spareMs - undoneMs }
}

/** A position's time by the device, in epoch milliseconds, and its age on arrival. */
export interface Stamp {
  readonly timestamp: number
  readonly ageMs: number
}

/** Tolerance within which two positions come from the same wrong clock, ms. */
const SAME_AGE_MS = 20_000

/**
 * The age of a position; null if it is old. The device takes its time from its own clock or from satellites.
 * @param aheadMs known lead of the device's clock; 0: it is right
 * @param doubted the last position that looked old: if newer ones look equally old, the clock is wrong
 */
export function ageOfPosition(given: Stamp, aheadMs: number, doubted: Stamp | null): number | null {
  const ages = [given.ageMs, given.ageMs - aheadMs].sort((a, b) => Math.abs(a) - Math.abs(b))
  if (ages[0]! <= CLOCK_TOLERANCE_MS) return Math.max(0, ages[0]!)
  const isClock =
    doubted !== null &&
    given.timestamp > doubted.timestamp &&
    Math.abs(given.ageMs - doubted.ageMs) < SAME_AGE_MS
  return isClock ? 0 : null
}

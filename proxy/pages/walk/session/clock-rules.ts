/** What the app believes of times: those of a clock that is set while there is no network, and those of positions. */

/** A difference below this is a slow network. */
export const CLOCK_TOLERANCE_MS = 120_000

export interface Clock {
  /** By how much the device's clock is ahead of the service's, in milliseconds. */
  readonly aheadMs: number
  /** By how much it was set ahead, or the phone slept, since the service told its time. */
  readonly spareMs: number
}

/**
 * The clock after it has jumped. Sleep looks like a clock that was set ahead, so only what sleep does not explain is
 * believed: a wrong clock that is right now, and a clock that was set back further than it was set ahead before.
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

/** A position's time by the device, in epoch milliseconds, and its age at its arrival. */
export interface Stamp {
  readonly timestamp: number
  readonly ageMs: number
}

/** Between two positions of a clock that is wrong by the same, ms. */
const SAME_AGE_MS = 20_000

/**
 * The age of a position; null where it is old. The device tells its time by its own clock or by that of satellites.
 * @param aheadMs by how much the device's clock is known to be ahead; 0: it is right
 * @param doubted the last position that seemed old: where newer ones seem as old, the clock is wrong
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

/** A sliding window as its caller observes it. */

export const WINDOW_MS = 300
/** Timeout for filling some windows on a busy machine. */
export const TIMEOUT_MS = 20_000

/** A call that was let through, at some time between the two (milliseconds of `performance.now`). */
export interface Passed {
  readonly sent: number
  readonly answered: number
}

/** How many calls the store may have let through since then; its clock has whole milliseconds. */
export const passedSince = (passed: readonly Passed[], sinceMs: number): number =>
  passed.filter(({ answered }) => answered > sinceMs - 1).length

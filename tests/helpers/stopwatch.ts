/** A stopwatch that a test advances. */
import type { StartStopwatch } from '#shared/runtime/clock.ts'

/** Starts stopwatches that follow the test's own clock. */
export const stopwatchBy =
  (now: () => number): StartStopwatch =>
  () => {
    const startedMs = now()
    return () => now() - startedMs
  }

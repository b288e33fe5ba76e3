/**
 * Which clock serves what. Any clock may be set forward or back at any moment.
 *
 * - Age, timeout, lifetime in memory: a stopwatch. It is monotonic, and no number that could be mixed with a date.
 * - Date that people read, or that is stored: `ServiceContext.now`, the clock of the machine.
 * - Order of changes: numbers that the store gives out (ids of rows, `stores/kv/lua/next-change.lua`), never dates.
 * - Age of a stored date: `isRecent`. A date in the future is the mistake of a clock, and not recent for ever.
 */

/** The clock of this machine, epoch milliseconds: for programs, which pass it on, and for the ages of files. */
export const machineNow = (): number => Date.now()

/** Milliseconds since a stopwatch was started, monotonic. */
export type Elapsed = () => number

/** Starts a stopwatch. */
export type StartStopwatch = () => Elapsed

export const stopwatch: StartStopwatch = () => {
  const startedMs = performance.now()
  return () => performance.now() - startedMs
}

/** A stopwatch of something that has not happened yet. */
export const never: Elapsed = () => Infinity

/**
 * Whether a stored date is within a span of now, before or after it.
 * @param atMs epoch milliseconds
 * @param spanMs milliseconds
 */
export const isRecent = (atMs: number, nowMs: number, spanMs: number): boolean =>
  Math.abs(nowMs - atMs) < spanMs

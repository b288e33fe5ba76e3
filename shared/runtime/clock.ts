/**
 * Which clock serves what. Any clock may be set forward or back at any moment.
 *
 * - Age, timeout, lifetime in memory: a stopwatch. It is monotonic, and no number that could be mixed with a date. Within
 *   one function, and where a name or comment says so, `performance.now()` does.
 * - Date that people read, or that is stored, and whether an agreed date has come: `MachineClock`, also in SQL, which gets
 *   it as a parameter. What cannot be undone, such as a reset, waits for the later of the machine and the database.
 * - What several processes compare or schedule: the clock of their store, `clock()` of the kv (`kvMs`) or `now()` of
 *   Postgres. `nowMs` without another word is the machine's.
 * - Order of changes: numbers that the store gives out (ids of rows, `stores/kv/lua/next-change.lua`), never dates. Points
 *   are the exception: a replica dates them by its own clock (`receivedMs`), and one that comes out of order counts as late.
 * - Age of a stored date: `isRecent`. A date in the future is the mistake of a clock, and not recent for ever. A query that
 *   looks back may take it for recent, where that only repeats work.
 * - A phone has its own rules: `client/queue/clock-and-network.ts`.
 */

/** The clock of the machine on which a process runs, epoch milliseconds. A test may pass another one. */
export type MachineClock = () => number

/** For programs, which pass it on, for drivers that are a store themselves, and for the ages of files (by `isRecent`). */
export const machineNow: MachineClock = () => Date.now()

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

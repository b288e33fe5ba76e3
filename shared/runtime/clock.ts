/**
 * Which clock is used for what. Any clock may be set forward or back at any moment.
 *
 * - Ages, timeouts and lifetimes in memory: a stopwatch. It is monotonic, and its type cannot be mixed up
 * with a date. Within one function, and where a name or comment says so, `performance.now()` is enough.
 * - Dates that people read or that are stored, and whether an agreed date has come: `MachineClock`, also in
 * SQL, where it is a parameter. What cannot be undone, such as a reset, waits for the later of the machine's
 * and the database's clock.
 * - What several processes compare or schedule: the clock of their store, `clock()` of the kv (`kvMs`) or
 * `now()` of Postgres. A plain `nowMs` is the machine's.
 * - Order of changes: numbers issued by the store (ids of rows, `stores/kv/lua/next-change.lua`), never
 * dates. Points are the exception: a replica dates them by its own clock (`receivedMs`), and a point out of
 * order counts as late.
 * - Age of a stored date: `isRecent`. A date in the future comes from a wrong clock and must not count as
 * recent for ever. A query over the past may treat it as recent where that only repeats work.
 * - Phones have their own rules: `client/queue/clock-and-network.ts`.
 */

/** Clock of the machine on which a process runs, epoch milliseconds. A test may pass another one. */
export type MachineClock = () => number

/**
 * For programs, which pass it on; for drivers that are themselves a store; and for the ages of files (with
 * `isRecent`).
 */
export const machineNow: MachineClock = () => Date.now()

/** Milliseconds since a stopwatch was started, monotonic. */
export type Elapsed = () => number

/** Starts a stopwatch. */
export type StartStopwatch = () => Elapsed

export const stopwatch: StartStopwatch = () => {
  const startedMs = performance.now()
  return () => performance.now() - startedMs
}

/** A stopwatch for an event that has not happened yet. */
export const never: Elapsed = () => Infinity

/**
 * Whether a stored date is within a span of now, before or after it.
 * @param atMs epoch milliseconds
 * @param spanMs milliseconds
 */
export const isRecent = (atMs: number, nowMs: number, spanMs: number): boolean =>
  Math.abs(nowMs - atMs) < spanMs

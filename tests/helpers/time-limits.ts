/**
 * Limits of tests, hooks and waits. They are written for a quiet machine with two processors. `bun run test` measures
 * at its start how much slower this machine is, and extends every limit by that factor.
 */

/** Default limit of a test (ms). */
export const TEST_MS = 90_000
/** Default limit of a hook (ms): a set-up starts servers and pages while other files do the same. */
export const SET_UP_MS = 120_000

/** Beyond this factor a longer limit only delays the report of a test that hangs. */
const MOST_SLOWNESS = 8
/** Processes that compute at the same time: the concurrency of a run. */
const PROCESSES = 4
/** Computes for 0.3 s on a quiet processor. */
const WORK = `
  const hash = new Bun.CryptoHasher('sha256')
  const megabyte = new Uint8Array(1_000_000)
  for (let i = 0; i < 400; i++) hash.update(megabyte)`
/** Time of all processes on a quiet machine with two processors (ms). */
const QUIET_MS = 900

/** How much slower than a quiet machine this one is; at least 1. */
const slowness = Number(process.env.TEST_SLOWNESS ?? 1)

/** Extends a limit that suits a quiet machine to the speed of this one (ms). */
export const slower = (ms: number): number => Math.round(ms * slowness)

/** Measures how much slower than a quiet machine this one is now, from 1 to 8. */
export async function measureSlowness(): Promise<number> {
  const startedMs = performance.now()
  const command = [process.execPath, '--eval', WORK]
  await Promise.all(Array.from({ length: PROCESSES }, () => Bun.spawn(command, { env: {} }).exited))
  return Math.min(MOST_SLOWNESS, Math.max(1, (performance.now() - startedMs) / QUIET_MS))
}

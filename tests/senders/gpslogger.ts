/**
 * GPSLogger's network behaviour: mendhak/gpslogger at 32994bf (2026-07-18), CustomUrlWorker.java,
 * Systems.java and CustomUrlManager.java. Each point is its own job. The jobs wait for a network and then
 * start together.
 */
import type { Sent } from '#tests/tracking/tracker-bodies.ts'
import { SECOND_MS, type Simulation } from './simulation.ts'

/** Delays of the exponential backoff. After the last one the app drops the job. */
export const RETRY_MS = [30 * SECOND_MS, 60 * SECOND_MS, 120 * SECOND_MS]

/**
 * Sends the jobs that waited for the network, all at once.
 * @returns the jobs that the app has dropped so far
 */
export function sendJobs({ time, send }: Simulation, key: string, jobs: readonly Sent[]): Sent[] {
  const forgotten: Sent[] = []
  const attempt = async (job: Sent, retries: number): Promise<void> => {
    const { ok } = await send(key, job)
    if (ok) return
    const delayMs = RETRY_MS[retries]
    if (delayMs === undefined) forgotten.push(job)
    else time.after(delayMs, () => attempt(job, retries + 1))
  }
  for (const job of jobs) time.after(0, () => attempt(job, 0))
  return forgotten
}

/**
 * Sends a CSV file by "auto send": one job with a request for each point. It stops at the first response that
 * is not a success, and each retry starts with the first point again.
 * @returns the requests that succeeded, by attempt so far
 */
export function sendFile({ time, send }: Simulation, key: string, points: readonly Sent[]): number[] {
  const attempts: number[] = []
  const attempt = async (retries: number): Promise<void> => {
    const at = attempts.push(0) - 1
    for (const point of points) {
      const { ok } = await send(key, point)
      if (!ok) {
        if (RETRY_MS[retries] !== undefined) time.after(RETRY_MS[retries], () => attempt(retries + 1))
        return
      }
      attempts[at]!++
    }
  }
  time.after(0, () => attempt(0))
  return attempts
}

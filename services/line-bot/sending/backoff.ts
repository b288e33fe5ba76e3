/** The wait before a message is sent again. */
const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 60_000

/** Exponential back-off from 1 s to 60 s with 50 % jitter, so that calls are not retried together. */
export function backoffMs(attempts: number, random: () => number = Math.random): number {
  const full = Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, attempts - 1), MAX_BACKOFF_MS)
  return full * (0.5 + random() / 2)
}

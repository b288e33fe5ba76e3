/** Measures how long the event loop of this process stands still at most. */

/** A stall that is shorter than this beyond a tick is not seen. */
const TICK_MS = 20

/** Starts measuring. @returns the longest stall since the last call, in seconds; the timer keeps no process alive */
export function measureStalls(now: () => number = () => performance.now()): () => number {
  let longestMs = 0
  let lastMs = now()
  const look = (): void => {
    const nowMs = now()
    longestMs = Math.max(longestMs, nowMs - lastMs - TICK_MS)
    lastMs = nowMs
  }
  setInterval(look, TICK_MS).unref()
  return () => {
    look()
    const seconds = longestMs / 1_000
    longestMs = 0
    return seconds
  }
}

/** Sends requests at a steady rate, independent of the latency, and measures the latency. */

export interface Measured {
  readonly requests: number
  /** Requests without a success response. */
  readonly failures: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Steady {
  /** The figures since the last call. */
  take(): Measured
  /** Resolves when all requests are answered. */
  stop(): Promise<void>
}

const TICK_MS = 10

/** @param part such as 0.99 */
export const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

/** @param ask sends the n-th request; resolves to whether it succeeded */
export function startSteady(ratePerS: number, ask: (n: number) => Promise<boolean>): Steady {
  let times: number[] = []
  let failures = 0
  let sent = 0
  const startedMs = performance.now()
  const underWay = new Set<Promise<void>>()
  const one = async (n: number): Promise<void> => {
    const beganMs = performance.now()
    const succeeded = await ask(n).catch(() => false)
    times.push(performance.now() - beganMs)
    if (!succeeded) failures++
  }
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * ratePerS)
    while (sent < due) {
      const asking: Promise<void> = one(sent++).finally(() => underWay.delete(asking))
      underWay.add(asking)
    }
  }, TICK_MS)
  return {
    take() {
      const sorted = times.sort((a, b) => a - b)
      const measured = {
        requests: sorted.length,
        failures,
        p50Ms: percentile(sorted, 0.5),
        p99Ms: percentile(sorted, 0.99),
      }
      times = []
      failures = 0
      return measured
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

/** Enough pilgrims for no rate limit (five check-ins a minute) at some thousands of requests per second. */
const PILGRIMS = 100_000
/** Points in one request of a phone that was offline. */
const BATCH = 20
const MINUTE_MS = 60_000

type Fetch = (path: string, init?: RequestInit) => Promise<Response>

/** Nine check-ins, then a track of twenty points; each pilgrim's next request comes after {@link PILGRIMS} others. */
export function walking(fetch: Fetch): (n: number) => Promise<boolean> {
  const startedMs = Date.now()
  return async (n) => {
    const user_id = `soak-${n % PILGRIMS}`
    const place = { lat: 23.5 + (n % 997) / 1_000, lng: 120.5 + (n % 89) / 100 }
    const timestamp = startedMs - 120 * MINUTE_MS + n
    const isTrack = n % 10 === 9
    const points = Array.from({ length: BATCH }, (_, i) => ({
      ...place,
      lat: place.lat + i / 2_000,
      timestamp: timestamp - i * MINUTE_MS,
    }))
    const body = isTrack ? { user_id, points } : { user_id, ...place, timestamp }
    const response = await fetch(isTrack ? '/api/event/track/sync' : '/api/event/checkin', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.arrayBuffer()
    return response.ok
  }
}

/**
 * A histogram of requests by route, method and status. prom-client builds a lookup key from the labels for each
 * observation, which takes longer than the validation of a check-in.
 */

const BUCKETS_S = [0.001, 0.005, 0.02, 0.1, 0.25, 1, 5]

interface Series {
  readonly labels: string
  /** Number of requests per bucket, not cumulative; the last bucket is +Inf. */
  readonly counts: number[]
  sum: number
}

export interface Durations {
  observe(route: string, method: string, status: number, seconds: number): void
  /** The histogram in the Prometheus text format. */
  text(): string
}

export function createDurations(name: string, help: string, service: string): Durations {
  const byRequest = new Map<string, Series>()
  return {
    observe(route, method, status, seconds) {
      const key = `${route} ${method} ${status}`
      let series = byRequest.get(key)
      if (series === undefined) {
        const labels = `service="${service}",route="${route}",method="${method}",status="${status}"`
        series = { labels, counts: Array.from({ length: BUCKETS_S.length + 1 }, () => 0), sum: 0 }
        byRequest.set(key, series)
      }
      let bucket = 0
      while (bucket < BUCKETS_S.length && seconds > BUCKETS_S[bucket]!) bucket++
      series.counts[bucket]!++
      series.sum += seconds
    },
    text() {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
      for (const { labels, counts, sum } of byRequest.values()) {
        let count = 0
        for (const [i, bound] of [...BUCKETS_S, '+Inf'].entries()) {
          count += counts[i]!
          lines.push(`${name}_bucket{le="${bound}",${labels}} ${count}`)
        }
        lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`)
      }
      return `${lines.join('\n')}\n`
    },
  }
}

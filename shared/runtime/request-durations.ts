/**
 * A histogram of requests by route, method and status. prom-client looks its labels up by a text that it makes anew
 * for each observation, which takes longer than a check-in's validation.
 */

const BUCKETS_S = [0.001, 0.005, 0.02, 0.1, 0.25, 1, 5]

interface Series {
  readonly labels: string
  /** Requests per bucket, each counted once; the last one takes all that were slower. */
  readonly counts: number[]
  sum: number
}

export interface Durations {
  observe(route: string, method: string, status: number, seconds: number): void
  /** In the Prometheus text format. */
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

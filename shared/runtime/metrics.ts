/** Metrics of one service, in the Prometheus text format. */
import { Counter, Gauge, Registry } from 'prom-client'

export interface Metrics {
  /** Counts an answered request. @param seconds duration */
  request(route: string, method: string, status: number, seconds: number): void
  /** Increments a counter with labels; the first call creates it. */
  count(name: string, help: string, labels?: Record<string, string>, by?: number): void
  /** Adds a gauge whose value is read at each scrape. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void
  /** Adds a gauge with a label; all its values are read together at each scrape. */
  figures(name: string, help: string, label: string, read: () => Figures | Promise<Figures>): void
  /** The content of `/metrics`. */
  page(): Promise<string>
}

type Figures = Readonly<Record<string, number>>

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  const requests = createDurations(
    'event_http_request_duration_seconds',
    'Duration of requests, by route and status',
    service,
  )
  const counters = new Map<string, Counter>()
  const longestStall = measureStalls()
  addGauge(
    registry,
    'event_loop_stall_seconds',
    'Longest time that the event loop stood still since the last scrape',
    [],
    async (gauge) => gauge.set(longestStall()),
  )
  return {
    request(route, method, status, seconds) {
      requests.observe(route, method, status, seconds)
    },
    count(name, help, labels = {}, by = 1) {
      let counter = counters.get(name)
      if (counter === undefined) {
        counter = new Counter({ name, help, labelNames: Object.keys(labels), registers: [registry] })
        counters.set(name, counter)
      }
      counter.inc(labels, by)
    },
    gauge(name, help, read) {
      addGauge(registry, name, help, [], async (gauge) => gauge.set(await read()))
    },
    figures(name, help, label, read) {
      addGauge(registry, name, help, [label], async (gauge) => {
        for (const [value, figure] of Object.entries(await read())) gauge.set({ [label]: value }, figure)
      })
    },
    page: async () => `${await registry.metrics()}\n${requests.text()}`,
  }
}

/** Adds a gauge that is set at each scrape. A value that cannot be read is omitted and does not fail the scrape. */
function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  set: (gauge: Gauge) => Promise<void>,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset()
      await set(this).catch(() => (labelNames.length === 0 ? this.set(Number.NaN) : undefined))
    },
  })
}

// A histogram of requests by route, method and status. prom-client builds a lookup key from the labels for each
// observation, which takes longer than the validation of a check-in.

const BUCKETS_S = [0.001, 0.005, 0.02, 0.1, 0.25, 1, 5]

interface Series {
  readonly labels: string
  /** Number of requests per bucket, not cumulative; the last bucket is +Inf. */
  readonly counts: number[]
  sum: number
}

interface Durations {
  observe(route: string, method: string, status: number, seconds: number): void
  /** The histogram in the Prometheus text format. */
  text(): string
}

function createDurations(name: string, help: string, service: string): Durations {
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

// Measures how long the event loop of this process stands still at most.

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

/** Metrics of one service, in the Prometheus text format. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { within } from './deadline.ts'
import { type Labels, METRICS, type MetricName } from './metric-table.ts'

export interface Metrics {
  /** Counts an answered request. @param seconds duration */
  request(route: string, method: string, status: number, seconds: number): void
  /** Increments a counter; the first call creates it. */
  count<N extends MetricName<'counter'>>(name: N, labels: Labels<N>, by?: number): void
  /** Records a value in a histogram; the first call creates it. */
  observe(name: MetricName<'histogram'>, value: number): void
  /** Adds a gauge whose value is read at each scrape. */
  gauge(name: MetricName<'gauge'>, read: () => number | Promise<number>): void
  /** Adds a gauge with a label; all its values are read together at each scrape. */
  figures(name: MetricName<'gauge'>, read: () => Figures | Promise<Figures>): void
  /** The content of `/metrics`. */
  page(): Promise<string>
}

type Figures = Readonly<Record<string, number>>

/** A store that hangs does not hold up a scrape. */
const READ_MS = 3_000

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  const requests = createDurations('event_http_request_duration_seconds', service)
  const optionsOf = (name: MetricName) => ({
    name,
    help: METRICS[name].help,
    labelNames: [...METRICS[name].labels],
    registers: [registry],
  })
  const counters = new Map<MetricName, Counter>()
  const histograms = new Map<MetricName, Histogram>()
  const longestStall = measureStalls()
  /** A second gauge with the same name replaces the first. */
  const addGauge = (name: MetricName, set: (gauge: Gauge) => Promise<void>): void => {
    const options = optionsOf(name)
    registry.removeSingleMetric(name)
    new Gauge({
      ...options,
      // A value that cannot be read is omitted and does not fail the scrape.
      async collect() {
        this.reset()
        const omit = (): void => (options.labelNames.length === 0 ? this.set(Number.NaN) : undefined)
        await within(set(this), READ_MS, omit).catch(omit)
      },
    })
  }
  const metrics: Metrics = {
    request(route, method, status, seconds) {
      requests.observe(route, method, status, seconds)
    },
    count(name, labels, by = 1) {
      counters.getOrInsertComputed(name, () => new Counter(optionsOf(name))).inc(labels, by)
    },
    observe(name, value) {
      const made = () => new Histogram({ ...optionsOf(name), buckets: [...METRICS[name].buckets] })
      histograms.getOrInsertComputed(name, made).observe(value)
    },
    gauge(name, read) {
      addGauge(name, async (gauge) => gauge.set(await read()))
    },
    figures(name, read) {
      const [label] = METRICS[name].labels
      addGauge(name, async (gauge) => {
        for (const [value, figure] of Object.entries(await read())) gauge.set({ [label!]: value }, figure)
      })
    },
    page: async () => `${await registry.metrics()}\n${requests.text()}`,
  }
  metrics.gauge('event_loop_stall_seconds', longestStall)
  return metrics
}

// A histogram of requests by route, method and status. prom-client builds a lookup key from the labels for each
// observation, which takes longer than the validation of a check-in.

interface Series {
  readonly labels: string
  /** Number of requests per bucket, not cumulative; the last bucket is +Inf. */
  readonly counts: number[]
  sum: number
}

function createDurations(name: 'event_http_request_duration_seconds', service: string) {
  const { help, buckets } = METRICS[name]
  const byRequest = new Map<string, Series>()
  return {
    observe(route: string, method: string, status: number, seconds: number): void {
      const key = `${route} ${method} ${status}`
      let series = byRequest.get(key)
      if (series === undefined) {
        const labels = `service="${service}",route="${route}",method="${method}",status="${status}"`
        series = { labels, counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 }
        byRequest.set(key, series)
      }
      let bucket = 0
      while (bucket < buckets.length && seconds > buckets[bucket]!) bucket++
      series.counts[bucket]!++
      series.sum += seconds
    },
    /** The histogram in the Prometheus text format. */
    text(): string {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
      for (const { labels, counts, sum } of byRequest.values()) {
        let count = 0
        for (const [i, bound] of [...buckets, '+Inf'].entries()) {
          count += counts[i]!
          lines.push(`${name}_bucket{le="${bound}",${labels}} ${count}`)
        }
        lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`)
      }
      return `${lines.join('\n')}\n`
    },
  }
}

/** Interval of the ticks. A stall shorter than that may go undetected. */
const TICK_MS = 20

/**
 * Starts measuring stalls of the event loop. @returns the longest stall since the last call, in seconds; the timer
 * keeps no process alive
 */
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

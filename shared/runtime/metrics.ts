/** Metrics of one service, in the Prometheus text format. */
import { Counter, Gauge, Registry } from 'prom-client'
import { measureStalls } from './event-loop-stall.ts'
import { createDurations } from './request-durations.ts'

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

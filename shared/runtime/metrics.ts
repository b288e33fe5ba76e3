/** Counters of one service, in the Prometheus text format. */
import { Counter, Gauge, Registry } from 'prom-client'
import { createDurations } from './request-durations.ts'

export interface Metrics {
  /** Counts an answered request. @param seconds time to the answer */
  request(route: string, method: string, status: number, seconds: number): void
  /** Counts something by labels; made at first use. */
  count(name: string, help: string, labels?: Record<string, string>, by?: number): void
  /** A figure that is read when somebody asks. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void
  /** Several figures that are read at once, each under its own value of a label. */
  figures(name: string, help: string, label: string, read: () => Figures | Promise<Figures>): void
  /** The page that `/metrics` answers. */
  page(): Promise<string>
}

type Figures = Readonly<Record<string, number>>

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  const requests = createDurations(
    'event_http_request_duration_seconds',
    'Time to the answer, by route and status',
    service,
  )
  const counters = new Map<string, Counter>()
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

/** A gauge that is set when the page is read. What can not be had just now must not take the page with it. */
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

/** Counters of one service, in the Prometheus text format. */
import { Counter, Gauge, Registry } from 'prom-client'
import { createDurations } from './metrics/durations.ts'

export interface Metrics {
  /** Counts an answered request. @param seconds time to the answer */
  request(route: string, method: string, status: number, seconds: number): void
  /** Counts something by labels; made at first use. */
  count(name: string, help: string, labels?: Record<string, string>, by?: number): void
  /** A figure that is read when somebody asks. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void
  /** The page that `/metrics` answers. */
  page(): Promise<string>
}

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  const requests = createDurations(
    'http_request_duration_seconds',
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
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          try {
            this.set(await read())
          } catch {
            // A figure that can not be had just now must not take the page with it.
            this.set(Number.NaN)
          }
        },
      })
    },
    page: async () => `${await registry.metrics()}\n${requests.text()}`,
  }
}

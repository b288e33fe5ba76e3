/** The page that `/metrics` answers. */
import { expect, test } from 'bun:test'
import { measureStalls, createMetrics } from '#shared/runtime/metrics.ts'

test('counters have labels, and gauges are read at each scrape', async () => {
  const metrics = createMetrics('tracking')
  metrics.count('points_total', 'Points', { outcome: 'stored' }, 3)
  metrics.count('points_total', 'Points', { outcome: 'stored' })
  metrics.request('/a', 'GET', 200, 0.01)
  let figure = 1
  metrics.gauge('waiting', 'What waits', () => figure)
  expect(await metrics.page()).toContain('waiting{service="tracking"} 1')
  figure = 2
  const page = await metrics.page()
  expect(page).toContain('waiting{service="tracking"} 2')
  expect(page).toContain('points_total{outcome="stored",service="tracking"} 4')
  expect(page).toContain(
    'event_http_request_duration_seconds_count{service="tracking",route="/a",method="GET",status="200"} 1',
  )
})

test('a gauge that cannot be read does not fail the scrape', async () => {
  const metrics = createMetrics('tracking')
  metrics.gauge('away', 'Of a store that is away', () => Promise.reject(new Error('away')))
  metrics.gauge('here', 'Of one that is here', () => 5)
  const page = await metrics.page()
  expect(page).toContain('here{service="tracking"} 5')
  expect(page).toMatch(/^away\{service="tracking"\} Nan$/im)
})

test('the longest stall of the event loop since the last scrape', () => {
  let nowMs = 0
  const longest = measureStalls(() => nowMs)
  nowMs = 320
  expect(longest()).toBeCloseTo(0.3, 6)
  nowMs = 335
  expect(longest()).toBe(0)
})

test('a page tells the longest stall', async () => {
  expect(await createMetrics('tracking').page()).toMatch(
    /^event_loop_stall_seconds\{service="tracking"\} [\d.e-]+$/m,
  )
})

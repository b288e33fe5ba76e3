/** The response of `/metrics`. */
import { expect, test } from 'bun:test'
import { measureStalls, createMetrics } from '#shared/runtime/metrics.ts'

test('counters have labels, and gauges are read at each scrape', async () => {
  const metrics = createMetrics('tracking')
  metrics.count('event_flush_points_total', { outcome: 'stored' }, 3)
  metrics.count('event_flush_points_total', { outcome: 'stored' })
  metrics.observe('event_admission_batch_size', 3)
  metrics.request('/a', 'GET', 200, 0.01)
  let figure = 1
  metrics.gauge('event_buffer_pilgrims', () => 0)
  // A second gauge of a name replaces the first.
  metrics.gauge('event_buffer_pilgrims', () => figure)
  metrics.figures('event_store_up', () => ({ kv: 0 }))
  expect(await metrics.page()).toContain('event_buffer_pilgrims{service="tracking"} 1')
  figure = 2
  const page = await metrics.page()
  expect(page).toContain('event_buffer_pilgrims{service="tracking"} 2')
  expect(page).toContain('event_flush_points_total{outcome="stored",service="tracking"} 4')
  expect(page).toContain('event_admission_batch_size_bucket{le="1",service="tracking"} 0')
  expect(page).toContain('event_admission_batch_size_bucket{le="4",service="tracking"} 1')
  expect(page).toContain('event_store_up{store="kv",service="tracking"} 0')
  expect(page).toContain(
    'event_http_request_duration_seconds_count{service="tracking",route="/a",method="GET",status="200"} 1',
  )
})

test('a gauge that cannot be read, or not in time, does not fail the scrape', async () => {
  const metrics = createMetrics('tracking')
  metrics.gauge('event_buffer_pilgrims', () => Promise.reject(new Error('away')))
  metrics.gauge('event_kv_memory_ratio', () => new Promise(() => undefined))
  metrics.figures('event_ledger_points', () => Promise.reject(new Error('away')))
  metrics.gauge('event_live_positions', () => 5)
  const page = await metrics.page()
  expect(page).toContain('event_live_positions{service="tracking"} 5')
  expect(page).toMatch(/^event_buffer_pilgrims\{service="tracking"\} Nan$/im)
  expect(page).toMatch(/^event_kv_memory_ratio\{service="tracking"\} Nan$/im)
  expect(page).not.toMatch(/^event_ledger_points\{/m)
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

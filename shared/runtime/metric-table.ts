/**
 * Every metric of the services: the source of the page `/metrics` and of the table in services/REFERENCE.md. Alerts and
 * dashboards refer to these metrics and their labels (proxy/observe).
 */

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** What it counts. */
  readonly help: string
  /** When to act, if no alert of proxy/observe/observe.yml covers it. */
  readonly act?: string | undefined
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.25, 1, 5]

const counter = <const L extends readonly string[]>(labels: L, help: string, act?: string) =>
  ({ type: 'counter', labels, help, act }) as const
const gauge = <const L extends readonly string[]>(labels: L, help: string, act?: string) =>
  ({ type: 'gauge', labels, help, act }) as const
const histogram = <const L extends readonly string[]>(
  labels: L,
  help: string,
  buckets: readonly number[],
  act?: string,
) => ({ type: 'histogram', labels, help, buckets, act }) as const

export const METRICS = {
  event_http_request_duration_seconds: histogram(
    ['route', 'method', 'status'],
    'duration of successful requests, by route, method and status',
    SECONDS,
  ),
  event_http_refusals_total: counter(
    ['route', 'status', 'code'],
    'refused requests, by route, status and code',
  ),
  event_store_up: gauge(['store'], '1 while the store answers: `db`, `kv`, `objects`, `bus`'),
  event_kv_memory_ratio: gauge([], 'used share of the memory of the fullest Redis'),
  event_disk_free_bytes: gauge([], 'free space on the disk of the journals'),
  event_certificate_due_timestamp_seconds: gauge(
    ['host'],
    'when to renew a certificate: 14 days before its end, or a quarter of a short life',
  ),
  event_loop_stall_seconds: gauge([], 'longest stall of the event loop since the last scrape'),
  event_admission_seconds: histogram(
    [],
    'duration of a call that admits a batch to the kv, including failures',
    SECONDS,
    'the p99 above 0.25: check-ins go to the journal',
  ),
  event_admission_batch_size: histogram([], 'submissions in such a call', [1, 4, 16, 64, 256]),
  event_journaled_total: counter(
    ['why'],
    'check-ins journaled because the kv was `late` or `unavailable`',
    'it grows: Redis is late or down',
  ),
  event_journal_check_ins: gauge([], 'check-ins in this process’s journal that the kv has not confirmed'),
  event_redo_log_bytes: gauge(
    [],
    'bytes of this process’s redo log: points admitted by Redis and not yet in Postgres',
    'at 1,073,741,824 the oldest are dropped: flushes have failed for long',
  ),
  event_redo_log_left_out: gauge(
    [],
    'submissions missing from it: the disk is full, fails or is too slow',
    'above 0: what Redis loses now is lost; see the service’s log',
  ),
  event_points_rejected: gauge(
    ['reason'],
    'points that this process refused, by reason',
    'many of one reason: a client has a fault',
  ),
  event_buffer_pilgrims: gauge([], 'pilgrims with pending points'),
  event_ledger_points: gauge(['state'], 'points, by outcome'),
  event_last_flush_timestamp_seconds: gauge([], 'time of the last successful flush'),
  event_backup_restorable_timestamp_seconds: gauge(
    [],
    'moment of the newest scheduled backup that can be restored; `NaN`: none, or not scheduled',
  ),
  event_backup_due_timestamp_seconds: gauge(
    [],
    'when that backup is too old: after twice the interval, or since its check failed',
  ),
  event_flush_seconds: histogram([], 'duration of a flush of all partitions', [0.1, 1, 5, 20, 60, 300]),
  event_flush_points_total: counter(
    ['outcome'],
    'points that left the buffer, by outcome',
    '`dead_letter` grows: list the dead letters',
  ),
  event_flush_failures_total: counter(
    [],
    'pilgrims, slices and partitions that could not be flushed',
    'it grows: read the log of the scheduler',
  ),
  event_outbox_age_seconds: gauge(['subscriber'], 'age of the oldest unhandled event of a subscriber'),
  event_failed_items_total: counter(['queue'], 'failed queue items, which are retried, by queue'),
  event_erasures_remaining: gauge([], 'unfinished erasures'),
  event_kv_copies_mended_total: counter(
    [],
    'people whose copy in the kv differed from Postgres',
    'it grows for an hour: read the log of the scheduler',
  ),
  event_live_positions: gauge([], 'positions in the memory of the live map'),
  event_stream_clients: gauge([], 'open streams of operators', 'at 500, more get 503'),
  event_stream_closed_total: counter(
    ['why'],
    'streams that ended, by reason',
    'many `behind`: operators’ networks are slow',
  ),
  event_cards_drawn_total: counter(
    ['unlocked'],
    'share cards drawn',
    'it grows quickly without new points: a client requests many cards',
  ),
  event_line_calls_total: counter(['outcome'], 'calls to LINE that send messages, by outcome'),
  event_web_push_calls_total: counter(
    ['outcome'],
    'calls to push services of browsers, by outcome',
    'many refusals: read `GET push/{id}` and the log',
  ),
  event_webhook_events_set_aside: gauge(
    [],
    'webhook events refused by the database',
    'above 0: read the table `refused_line_events`',
  ),
} satisfies Readonly<Record<string, Metric>>

/** The metrics of a type. */
export type MetricName<T extends Metric['type'] = Metric['type']> = {
  [N in keyof typeof METRICS]: (typeof METRICS)[N]['type'] extends T ? N : never
}[keyof typeof METRICS]
/** The labels of a metric, each with a value. */
export type Labels<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]['labels'][number], string>>

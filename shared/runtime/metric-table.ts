/** Every metric of the services. The page `/metrics` and the table of services/README.md are made from this table. */

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** What it counts. */
  readonly help: string
  /** When to act. */
  readonly act?: string
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.25, 1, 5]

export const METRICS = {
  event_http_request_duration_seconds: {
    type: 'histogram',
    labels: ['route', 'method', 'status'],
    help: 'time to the answer of a request that succeeds, by route, method and status',
    buckets: SECONDS,
    act: 'the p99 of `checkin` above 1 s: look at Redis and at CPU',
  },
  event_http_refusals_total: {
    type: 'counter',
    labels: ['route', 'status', 'code'],
    help: 'requests without success, by route, status and code',
    act: 'many of one code: a client has a fault, or a limit is too low',
  },
  event_store_up: {
    type: 'gauge',
    labels: ['store'],
    help: '1 while the store answers: `db`, `kv`, `objects`, `bus`',
    act: '0: start the store again',
  },
  event_kv_memory_ratio: {
    type: 'gauge',
    labels: [],
    help: 'share of its memory that the fullest Redis uses',
    act: 'above 0.7: flush; at 0.9 points are refused',
  },
  event_disk_free_bytes: {
    type: 'gauge',
    labels: [],
    help: 'free space on the disk of the journals',
    act: 'below 512 MB: make room',
  },
  event_loop_stall_seconds: {
    type: 'gauge',
    labels: [],
    help: 'longest stall of the event loop since the last scrape',
    act: 'above 0.25: check-ins wait, and a healthy Redis seems late',
  },
  event_admission_seconds: {
    type: 'histogram',
    labels: [],
    help: 'time of a call that admits a batch to the kv, also of one that fails',
    buckets: SECONDS,
    act: 'the p99 above 0.25: check-ins go to the journal',
  },
  event_admission_batch_size: {
    type: 'histogram',
    labels: [],
    help: 'submissions in such a call',
    buckets: [1, 4, 16, 64, 256],
  },
  event_journaled_total: {
    type: 'counter',
    labels: ['why'],
    help: 'check-ins that went to the journal, as the kv was `late` or `unavailable`',
    act: 'it grows: Redis is late or down',
  },
  event_journal_check_ins: {
    type: 'gauge',
    labels: [],
    help: 'check-ins in the journal of this process that the kv has not confirmed',
    act: 'above 0 for a minute: Redis is late or down',
  },
  event_points_rejected: {
    type: 'gauge',
    labels: ['reason'],
    help: 'points that this process refused, by reason',
    act: 'many of one reason: a client has a fault',
  },
  event_buffer_pilgrims: {
    type: 'gauge',
    labels: [],
    help: 'pilgrims with pending points',
    act: 'it grows for 30 minutes: the flush does not work',
  },
  event_ledger_points: {
    type: 'gauge',
    labels: ['state'],
    help: 'points, by what became of them',
    act: '`lost` above 0: read the ledger',
  },
  event_last_flush_timestamp_seconds: {
    type: 'gauge',
    labels: [],
    help: 'when the last successful flush ended',
    act: '30 minutes ago: the flush does not work',
  },
  event_flush_seconds: {
    type: 'histogram',
    labels: [],
    help: 'time of a flush of all partitions',
    buckets: [0.1, 1, 5, 20, 60, 300],
  },
  event_flush_points_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'points that left the buffer, by outcome',
    act: '`dead_letter` grows: list the dead letters',
  },
  event_flush_failures_total: {
    type: 'counter',
    labels: [],
    help: 'pilgrims, slices and partitions that could not be flushed',
    act: 'it grows: read the log of the scheduler',
  },
  event_outbox_age_seconds: {
    type: 'gauge',
    labels: ['subscriber'],
    help: 'age of the oldest event that a subscriber has not handled',
    act: 'above 300: read the log of the subscriber’s service',
  },
  event_failed_items_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'items of queues that failed and are tried again, by queue',
    act: 'it grows: search the log for the queue',
  },
  event_erasures_remaining: {
    type: 'gauge',
    labels: [],
    help: 'erasures of which a part is not done yet',
    act: 'above 0 for an hour: read the log of admin',
  },
  event_kv_copies_mended_total: {
    type: 'counter',
    labels: [],
    help: 'people whose copy in the kv differed from Postgres',
    act: 'it grows for an hour: read the log of the scheduler',
  },
  event_live_positions: {
    type: 'gauge',
    labels: [],
    help: 'positions that the live map holds in memory',
  },
  event_stream_clients: {
    type: 'gauge',
    labels: [],
    help: 'open streams of operators',
    act: 'at 500, more get 503',
  },
  event_stream_closed_total: {
    type: 'counter',
    labels: ['why'],
    help: 'streams that ended, by reason',
    act: 'many `behind`: operators’ networks are slow',
  },
  event_cards_drawn_total: {
    type: 'counter',
    labels: ['unlocked'],
    help: 'share cards drawn',
    act: 'it grows quickly without new points: somebody asks for many cards',
  },
  event_line_calls_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'calls that send messages, by outcome',
    act: 'many refusals: read `GET push/{id}`',
  },
  event_web_push_calls_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'calls to push services of browsers, by outcome',
    act: 'many refusals: read `GET push/{id}` and the log',
  },
  event_webhook_events_set_aside: {
    type: 'gauge',
    labels: [],
    help: 'webhook events that the database refused',
    act: 'above 0: read the table `refused_line_events`',
  },
} as const satisfies Readonly<Record<string, Metric>>

/** The metrics of a type. */
export type MetricName<T extends Metric['type'] = Metric['type']> = {
  [N in keyof typeof METRICS]: (typeof METRICS)[N]['type'] extends T ? N : never
}[keyof typeof METRICS]
/** The labels of a metric, each with a value. */
export type Labels<N extends MetricName> = Readonly<Record<(typeof METRICS)[N]['labels'][number], string>>

/** What a flush works with. */
import type { Database } from '#shared/db/db.ts'
import type { Kv } from '#shared/kv/kv.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import type { Log } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'

export interface FlushContext {
  readonly db: Database
  readonly kv: Kv
  readonly calendar: Calendar
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly metrics: Metrics
  /** How long points survive in the buffer, renewed when they can not be stored. */
  readonly retentionMs: number
  /** How long a partition stays locked at most when its flush dies; renewed while the flush works. */
  readonly lockMs: number
  /** Points in one transaction; less than twice as many at most. */
  readonly slicePoints: number
  /** Aborted when the process is to end: the slices under way are finished, the rest is left. */
  readonly stopping: AbortSignal
}

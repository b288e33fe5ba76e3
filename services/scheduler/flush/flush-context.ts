/** The dependencies and settings of a flush. */
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
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
  /** Retention of points in the buffer; renewed when they can not be stored. */
  readonly retentionMs: number
  /** Lifetime of a partition's lock after its flush has died; renewed while the flush runs. */
  readonly lockMs: number
  /** Points in one transaction. A slice has less than twice as many. */
  readonly slicePoints: number
  /** Aborted when the process stops: running slices are finished, the others stay pending. */
  readonly stopping: AbortSignal
}

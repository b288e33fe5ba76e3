/** The counters that the kv keeps of its points. */

/**
 * The counters of a partition in its current epoch. A store that came back empty begins a new epoch, with counters at
 * 0. At any moment admitted = settled + erased + expired + pending.
 */
export interface PartitionCounters {
  readonly epoch: string
  /** Accepted points, each once. */
  readonly admitted: number
  /** `admitted` by caller (`Kv.caller`); `before`: points that were already pending when counting began. */
  readonly callers: Readonly<Record<string, number>>
  /** Check-ins among the accepted points. */
  readonly checkins: number
  /** Points that were already in the buffer. */
  readonly duplicate: number
  /** Points that were not accepted because their pilgrim was erased after they had been received. */
  readonly dropped: number
  /** Points that were deleted by an acknowledgement, because Postgres has stored them. */
  readonly settled: number
  /** Pending points that were deleted because their pilgrim was erased. */
  readonly erased: number
  /** Points whose retention ended before they were stored. Redis counts them at the next flush. */
  readonly expired: number
}

/** Confirms that the store holds new points of this caller, with the caller's total. */
export interface Receipt {
  readonly partition: number
  readonly epoch: string
  /** New points of this call. */
  readonly points: number
  /** All points of this caller in this epoch of the partition, this call included. */
  readonly total: number
}

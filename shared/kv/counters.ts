/** What the store counts of the points that go through it. */

/**
 * What a partition has counted since its books began. `epoch` names the store's life: one that came back empty
 * begins anew. At any moment admitted = settled + erased + expired + what waits.
 */
export interface PartitionCounters {
  readonly epoch: string
  /** Points put in, each once. */
  readonly admitted: number
  /** The same by who put them in (`Kv.caller`); `before`: what waited already when the books began. */
  readonly callers: Readonly<Record<string, number>>
  /** Those of the points put in that are check-ins. */
  readonly checkins: number
  /** Points that were already there. */
  readonly duplicate: number
  /** Points of erased people that were not let in again. */
  readonly dropped: number
  /** Points that left because they are stored. */
  readonly settled: number
  /** Points that left because their pilgrim was erased. */
  readonly erased: number
  /** Points that left because nobody stored them within their retention; Redis notices with the next flush. */
  readonly expired: number
}

/** That the store holds new points of ours, and of how many it knows by now. */
export interface Receipt {
  readonly partition: number
  readonly epoch: string
  /** New points of this call. */
  readonly points: number
  /** All that this caller ever put into this epoch of the partition, this call included. */
  readonly total: number
}

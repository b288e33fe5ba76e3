/** Number of points admitted since the last reading, from the counters of the kv. Includes all replicas. */
import { time } from '#shared/contracts/fields.ts'
import type { Admitted, StreamCounts, StreamCells, StreamData } from '#shared/contracts/stream.ts'
import type { PartitionCounters, Position } from '#shared/stores/kv/kv.ts'
import { type Cell, cellAt, cellBounds, cellName, MIN_ZOOM } from '#shared/core/map/cells.ts'

export interface CountersReading {
  readonly counters: readonly PartitionCounters[]
  /** Time of the reading by `performance.now()`. */
  readonly atMs: number
}

const noPoints = (): Admitted => ({ points: 0, checkins: 0, duplicates: 0 })

function add(into: Admitted, { admitted, checkins, duplicate }: PartitionCounters, sign: 1 | -1): void {
  into.points += sign * admitted
  into.checkins += sign * checkins
  into.duplicates += sign * duplicate
}

/** @param before null at the first reading, which gives totals only */
export function countsOf(before: CountersReading | null, now: CountersReading, nowMs: number): StreamCounts {
  const [totals, fresh] = [noPoints(), noPoints()]
  for (const [partition, counters] of now.counters.entries()) {
    add(totals, counters, 1)
    if (before === null) continue
    add(fresh, counters, 1)
    const last = before.counters[partition]
    // A partition that lost its data starts a new epoch with counters at zero.
    if (last?.epoch === counters.epoch) add(fresh, last, -1)
  }
  const seconds = before === null ? 0 : Math.round(now.atMs - before.atMs) / 1_000
  return { at: time(nowMs), seconds, ...fresh, totals }
}

/** Whether to send an event: while points arrive, and once when they stop. */
export const hasChanges = (before: StreamCounts | null, now: StreamCounts): boolean =>
  before === null || now.points + now.duplicates > 0 || before.points + before.duplicates > 0

const MAX_CELLS = 2_000

/** Counts positions by cell, at the given zoom or the next coarser one that has at most `MAX_CELLS` cells. */
export function cellsOf(positions: readonly Position[], zoom: number, nowMs: number): StreamData<'cells'> {
  const byName = new Map<string, { cell: Cell; pilgrims: number }>()
  for (const { lat, lng } of positions) {
    const cell = cellAt(lat, lng, zoom)
    const name = cellName(cell)
    const counted = byName.get(name)
    if (counted === undefined) byName.set(name, { cell, pilgrims: 1 })
    else counted.pilgrims++
  }
  if (byName.size > MAX_CELLS && zoom > MIN_ZOOM) return cellsOf(positions, zoom - 1, nowMs)
  const cells = [...byName]
    .slice(0, MAX_CELLS)
    .map(([name, { cell, pilgrims }]): StreamCells['cells'][number] => ({
      cell: name,
      bounds: cellBounds(cell),
      pilgrims,
    }))
  return { at: time(nowMs), zoom, cells }
}

/** New positions, counted by cell of the map's grid. */
import { type StreamCells, type StreamData } from '#shared/contracts/stream.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Position } from '#shared/kv/kv.ts'
import { type Cell, cellAt, cellBounds, cellName, MIN_ZOOM } from '#shared/map/cells.ts'

const MAX_CELLS = 2_000

/** Counts positions by cell, at the given zoom or the next coarser one that has at most `MAX_CELLS` cells. */
export function cellsOf(positions: readonly Position[], zoom: number, nowMs: number): StreamData<'cells'> {
  const byName = new Map<string, { cell: Cell; pilgrims: number }>()
  for (const { lat, lng } of positions) {
    const cell = cellAt(lat, lng, zoom)
    const name = cellName(cell)
    const held = byName.get(name)
    if (held === undefined) byName.set(name, { cell, pilgrims: 1 })
    else held.pilgrims++
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

/** Records with each slice how it changes the cells of the map. The flush's roll-up adds all recorded changes. */
import type { Query } from '#shared/db/db.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { CellChanges } from '#shared/map/cell-counts.ts'
import type { Move } from './latest-positions.ts'
import type { OwnedPoint } from './store-points.ts'

/** @param fresh points stored by this transaction */
export async function recordCellChanges(
  tx: Query,
  fresh: readonly OwnedPoint[],
  moves: readonly Move[],
  calendar: Calendar,
): Promise<void> {
  if (moves.length === 0) return
  const changes = new CellChanges()
  for (const { point } of fresh)
    if (point.inRange) changes.addPoint(calendar.hourStart(point.recordedMs), point)
  for (const { from, to } of moves) {
    if (from === to) continue
    if (from !== null) changes.removePilgrim(calendar.hourStart(from.t), from)
    changes.addPilgrim(calendar.hourStart(to.t), to)
  }
  await tx`INSERT INTO cell_changes (changes) VALUES (decode(${changes.pack()}, 'base64'))`
}

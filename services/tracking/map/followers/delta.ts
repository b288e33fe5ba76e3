/** What has changed between two snapshots of the followers' map. */
import { type EventMap, EventMapDelta, type MapCellEntry } from '#shared/contracts/map.ts'

type Field = Exclude<keyof EventMap, 'since' | 'version' | 'as_of' | 'cells'>
const FIELDS = Object.keys(EventMapDelta.shape).filter(
  (name) => !['since', 'version', 'as_of', 'cells'].includes(name),
) as Field[]

/** Applied to `from`, it gives `to`: fields replace fields, cells replace cells of the same place and zoom. */
export function deltaOf(from: EventMap, to: EventMap): EventMapDelta {
  const changed = FIELDS.filter((field) => !Bun.deepEquals(from[field], to[field]))
  const cells = changedCells(from.cells, to.cells)
  return {
    since: from.version,
    version: to.version,
    as_of: to.as_of,
    ...Object.fromEntries(changed.map((field) => [field, to[field]])),
    ...(cells.length === 0 ? {} : { cells }),
  }
}

const nameOf = ([lat, lng, zoom]: MapCellEntry): string => `${zoom} ${lat} ${lng}`

function changedCells(from: readonly MapCellEntry[], to: readonly MapCellEntry[]): MapCellEntry[] {
  const before = new Map(from.map((cell) => [nameOf(cell), cell]))
  const changed: MapCellEntry[] = []
  for (const cell of to) {
    const held = before.get(nameOf(cell))
    before.delete(nameOf(cell))
    if (held?.[3] !== cell[3]) changed.push(cell)
  }
  for (const [lat, lng, zoom] of before.values()) changed.push([lat, lng, zoom, 0])
  return changed
}

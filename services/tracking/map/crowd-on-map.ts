/**
 * The crowd as followers see it. Everything is computed from the groups of the public map (`public-map.ts`), so the
 * answer tells nothing that `GET data` does not tell.
 */
import { MAX_MAP_CELLS, type MapCellEntry } from '#shared/contracts/map.ts'
import { type Cell, cellCentre, MIN_ZOOM } from '#shared/core/map/cells.ts'
import type { Places } from '#shared/core/map/front-and-tail.ts'
import { eachOf, inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import type { Group, PublicMap } from './public-map.ts'

/** The finest cells of the followers' map, about 90 m. */
const FINEST_ZOOM = 14
/** The recent pilgrims are shown if they are at least this fraction of the last day's. */
const RECENT = 0.1
/** Steps of a count within a factor of ten, so that a cell changes less often than the people in it. */
const STEPS = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80]

interface CrowdOnMap {
  /** All pilgrims were seen then or later, epoch milliseconds. */
  readonly sinceMs: number
  /** Only who was seen in the last hours is shown, and not everybody of the last day. */
  readonly isRecent: boolean
  readonly people: number
  readonly cells: MapCellEntry[]
  readonly places: Places
}

export async function crowdOnMap(map: PublicMap): Promise<CrowdOnMap> {
  const { groups, beginsMs } = await map.snapshot()
  const recent = groups.filter(({ span }) => span === 0)
  const isRecent = recent.length > 0 && sumOf(recent) >= RECENT * sumOf(groups)
  const shown = isRecent ? recent : groups
  const counts = await inTurns(cellsOf(shown))
  const centres = counts.map(({ cell }) => cellCentre(cell))
  return {
    sinceMs: beginsMs[isRecent ? 0 : 1]!,
    isRecent,
    people: sumOf(shown),
    cells: counts.map(({ cell, count }) => entryOf(cell, count)).sort(byPlace),
    places: {
      lats: centres.map(({ lat }) => lat),
      lngs: centres.map(({ lng }) => lng),
      weights: counts.map(({ count }) => count),
    },
  }
}

interface Count {
  readonly cell: Cell
  count: number
}

const sumOf = (groups: readonly Group[]): number => groups.reduce((sum, { count }) => sum + count, 0)

/** The groups' cells at the finest zoom that has few enough of them. */
function* cellsOf(groups: readonly Group[]): Generator<void, readonly Count[]> {
  for (let zoom = FINEST_ZOOM; ; zoom--) {
    const counts = new Map<number, Count>()
    yield* eachOf(groups, ({ cell, count }) => {
      const shown = coarser(cell, zoom)
      counts.getOrInsertComputed(keyOf(shown), () => ({ cell: shown, count: 0 })).count += count
    })
    if (counts.size <= MAX_MAP_CELLS || zoom === MIN_ZOOM) return [...counts.values()]
  }
}

/** A number of its own for each cell: 24 bits are enough for a row or column of the finest zoom. */
const keyOf = ({ zoom, x, y }: Cell): number => (zoom * 2 ** 24 + x) * 2 ** 24 + y

/** The cell of this zoom around a finer one; a coarser cell stays. */
function coarser(cell: Cell, zoom: number): Cell {
  const up = cell.zoom - zoom
  return up <= 0 ? cell : { zoom, x: cell.x >> up, y: cell.y >> up }
}

function entryOf(cell: Cell, count: number): MapCellEntry {
  const { lat, lng } = cellCentre(cell)
  return [Math.round(lat * 1e5), Math.round(lng * 1e5), cell.zoom, steppedCount(count)]
}

/** The count, exact up to 9 and rounded down to a step above. */
export function steppedCount(count: number): number {
  let unit = 1
  while (count >= unit * 100) unit *= 10
  return count < 10 ? count : unit * STEPS.findLast((step) => step * unit <= count)!
}

const byPlace = (a: MapCellEntry, b: MapCellEntry): number => a[2] - b[2] || a[0] - b[0] || a[1] - b[1]

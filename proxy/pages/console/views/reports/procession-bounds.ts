/** Which part of the world a picture of the procession shows. */
import type { MapCellEntry } from '#shared/client/index.ts'
import { type Bounds, boundsOf, worldX, worldY } from '../../../map/projection.ts'
import { boundsOfCells } from '../../map/cells.ts'
import type { Seen } from '../../map/crowd-camera.ts'
import { route } from '../../map/ground.ts'
import { PROCESSION, type ProcessionPlaces } from '../../map/procession-places.tsx'

const E5 = 1e5

export interface Shown {
  readonly cells: readonly MapCellEntry[]
  readonly places: ProcessionPlaces
  /** What of the world the operator looks at; null: everything. */
  readonly seen: Seen | null
  /** Shows the procession from near, and not all of the route: for a small picture. */
  readonly near?: boolean
}

/** Of the points of an hour; the rest are cells of a few people far away, which a small picture leaves out. */
const MOST = 0.95

function fullestCells(cells: readonly MapCellEntry[]): readonly MapCellEntry[] {
  const all = cells.reduce((sum, [, , , points]) => sum + points, 0)
  let held = 0
  return cells
    .toSorted(([, , , a], [, , , b]) => b - a)
    .filter(([, , , points]) => {
      const isNeeded = held < all * MOST
      held += points
      return isNeeded
    })
}

/** What there is to see in the part that the operator looks at: crowd, marks and stations. */
export function boundsInSight({ cells: all, places, seen, near = false }: Shown): Bounds {
  const cells = near ? fullestCells(all) : all
  const [west, south, east, north] = seen?.bbox ?? [-180, -85, 180, 85]
  const isSeen = (lat: number, lng: number): boolean =>
    lng >= west && lng <= east && lat >= south && lat <= north
  const spots = [
    ...cells.map(([lat, lng]) => ({ lat: lat / E5, lng: lng / E5 })),
    ...PROCESSION.flatMap((mark) => places[mark] ?? []),
    ...(near && cells.length > 0 ? [] : (route.peek()?.stations ?? [])),
  ].filter(({ lat, lng }) => isSeen(lat, lng))
  return (
    boundsOf(spots.map(({ lat, lng }) => [worldX(lng), worldY(lat)] as const)) ??
    boundsOfCells(cells) ?? {
      west: worldX(west),
      east: worldX(east),
      north: worldY(north),
      south: worldY(south),
    }
  )
}

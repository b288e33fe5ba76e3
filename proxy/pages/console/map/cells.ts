/** Cells of the service in the form that the map draws. */
import type { Data, MapCellEntry } from '#shared/client/index.ts'
import { type Bounds, boundsOf, worldX, worldY } from '../../map/projection.ts'
import type { Seen } from './crowd-camera.ts'

type Clusters = Data<'readClusters'>

const E5 = 1e5
/** A cell of the finest zoom is 87 m wide: in a smaller one, a single pilgrim would look like a dense crowd. */
const [COARSEST, FINEST] = [6, 14]
const FINEST_STEP = 18

const limit = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value))

/** The zoom at which a cell is between 18 and 36 pixels wide, so that its number has room; nearer it is wider. */
export const cellZoom = (zoom: number): number => limit(Math.floor(zoom) - 1, COARSEST, FINEST)

/** The seen part with a margin, rounded outwards, so that small movements ask for the same. */
export function bboxOf({ bbox: [west, south, east, north], zoom }: Seen): string {
  const grid = (0.2 / 2 ** (limit(Math.floor(zoom), COARSEST, FINEST_STEP) - COARSEST)) * 8
  return [
    limit(Math.floor(west / grid) * grid, -180, 180),
    limit(Math.floor(south / grid) * grid, -90, 90),
    limit(Math.ceil(east / grid) * grid, -180, 180),
    limit(Math.ceil(north / grid) * grid, -90, 90),
  ]
    .map((degrees) => degrees.toFixed(5))
    .join()
}

/**
 * @param what `users`: pilgrims by their latest position; `count`: points
 */
export const entriesOf = ({ features, zoom }: Clusters, what: 'users' | 'count'): MapCellEntry[] =>
  features.flatMap(({ geometry, properties }): MapCellEntry[] => {
    const amount = properties[what]
    const [[west, south] = [0, 0], , [east, north] = [0, 0]] = geometry.coordinates[0] ?? []
    return amount > 0
      ? [[Math.round(((south + north) / 2) * E5), Math.round(((west + east) / 2) * E5), zoom, amount]]
      : []
  })

export const boundsOfCells = (cells: readonly MapCellEntry[]): Bounds | null =>
  boundsOf(cells.map(([lat, lng]) => [worldX(lng / E5), worldY(lat / E5)] as const))

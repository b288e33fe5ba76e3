/** Cells of the service in the form that the map draws. */
import type { Data, MapCellEntry } from '#shared/client/index.ts'
import { LAND } from '../../map/ground.ts'
import { type Box, meets } from '../../map/labels.ts'
import {
  type Bounds,
  type Camera,
  type Size,
  boundsOf,
  fitting,
  latOf,
  lngOf,
  scaleOf,
  worldX,
  worldY,
} from '../../map/projection.ts'

type Clusters = Data<'readClusters'>

const E5 = 1e5
/**
 * A cell of the finest zoom is 87 m wide. In smaller cells a single pilgrim would look like a dense crowd.
 */
const [COARSEST, FINEST] = [6, 14]
const FINEST_STEP = 18

const limit = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value))

/**
 * The zoom at which a cell is 18 to 36 pixels wide, so that its number fits; beyond the finest it is wider.
 */
export const cellZoom = (zoom: number): number => limit(Math.floor(zoom) - 1, COARSEST, FINEST)

/** The visible part with a margin, rounded outwards, so that small movements send the same request. */
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

// The default section of a map for operators, and what part of the world it shows.

const FIT_ZOOM = 14
/** Room for the marks and their names, which are above and beside their places. */
const INSETS = { top: 72, right: 116, bottom: 40, left: 40 }
/** Room if there is only land. */
const MARGINS = { top: 12, right: 12, bottom: 12, left: 12 }

/** @param bounds of everything to show; null: unknown */
export const cameraFor = (bounds: Bounds | null, size: Size): Camera =>
  bounds === null ? fitting(LAND, size, MARGINS, FIT_ZOOM) : fitting(bounds, size, INSETS, FIT_ZOOM)

export function isInSight(bounds: Bounds | null, { x, y, zoom }: Camera, { width, height }: Size): boolean {
  if (bounds === null) return true
  const [half, high] = [width / 2 / scaleOf(zoom), height / 2 / scaleOf(zoom)]
  const { west, north, east, south } = bounds
  return west >= x - half && east <= x + half && north >= y - high && south <= y + high
}

export interface Seen {
  readonly zoom: number
  /** West, south, east, north in degrees. */
  readonly bbox: readonly [number, number, number, number]
}

export function seenBy({ x, y, zoom }: Camera, { width, height }: Size): Seen {
  const [half, high] = [width / 2 / scaleOf(zoom), height / 2 / scaleOf(zoom)]
  return { zoom, bbox: [lngOf(x - half), latOf(y + high), lngOf(x + half), latOf(y - high)] }
}

/** Candidate positions of a number relative to its cell's centre, in units of its size, best first. */
const SPOTS = [
  [0, 0],
  [-1, 0],
  [1, 0],
  [0, 1],
  [0, -1],
  [-2, 0],
  [2, 0],
] as const

/** The nearest free position for a number; null: none. All boxes use the same pixel coordinates. */
export function freeSpot(
  [x, y]: readonly [number, number],
  [wide, high]: readonly [number, number],
  taken: readonly Box[],
): readonly [number, number] | null {
  const spots = SPOTS.map(([by, down]) => [x + by * wide, y + down * high] as const)
  const isFree = ([atX, atY]: readonly [number, number]): boolean =>
    taken.every((other) => !meets([atX - wide / 2, atY - high / 2, atX + wide / 2, atY + high / 2], other))
  return spots.find(isFree) ?? null
}

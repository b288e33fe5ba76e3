/** What a map for operators shows by itself, and what of the world is then in sight. */
import { LAND } from '../../map/ground.ts'
import { type Bounds, type Camera, fitting, latOf, lngOf, scaleOf, type Size } from '../../map/projection.ts'

const FIT_ZOOM = 14
/** Room for the marks and their names, which stand above and beside their places. */
const INSETS = { top: 72, right: 116, bottom: 40, left: 40 }
/** Room where there is nothing but land. */
const MARGINS = { top: 12, right: 12, bottom: 12, left: 12 }

/** @param bounds of everything that is to be seen; null: nothing is known */
export const cameraFor = (bounds: Bounds | null, size: Size): Camera =>
  bounds === null ? fitting(LAND, size, MARGINS, FIT_ZOOM) : fitting(bounds, size, INSETS, FIT_ZOOM)

export function isInSight(bounds: Bounds | null, { x, y, zoom }: Camera, { width, height }: Size): boolean {
  if (bounds === null) return true
  const [half, high] = [width / 2 / scaleOf(zoom), height / 2 / scaleOf(zoom)]
  const { west, north, east, south } = bounds
  return west >= x - half && east <= x + half && north >= y - high && south <= y + high
}

/** What the map shows. */
export interface Seen {
  readonly zoom: number
  /** West, south, east, north in degrees. */
  readonly bbox: readonly [number, number, number, number]
}

export function seenBy({ x, y, zoom }: Camera, { width, height }: Size): Seen {
  const [half, high] = [width / 2 / scaleOf(zoom), height / 2 / scaleOf(zoom)]
  return { zoom, bbox: [lngOf(x - half), latOf(y + high), lngOf(x + half), latOf(y - high)] }
}

/** Geometry on the sphere. */

/** Degrees. */
export interface Place {
  readonly lat: number
  readonly lng: number
}

/** Mean Earth radius in metres (IUGG mean radius R₁). */
export const EARTH_RADIUS_M = 6_371_008.8

/** Whether coordinates are a place. Exactly 0,0 is what a device sends without a fix. */
export const isPlace = ({ lat, lng }: Place): boolean => lat !== 0 || lng !== 0

/** A position with this accuracy (m) or worse is rough. Phones report exactly 100 when the accuracy is unknown. */
export const ROUGH_M = 100

/**
 * Whether a position is unusable for distances: its accuracy is 100 m or worse, or it has no valid place.
 * @param position `accuracy` in metres, as the table stores it (float4); null: unknown, not rough
 */
export const isRough = (position: Place & { readonly accuracy: number | null }): boolean =>
  (position.accuracy !== null && Math.fround(position.accuracy) >= ROUGH_M) || !isPlace(position)

const RADIANS = Math.PI / 180

/** Metres of a degree of latitude, and of longitude on the equator. */
export const METRES_PER_DEGREE = 111_195

/** Great-circle distance by haversine, in whole millimetres, so that sums are exact in any grouping. */
export function distanceMm(a: Place, b: Place): number {
  const dLat = (b.lat - a.lat) * RADIANS
  const dLng = (b.lng - a.lng) * RADIANS
  const sinLat = Math.sin(dLat / 2)
  const sinLng = Math.sin(dLng / 2)
  const h = sinLat * sinLat + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * sinLng * sinLng
  return Math.round(2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h))) * 1_000)
}

// Simplifies lines (Douglas and Peucker).

interface Point {
  readonly x: number
  readonly y: number
}

/**
 * The squared distance from the line through two points, as a function. It avoids roots and `hypot`, because a line of
 * n points can need n² of these.
 */
function squaredDistanceFrom(a: Point, b: Point): (p: Point) => number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const squaredLength = dx * dx + dy * dy
  if (squaredLength === 0) return ({ x, y }) => (x - a.x) ** 2 + (y - a.y) ** 2
  const offset = b.x * a.y - b.y * a.x
  return ({ x, y }) => (dy * x - dx * y + offset) ** 2 / squaredLength
}

/** Simplifies a line to the tolerance. Both ends remain. */
export function simplifyLine<P extends Point>(points: readonly P[], tolerance: number): P[] {
  const keep = new Set([0, points.length - 1])
  const spans: [number, number][] = [[0, points.length - 1]]
  for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
    const [from, to] = span
    const squaredDistance = squaredDistanceFrom(points[from]!, points[to]!)
    let farthest = 0
    let at = -1
    for (let i = from + 1; i < to; i++) {
      const squared = squaredDistance(points[i]!)
      if (squared > farthest) {
        farthest = squared
        at = i
      }
    }
    if (farthest <= tolerance * tolerance) continue
    keep.add(at)
    spans.push([from, at], [at, to])
  }
  return points.filter((_, i) => keep.has(i))
}

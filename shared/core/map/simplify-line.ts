/** Simplifies lines (Douglas and Peucker). */

interface Point {
  readonly x: number
  readonly y: number
}

/**
 * A function of the squared distance from the line through two points. Nothing in it takes a root or calls `hypot`,
 * because a line of n points can take n² of these.
 */
function squaredDistanceFrom(a: Point, b: Point): (p: Point) => number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const squaredLength = dx * dx + dy * dy
  if (squaredLength === 0) return ({ x, y }) => (x - a.x) ** 2 + (y - a.y) ** 2
  const offset = b.x * a.y - b.y * a.x
  return ({ x, y }) => (dy * x - dx * y + offset) ** 2 / squaredLength
}

/** The points of a line that remain when details below the tolerance are left out. Both ends remain. */
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

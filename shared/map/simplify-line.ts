/** Simplifies lines (Douglas and Peucker). */

interface Point {
  readonly x: number
  readonly y: number
}

/** Distance of a point from the line through two others. */
function distance(p: Point, a: Point, b: Point): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const length = Math.hypot(dx, dy)
  if (length === 0) return Math.hypot(p.x - a.x, p.y - a.y)
  return Math.abs(dy * p.x - dx * p.y + b.x * a.y - b.y * a.x) / length
}

/** The points of a line that remain when details below the tolerance are left out. Both ends remain. */
export function simplifyLine<P extends Point>(points: readonly P[], tolerance: number): P[] {
  const keep = new Set([0, points.length - 1])
  const spans: [number, number][] = [[0, points.length - 1]]
  for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
    const [from, to] = span
    let farthest = 0
    let at = -1
    for (let i = from + 1; i < to; i++) {
      const d = distance(points[i]!, points[from]!, points[to]!)
      if (d > farthest) [farthest, at] = [d, i]
    }
    if (farthest <= tolerance) continue
    keep.add(at)
    spans.push([from, at], [at, to])
  }
  return points.filter((_, i) => keep.has(i))
}

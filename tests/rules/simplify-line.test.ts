import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { simplifyLine } from '#shared/core/rules/geo.ts'

const at = (x: number, y: number) => ({ x, y })

test('details below the tolerance are left out, corners remain', () => {
  const line = [at(0, 0), at(1, 0.4), at(2, 0), at(3, 0), at(3, 5), at(3.4, 6), at(3, 7)]
  expect(simplifyLine(line, 0.5)).toEqual([at(0, 0), at(3, 0), at(3, 7)])
  expect(simplifyLine(line, 0.1)).toEqual(line)
  expect(simplifyLine([at(0, 0), at(0.2, 0), at(0, 0)], 0.1)).toHaveLength(3)
})

test('no point is farther from the simplified line than the tolerance', () => {
  const points = fc.array(
    fc.record({ x: fc.integer({ max: 99, min: 0 }), y: fc.integer({ max: 99, min: 0 }) }),
    {
      minLength: 1,
      maxLength: 40,
    },
  )
  fc.assert(
    fc.property(points, fc.integer({ min: 0, max: 30 }), (line, tolerance) => {
      const kept = simplifyLine(line, tolerance)
      expect([kept[0], kept.at(-1)]).toEqual([line[0], line.at(-1)])
      let from = 0
      for (let i = 1; i < kept.length; i++) {
        const to = line.indexOf(kept[i]!, from + 1)
        const farthest = Math.max(0, ...line.slice(from + 1, to).map((p) => off(p, line[from]!, line[to]!)))
        expect(farthest).toBeLessThanOrEqual(tolerance + 1e-9)
        from = to
      }
    }),
  )
})

type Point = ReturnType<typeof at>

/** Distance of a point from the line through two others, by the area of their triangle. */
function off(p: Point, a: Point, b: Point): number {
  const base = Math.hypot(b.x - a.x, b.y - a.y)
  if (base === 0) return Math.hypot(p.x - a.x, p.y - a.y)
  return Math.abs((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) / base
}

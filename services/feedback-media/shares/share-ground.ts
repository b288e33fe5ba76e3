/** The ground of a link's map, where it is in Taiwan: coast, borders and names of towns, cut to the picture. */
import { type Atlas, counties, type Named, TAIWAN, towns } from '#shared/atlas/taiwan.ts'
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import { simplifyLine } from '#shared/map/simplify-line.ts'
import type { Place } from '#shared/map/walking-route.ts'

/** Metres that the atlas may be off. A picture may show less than a kilometre. */
const TOLERANCE_M = 10
const TOLERANCE_PX = 0.8
/** Pixels around the picture in which lines go on, so that their ends are not seen. */
const BEYOND = 12

export interface Point {
  readonly x: number
  readonly y: number
}
export interface Canvas {
  readonly width: number
  readonly height: number
  readonly project: (place: Place) => Point
}

let read: { readonly counties: Atlas; readonly towns: Atlas } | undefined
/** Read once, when the first map is drawn: it takes a tenth of a second. */
const atlas = () => (read ??= { counties: counties(TOLERANCE_M), towns: towns(TAIWAN, TOLERANCE_M) })

type Line = readonly (readonly number[])[]

/** @returns null where there is nothing of Taiwan in the picture */
export function groundOf(
  canvas: Canvas,
): { readonly svg: string; readonly names: readonly (Named & Point)[] } | null {
  const { counties, towns } = atlas()
  const land = counties.land.flatMap((ring) => {
    const cut = cutRing(projected(ring, canvas), canvas)
    return cut.length < 3 ? [] : [simplifyLine([...cut, cut[0]!], TOLERANCE_PX)]
  })
  if (land.length === 0) return null
  const border = (lines: readonly Line[]) =>
    lines.flatMap((line) => partsInside(projected(line, canvas), canvas))
  const shape = (name: string, lines: readonly (readonly Point[])[]) =>
    lines.length === 0 ? '' : `<path class="${name}" d="${lines.map(pathOf).join('')}"/>`
  return {
    svg: [
      shape('land coast', land),
      shape('town-border', border(towns.lines)),
      shape('county-border', border(counties.lines)),
    ].join(''),
    names: towns.names.flatMap((name) => {
      const at = canvas.project({ lng: name.at[0]!, lat: name.at[1]! })
      return inside(at, canvas, -30) ? [{ ...name, ...at }] : []
    }),
  }
}

/** The name of a town, in the middle of it. */
export const townName = ({ x, y, zh, en }: Named & Point, language: string): string =>
  `<text class="town" x="${x}" y="${y}" text-anchor="middle">${escapeMarkup(language === 'en' ? en : zh)}</text>`

const projected = (line: Line, { project }: Canvas): Point[] =>
  line.map(([lng, lat]) => project({ lng: lng!, lat: lat! }))

export const pathOf = (points: readonly Point[]): string =>
  points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`).join('')

/** @param beyond pixels around the picture that count as inside */
const inside = ({ x, y }: Point, { width, height }: Canvas, beyond: number): boolean =>
  x > -beyond && x < width + beyond && y > -beyond && y < height + beyond

/** The parts of a line that cross the picture, each with one point beyond it. */
export function partsInside(points: readonly Point[], canvas: Canvas): Point[][] {
  const parts: Point[][] = []
  let part: Point[] = []
  for (const [i, point] of points.entries()) {
    const [before, after] = [points[i - 1], points[i + 1]]
    // A long piece may cross the picture with both ends outside.
    if ([before, point, after].some((one) => one !== undefined && inside(one, canvas, canvas.width)))
      part.push(point)
    else if (part.length > 0) [part] = [[], parts.push(part)]
  }
  if (part.length > 0) parts.push(part)
  return parts.filter((one) => one.length > 1).map((one) => simplifyLine(one, TOLERANCE_PX))
}

/** The part of a ring inside the picture (Sutherland and Hodgman: one edge of the picture after the other). */
function cutRing(ring: readonly Point[], { width, height }: Canvas): Point[] {
  const edges = [
    { axis: 'x', at: -BEYOND, sign: 1 },
    { axis: 'x', at: width + BEYOND, sign: -1 },
    { axis: 'y', at: -BEYOND, sign: 1 },
    { axis: 'y', at: height + BEYOND, sign: -1 },
  ] as const
  let points = [...ring]
  for (const { axis, at, sign } of edges) {
    const depth = (point: Point) => (point[axis] - at) * sign
    const next: Point[] = []
    for (const [i, point] of points.entries()) {
      const before = points[i === 0 ? points.length - 1 : i - 1]!
      const [from, to] = [depth(before), depth(point)]
      if (from >= 0 !== to >= 0) next.push(between(before, point, from / (from - to)))
      if (to >= 0) next.push(point)
    }
    points = next
  }
  return points
}

const round = (value: number): number => Math.round(value * 10) / 10

const between = (a: Point, b: Point, share: number): Point => ({
  x: round(a.x + (b.x - a.x) * share),
  y: round(a.y + (b.y - a.y) * share),
})

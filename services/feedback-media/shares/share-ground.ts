/** The ground of a link's map, where it is in Taiwan: coast, borders and names of towns, cut to the picture. */
import type { Position } from 'geojson'
import { type Box, boxOf, counties, type Named, TAIWAN, townOf, towns } from '#shared/atlas/taiwan.ts'
import { simplifyLine } from '#shared/map/simplify-line.ts'
import type { Place } from '#shared/map/walking-route.ts'

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

interface Line {
  readonly places: readonly Position[]
  readonly box: Box
}

const lineOf = (places: readonly Position[]): Line => ({ places, box: boxOf(places) })

/** Reads once, when it is first asked for. */
function once<T>(read: () => T) {
  let held: { readonly value: T } | undefined
  return Object.assign((): T => (held ??= { value: read() }).value, { isRead: () => held !== undefined })
}

// A picture may show less than a kilometre, so nothing is simplified before it is cut.
const coast = once(() => {
  const { land, lines } = counties(0)
  return { land: land.map(lineOf), borders: lines.map(lineOf) }
})
const inland = once(() => {
  const { lines, names } = towns(TAIWAN, 0)
  return { borders: lines.map(lineOf), names }
})
const townNames = once(() => townOf({ lat: 24, lng: 121 }))
const PARTS = [coast, inland, townNames]

/** Whether no map has to wait until the atlas is read. */
export const isAtlasRead = (): boolean => PARTS.every((part) => part.isRead())

/** Reads the atlas in parts of some 50 ms, between which others have their turn. Aborted, it stops after a part. */
export async function readAtlas(stopping: AbortSignal): Promise<void> {
  for (const part of PARTS) {
    if (stopping.aborted) return
    part()
    await new Promise(setImmediate)
  }
}

/** Whether the extent of a line meets the picture. */
function meets({ box: [west, south, east, north] }: Line, canvas: Canvas): boolean {
  const [from, to] = [canvas.project({ lat: north, lng: west }), canvas.project({ lat: south, lng: east })]
  return (
    from.x <= canvas.width + BEYOND && to.x >= -BEYOND && from.y <= canvas.height + BEYOND && to.y >= -BEYOND
  )
}

/** @returns null where there is nothing of Taiwan in the picture */
export function groundOf(
  canvas: Canvas,
): { readonly svg: string; readonly names: readonly (Named & Point)[] } | null {
  const near = (lines: readonly Line[]) => lines.filter((line) => meets(line, canvas))
  const land = near(coast().land).flatMap((ring) => {
    const cut = cutRing(projected(ring, canvas), canvas)
    return cut.length < 3 ? [] : [simplifyLine([...cut, cut[0]!], TOLERANCE_PX)]
  })
  if (land.length === 0) return null
  const border = (lines: readonly Line[]) =>
    near(lines).flatMap((line) => partsInside(projected(line, canvas), canvas))
  const shape = (name: string, lines: readonly (readonly Point[])[]) =>
    lines.length === 0 ? '' : `<path class="${name}" d="${lines.map(pathOf).join('')}"/>`
  return {
    svg: [
      shape('land coast', land),
      shape('town-border', border(inland().borders)),
      shape('county-border', border(coast().borders)),
    ].join(''),
    names: inland().names.flatMap((name) => {
      const at = canvas.project({ lng: name.at[0]!, lat: name.at[1]! })
      return inside(at, canvas, -30) ? [{ ...name, ...at }] : []
    }),
  }
}

const projected = ({ places }: Line, { project }: Canvas): Point[] =>
  places.map(([lng, lat]) => project({ lng: lng!, lat: lat! }))

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

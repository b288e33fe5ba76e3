/** Lines, places and cells in world coordinates, decoded once on arrival. */
import type { EventRoute, MapCellEntry } from '#shared/client/index.ts'
import type { PlaceName } from '#shared/core/rules/languages.ts'
import { crowdStep } from '../design/marks.tsx'
import { type Bounds, boundsOf, distanceKm, worldX, worldY } from './projection.ts'

export interface Shape {
  /** x and y of each place, in turn. */
  readonly at: Float64Array
  readonly bounds: Bounds
}

export interface Place {
  readonly x: number
  readonly y: number
}

export function shapeOf(places: readonly (readonly [lng: number, lat: number])[]): Shape {
  const at = new Float64Array(places.length * 2)
  for (const [i, [lng, lat]] of places.entries()) at.set([worldX(lng), worldY(lat)], i * 2)
  return { at, bounds: boundsOf(places.map(([lng, lat]) => [worldX(lng), worldY(lat)] as const))! }
}

/** Decodes a flat list of differences into places [first value, second value], divided by the units. */
function placesOf(flat: readonly number[], units: number): [number, number][] {
  const places: [number, number][] = []
  let [first, second] = [0, 0]
  for (let i = 0; i + 1 < flat.length; i += 2) {
    first += flat[i]!
    second += flat[i + 1]!
    places.push([first / units, second / units])
  }
  return places
}

const decode = (lines: Lines): Shape[] => lines.map((line) => shapeOf(placesOf(line, 1e4)))

export interface AtlasShapes {
  readonly land: readonly Shape[]
  readonly lines: readonly Shape[]
  readonly names: readonly (Place & PlaceName)[]
}

export const atlasShapes = ({ land, lines, names }: Atlas): AtlasShapes => ({
  land: decode(land),
  lines: decode(lines),
  names: names.map(([zh, hans, en, lng, lat]) => ({
    zh,
    hans,
    en,
    x: worldX(lng / 1e4),
    y: worldY(lat / 1e4),
  })),
})

export interface RouteShapes {
  readonly lines: readonly (Shape & {
    /** Kilometres from the start of the route, of each place. */
    readonly km: Float64Array
  })[]
  readonly bounds: Bounds | null
}

export function routeShapes({ lines, km: length }: Pick<EventRoute, 'lines' | 'km'>): RouteShapes {
  let along = 0
  const shapes = lines.map((line) => {
    const places = placesOf(line, 1e5).map(([lat, lng]): [number, number] => [lng, lat])
    const km = Float64Array.from(places, ([lng, lat], i) => {
      const before = places[i - 1]
      if (before !== undefined) along += distanceKm({ lat: before[1], lng: before[0] }, { lat, lng })
      return along
    })
    return { ...shapeOf(places), km }
  })
  // A simplified line is a little shorter than the route.
  const stretch = along > 0 ? length / along : 1
  for (const { km } of shapes) for (const [i, value] of km.entries()) km[i] = value * stretch
  const corners = shapes.flatMap(({ bounds: { west, north, east, south } }) => [
    [west, north] as const,
    [east, south] as const,
  ])
  return { lines: shapes, bounds: boundsOf(corners) }
}

/** Cells for drawing: wide ones first, so that none hides another. */
export interface Crowd {
  /** Small cells are drawn as a band along the route, not as squares. */
  readonly isBand: boolean
  readonly count: number
  /** West, north, east and south of each cell, in turn. */
  readonly edges: Float64Array
  /** Step of its number of pilgrims, 1 to 5. */
  readonly steps: Uint8Array
  /** Number of pilgrims of each cell. */
  readonly amounts: Float64Array
}

/** Width of a cell at zoom 6 in degrees; half as wide at each further zoom. */
const CELL_DEGREES = 0.2

/** Length of the equator. */
export const EARTH_KM = 40_075.017

export function crowdOf(cells: readonly MapCellEntry[], isBand = false): Crowd {
  const sorted = cells
    .map((cell) => ({ cell, step: crowdStep(cell[3]) }))
    .sort((a, b) => a.cell[2] - b.cell[2] || a.step - b.step)
  const edges = new Float64Array(sorted.length * 4)
  const steps = new Uint8Array(sorted.length)
  const amounts = new Float64Array(sorted.length)
  for (const [i, { cell, step }] of sorted.entries()) {
    const [lat, lng, zoom] = [cell[0] / 1e5, cell[1] / 1e5, cell[2]]
    const half = CELL_DEGREES / 2 ** (zoom - 6) / 2
    edges.set([worldX(lng - half), worldY(lat + half), worldX(lng + half), worldY(lat - half)], i * 4)
    steps[i] = step
    amounts[i] = cell[3]
  }
  return { isBand, count: sorted.length, edges, steps, amounts }
}

/** Flat lists in 1e-4 degrees: longitude and latitude of the first place, then the differences to each next one. */
export type Lines = readonly (readonly number[])[]

/** Coasts, borders and names, as written by build/build-pages.ts. */
export interface Atlas {
  /** Closed rings. */
  readonly land: Lines
  readonly lines: Lines
  /** Name in traditional and simplified Chinese and in English, longitude and latitude in 1e-4 degrees. */
  readonly names: readonly (readonly [zh: string, hans: string, en: string, lng: number, lat: number])[]
}

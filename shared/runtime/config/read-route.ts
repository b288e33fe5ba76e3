/**
 * The event's route, from a GeoJSON file with one line, or several in walking order. Points of a FeatureCollection are
 * its stations: `properties.name`, names in other languages as `name_en`, `name_ja`, `name_zh_hant`, `name_zh_hans`,
 * and optionally `km`, the distance along the route where it passes twice, and `planned_at`, the planned arrival. A
 * point with a `kind` is no station but a place along the way, such as water; its name is optional, and `hours` says
 * when it is open.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Language } from '#shared/contracts/bot.ts'
import { time } from '#shared/contracts/fields.ts'
import {
  MAX_PLACES,
  MAX_STATIONS,
  PlaceKind,
  type RoutePart,
  SettingsPlace,
} from '#shared/contracts/event-settings.ts'
import type { MapPlaceAlong } from '#shared/contracts/map.ts'
import { createRoute, type Route, shownRoute, type Station } from '#shared/core/map/walking-route.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

const Position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)], z.number())
const Line = z.array(Position).min(2)
const Lines = z.union([
  z.object({ type: z.literal('LineString'), coordinates: Line }),
  z.object({ type: z.literal('MultiLineString'), coordinates: z.array(Line).min(1) }),
])
const LineFeature = z.object({ type: z.literal('Feature'), geometry: Lines })
const MAX_NAME = 100
const Point = z.object({ type: z.literal('Point'), coordinates: Position })
const PlaceFeature = z.object({
  type: z.literal('Feature'),
  geometry: Point,
  properties: z
    .object({ kind: PlaceKind, hours: SettingsPlace.shape.hours.optional() })
    .catchall(z.unknown()),
})
const StationFeature = z.object({
  type: z.literal('Feature'),
  geometry: Point,
  properties: z
    .object({
      /** A kind that is not one of ours belongs to another program. */
      kind: z
        .unknown()
        .refine((kind) => !PlaceKind.safeParse(kind).success)
        .optional(),
      name: z.string().trim().min(1).max(MAX_NAME),
      km: z.number().min(0).optional(),
      planned_at: z.iso.datetime({ offset: true }).optional(),
    })
    .catchall(z.unknown()),
})
const Collection = z.object({
  type: z.literal('FeatureCollection'),
  features: z.array(z.union([LineFeature, PlaceFeature, StationFeature])).min(1),
})
const File = z.union([Lines, LineFeature, Collection])
type File = z.infer<typeof File>
type Feature = z.infer<typeof Collection>['features'][number]

/** The properties with a station's name in each language. */
const NAMES: Readonly<Record<string, string>> = {
  name_zh_hant: 'zh-Hant',
  name_zh_hans: 'zh-Hans',
  name_en: 'en',
  name_ja: 'ja',
}

/** A route, its stations and the places along it, in walking order. */
export interface RouteFile {
  readonly route: Route | null
  readonly stations: readonly Station[]
  readonly places: readonly MapPlaceAlong[]
}

const NOTHING: RouteFile = { route: null, stations: [], places: [] }

const LIMITS = [
  ['stations', MAX_STATIONS],
  ['places', MAX_PLACES],
] as const

/** Reads the route's file; no route without a file. Adds a fault if the file is invalid. */
export function readRoute(file: string, faults: string[]): RouteFile {
  if (file === '') return NOTHING
  try {
    const given = File.parse(JSON.parse(readFileSync(file, 'utf8')))
    const lines = linesOf(given)
    if (lines.length === 0) {
      faults.push('EVENT_ROUTE: has stations, but no line')
      return NOTHING
    }
    const route = createRoute(lines.map((line) => line.map(([lng, lat]) => ({ lat, lng }))))
    const points = { stations: stationsOf(given, route), places: placesOf(given, route) }
    for (const [name, most] of LIMITS)
      if (points[name].length > most)
        faults.push(`EVENT_ROUTE: has ${points[name].length} ${name}; a route may have ${most}`)
    return { route, ...points }
  } catch (error) {
    faults.push(`EVENT_ROUTE: ${error instanceof z.ZodError ? 'is not a GeoJSON line' : String(error)}`)
    return NOTHING
  }
}

function linesOf(given: File): z.infer<typeof Line>[] {
  if (given.type === 'FeatureCollection')
    return given.features.flatMap((feature) => ('properties' in feature ? [] : linesOf(feature.geometry)))
  if (given.type === 'Feature') return linesOf(given.geometry)
  return given.type === 'LineString' ? [given.coordinates] : given.coordinates
}

function stationsOf(given: File, route: Route): Station[] {
  if (given.type !== 'FeatureCollection') return []
  return given.features
    .flatMap((feature) => (isStation(feature) ? [stationOf(feature, route)] : []))
    .sort((a, b) => a.alongM - b.alongM)
}

const isStation = (feature: Feature): feature is z.infer<typeof StationFeature> =>
  'properties' in feature && !isPlace(feature)
const isPlace = (feature: Feature): feature is z.infer<typeof PlaceFeature> =>
  'properties' in feature && PlaceKind.safeParse(feature.properties.kind).success

function placesOf(given: File, route: Route): MapPlaceAlong[] {
  if (given.type !== 'FeatureCollection') return []
  return given.features
    .filter(isPlace)
    .map(({ geometry, properties }) => {
      const [lng, lat] = geometry.coordinates
      const { kind, hours = null } = properties
      const route_km = roundKm(route.project({ lat, lng }).alongM * 1_000)
      return { lat, lng, kind, hours, name: textIn(properties, 'name'), names: namesOf(properties), route_km }
    })
    .sort((a, b) => a.route_km - b.route_km)
}

const textIn = (properties: Readonly<Record<string, unknown>>, property: string): string | null => {
  const text = properties[property]
  return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, MAX_NAME) : null
}

const namesOf = (properties: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(NAMES).flatMap(([property, language]) => {
      const name = textIn(properties, property)
      return name === null ? [] : [[language, name]]
    }),
  )

function stationOf({ geometry, properties }: z.infer<typeof StationFeature>, route: Route): Station {
  const [lng, lat] = geometry.coordinates
  const alongM = properties.km === undefined ? route.project({ lat, lng }).alongM : properties.km * 1_000
  const { name: own, planned_at: plannedAt } = properties
  return {
    lat,
    lng,
    name: own,
    names: namesOf(properties),
    alongM,
    ...(plannedAt === undefined ? {} : { plannedMs: Date.parse(plannedAt) }),
  }
}

/** A station farther than this from its nearest passage belongs to another one (m). */
const SAME_PASSAGE_M = 50

/** The file as the owner edits it in the console: the line simplified. */
export function partOfRoute({ route, stations, places }: RouteFile, language: Language): RoutePart {
  if (route === null) return { lines: [], stations: [], places: [], margin_km: null }
  return {
    lines: shownRoute(route).lines,
    stations: stations.map(({ lat, lng, name, names, alongM, plannedMs }) => ({
      lat,
      lng,
      names: { [language]: name, ...names },
      km: Math.abs(route.project({ lat, lng }).alongM - alongM) < SAME_PASSAGE_M ? null : alongM / 1_000,
      planned_at: plannedMs === undefined ? null : time(plannedMs),
    })),
    places: places.map(({ lat, lng, kind, name, names, hours }) => ({
      lat,
      lng,
      kind,
      names: name === null ? names : { [language]: name, ...names },
      hours,
    })),
    margin_km: null,
  }
}

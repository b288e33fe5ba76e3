/**
 * The event's route, from a GeoJSON file with one line, or several in walking order. Points of a FeatureCollection are
 * its stations: `properties.name`, names in other languages as `name_en`, `name_ja`, `name_zh_hant`, `name_zh_hans`,
 * and optionally `km`, the distance along the route where it passes twice, and `planned_at`, the planned arrival.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Language } from '#shared/contracts/bot.ts'
import { time } from '#shared/contracts/fields.ts'
import type { RoutePart } from '#shared/contracts/event-settings.ts'
import { createRoute, type Route, shownRoute, type Station } from '#shared/core/map/walking-route.ts'

const Position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)], z.number())
const Line = z.array(Position).min(2)
const Lines = z.union([
  z.object({ type: z.literal('LineString'), coordinates: Line }),
  z.object({ type: z.literal('MultiLineString'), coordinates: z.array(Line).min(1) }),
])
const LineFeature = z.object({ type: z.literal('Feature'), geometry: Lines })
const MAX_NAME = 100
const StationFeature = z.object({
  type: z.literal('Feature'),
  geometry: z.object({ type: z.literal('Point'), coordinates: Position }),
  properties: z
    .object({
      name: z.string().trim().min(1).max(MAX_NAME),
      km: z.number().min(0).optional(),
      planned_at: z.iso.datetime({ offset: true }).optional(),
    })
    .catchall(z.unknown()),
})
const Collection = z.object({
  type: z.literal('FeatureCollection'),
  features: z.array(z.union([LineFeature, StationFeature])).min(1),
})
const File = z.union([Lines, LineFeature, Collection])
type File = z.infer<typeof File>

/** The properties with a station's name in each language. */
const NAMES: Readonly<Record<string, string>> = {
  name_zh_hant: 'zh-Hant',
  name_zh_hans: 'zh-Hans',
  name_en: 'en',
  name_ja: 'ja',
}

/** A route and its stations in walking order. */
export interface RouteFile {
  readonly route: Route | null
  readonly stations: readonly Station[]
}

const NOTHING: RouteFile = { route: null, stations: [] }

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
    return { route, stations: stationsOf(given, route) }
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
    .flatMap((feature) => ('properties' in feature ? [stationOf(feature, route)] : []))
    .sort((a, b) => a.alongM - b.alongM)
}

function stationOf({ geometry, properties }: z.infer<typeof StationFeature>, route: Route): Station {
  const [lng, lat] = geometry.coordinates
  const names = Object.entries(NAMES).flatMap(([property, language]) => {
    const name = properties[property]
    return typeof name === 'string' && name.trim() !== '' ? [[language, name.trim().slice(0, MAX_NAME)]] : []
  })
  const alongM = properties.km === undefined ? route.project({ lat, lng }).alongM : properties.km * 1_000
  const { name: own, planned_at: plannedAt } = properties
  return {
    lat,
    lng,
    name: own,
    names: Object.fromEntries(names) as Station['names'],
    alongM,
    ...(plannedAt === undefined ? {} : { plannedMs: Date.parse(plannedAt) }),
  }
}

/** A station farther than this from its nearest passage belongs to another one (m). */
const SAME_PASSAGE_M = 50

/** The file as the owner edits it in the console: the line simplified. */
export function partOfRoute({ route, stations }: RouteFile, language: Language): RoutePart {
  if (route === null) return { lines: [], stations: [], margin_km: null }
  return {
    lines: shownRoute(route).lines,
    stations: stations.map(({ lat, lng, name, names, alongM, plannedMs }) => ({
      lat,
      lng,
      names: { [language]: name, ...names },
      km: Math.abs(route.project({ lat, lng }).alongM - alongM) < SAME_PASSAGE_M ? null : alongM / 1_000,
      planned_at: plannedMs === undefined ? null : time(plannedMs),
    })),
    margin_km: null,
  }
}

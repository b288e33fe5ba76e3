/** The event's route, from a GeoJSON file with one line, or several that are walked in order. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { createRoute, type Route } from '#shared/map/walking-route.ts'

const Position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)], z.number())
const Line = z.array(Position).min(2)
const Geometry = z.union([
  z.object({ type: z.literal('LineString'), coordinates: Line }),
  z.object({ type: z.literal('MultiLineString'), coordinates: z.array(Line).min(1) }),
])
const Feature = z.object({ type: z.literal('Feature'), geometry: Geometry })
const File = z.union([
  Geometry,
  Feature,
  z.object({ type: z.literal('FeatureCollection'), features: z.array(Feature).min(1) }),
])

/** Reads the route's file; null without a file. Adds a fault if the file is invalid. */
export function readRoute(file: string, faults: string[]): Route | null {
  if (file === '') return null
  try {
    const route = File.parse(JSON.parse(readFileSync(file, 'utf8')))
    const geometries =
      route.type === 'FeatureCollection'
        ? route.features.map((feature) => feature.geometry)
        : [route.type === 'Feature' ? route.geometry : route]
    const lines = geometries.flatMap(({ type, coordinates }) =>
      type === 'LineString' ? [coordinates] : coordinates,
    )
    return createRoute(lines.map((line) => line.map(([lng, lat]) => ({ lat, lng }))))
  } catch (error) {
    faults.push(`EVENT_ROUTE: ${error instanceof z.ZodError ? 'is not a GeoJSON line' : String(error)}`)
    return null
  }
}

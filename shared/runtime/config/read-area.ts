/** The event's area, from a GeoJSON file. Points outside it are stored and flagged, but not counted. */
import { readFileSync } from 'node:fs'
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import { z } from 'zod'

const Ring = z.array(z.array(z.number()).min(2)).min(4)
const Polygon = z.object({ type: z.literal('Polygon'), coordinates: z.array(Ring).min(1) })
const MultiPolygon = z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(z.array(Ring).min(1)) })
const Geometry = z.union([Polygon, MultiPolygon])
const Feature = z.object({ type: z.literal('Feature'), geometry: Geometry })
const Area = z.union([
  Geometry,
  Feature,
  z.object({ type: z.literal('FeatureCollection'), features: z.array(Feature).min(1) }),
])

/** Whether a position is inside the event's area. */
export type InArea = (lat: number, lng: number) => boolean

/** Reads the area's file; without a file every position is inside. Adds a fault if the file is invalid. */
export function readArea(file: string, faults: string[]): InArea {
  if (file === '') return () => true
  try {
    const area = Area.parse(JSON.parse(readFileSync(file, 'utf8')))
    const geometries =
      area.type === 'FeatureCollection'
        ? area.features.map((feature) => feature.geometry)
        : [area.type === 'Feature' ? area.geometry : area]
    return (lat, lng) => geometries.some((geometry) => booleanPointInPolygon([lng, lat], geometry))
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'is not a GeoJSON polygon' : String(error)
    faults.push(`EVENT_AREA: ${reason}`)
    return () => true
  }
}

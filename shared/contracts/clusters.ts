/** The map of the event by cells: how many points there are, and who is where. */
import { z } from 'zod'
import { endpoint, Written } from './endpoint.ts'
import { Instant, Latitude, Longitude, Time, Zoom } from './fields.ts'
import { BoundingBox } from './tracking.ts'

/** Cells in one answer at most. */
export const MAX_CELLS = 5_000

export const ClustersQuery = z.object({
  zoom: Zoom.default(10).describe('Of the cells: 0.2° wide at 6, half as wide with each zoom up to 18'),
  bbox: BoundingBox.optional().describe('west,south,east,north: cells that lie in it or across its edge'),
  since: Instant.optional().describe(
    'Points of then and later, and pilgrims whose latest position is; from the start of that hour',
  ),
  k: z
    .string()
    .regex(/^\d{1,6}$/, { error: 'must be a whole number from 0 to 999999' })
    .transform(Number)
    .default(0)
    .describe('Leaves out cells with fewer pilgrims, for maps that the public sees'),
})
export type ClustersQuery = z.infer<typeof ClustersQuery>

const Position = z.tuple([Longitude, Latitude])

export const CellFeature = z.object({
  type: z.literal('Feature'),
  id: z.string().describe('zoom/x/y of the cell'),
  geometry: z.object({
    type: z.literal('Polygon'),
    coordinates: z.array(z.array(Position)).describe('The cell’s own square'),
  }),
  properties: z.object({
    count: z.int().describe('Points'),
    users: z.int().describe('Pilgrims whose latest position is here'),
  }),
})

const End = z
  .object({
    lat: Latitude,
    lng: Longitude,
    route_km: z.number().nullable().describe('Along the route from its beginning; null without a route'),
  })
  .nullable()

/** What stands beside the cells. */
const Summary = z.object({
  zoom: z.int().describe(`The one asked for, or the next coarser one with at most ${MAX_CELLS} cells`),
  requested_zoom: z.int(),
  since: Time.nullable().describe('Start of the hour that is meant'),
  front: End.describe('Of the walk, wherever the box is: all but the foremost twentieth are behind it'),
  tail: End.describe('All but the last twentieth are before it'),
  spread_km: z.number().nullable().describe('From tail to front, along the route if there is one'),
  as_of: Time.nullable().describe('Time of the last flush'),
})

export const Clusters = z.object({
  type: z.literal('FeatureCollection'),
  features: z.array(CellFeature),
  ...Summary.shape,
})
export type Clusters = z.infer<typeof Clusters>

/** A cell of the map as it is to be written; edges in degrees. */
export interface MapCell {
  readonly id: string
  readonly bounds: readonly [west: number, south: number, east: number, north: number]
  readonly count: number
  readonly users: number
}

/**
 * Writes the map. There are thousands of cells in one answer, and to make, check and write each as an object takes
 * ten times as long; neighbours share their edges, so that each is written once.
 */
export function writeClusters(cells: readonly MapCell[], summary: z.infer<typeof Summary>): Written {
  const edges = new Map<number, string>()
  const edge = (degrees: number): string => {
    let text = edges.get(degrees)
    if (text === undefined) edges.set(degrees, (text = JSON.stringify(degrees)))
    return text
  }
  const features = cells.map(({ id, bounds, count, users }) => {
    const [west, south, east, north] = [edge(bounds[0]), edge(bounds[1]), edge(bounds[2]), edge(bounds[3])]
    const ring = `[${west},${south}],[${east},${south}],[${east},${north}],[${west},${north}],[${west},${south}]`
    return (
      `{"type":"Feature","id":"${id}","geometry":{"type":"Polygon","coordinates":[[${ring}]]},` +
      `"properties":{"count":${count},"users":${users}}}`
    )
  })
  const beside = JSON.stringify(Summary.parse(summary)).slice(1)
  return new Written(`{"type":"FeatureCollection","features":[${features.join()}],${beside}`)
}

export const clustersEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/clusters',
  service: 'admin',
  summary: 'GeoJSON of grid cells with their points and pilgrims; where the walk begins and ends',
  access: 'volunteer',
  query: ClustersQuery,
  data: Clusters,
  keepMs: 1_000,
  errors: [503],
})

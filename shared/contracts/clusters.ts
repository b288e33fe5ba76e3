/** The map of the event by cells: numbers of points and pilgrims, front, middle and tail. */
import { z } from 'zod'
import { endpointsOf, Written } from './endpoint.ts'
import { Instant, Latitude, Longitude, Time, Zoom, exampleText, wholeNumber, Place } from './fields.ts'
import { BoundingBox } from './tracking.ts'

const endpoint = endpointsOf('admin')

export const MAX_CELLS = 5_000

export const ClustersQuery = z.object({
  zoom: Zoom.default(10).describe(
    'Zoom of the cells: 0.2° wide at 6, half as wide at each further zoom up to 18',
  ),
  bbox: BoundingBox.optional()
    .meta({ examples: ['120,23,121,25'] })
    .describe('west,south,east,north: cells inside it or on its edge'),
  since: Instant.optional().describe('Counts points and latest positions from the start of this hour on'),
  until: Instant.optional().describe(
    'Counts only up to the start of this hour: users are those whose latest position of all is in this time',
  ),
  k: wholeNumber(0, 999_999, /^\d{1,6}$/)
    .default(0)
    .describe('Omits cells with fewer pilgrims, for public maps'),
})
export type ClustersQuery = z.infer<typeof ClustersQuery>

const Position = z.tuple([Longitude, Latitude])

export const CellFeature = z.object({
  type: z.literal('Feature'),
  id: exampleText('12/54/12').describe('zoom/x/y of the cell'),
  geometry: z.object({
    type: z.literal('Polygon'),
    coordinates: z.array(z.array(Position)),
  }),
  properties: z.object({
    count: z.int(),
    users: z.int().describe('Pilgrims whose latest position is here'),
  }),
})

const End = z
  .object({
    ...Place,
    route_km: z.number().nullable().describe('Distance from the start of the route; null without a route'),
  })
  .nullable()

const Summary = z.object({
  zoom: z.int().describe(`The requested zoom, or the next coarser one with at most ${MAX_CELLS} cells`),
  requested_zoom: z.int(),
  since: Time.nullable().describe('Start of the requested hour'),
  front: End.describe(
    'Of the whole walk, independent of bbox: 95 % of the pilgrims are behind it; with `until`, 95 % of the points of this time, null with fewer pilgrims than EVENT_MAP_CROWD',
  ),
  middle: End.describe('Half of the pilgrims are behind it; with `until`, of the points'),
  tail: End.describe('95 % of the pilgrims are ahead of it; with `until`, of the points'),
  spread_km: z.number().nullable().describe('Distance from tail to front, along the route if there is one'),
  as_of: Time.nullable().describe('Time of the last flush'),
})

export const Clusters = z.object({
  type: z.literal('FeatureCollection'),
  features: z.array(CellFeature),
  ...Summary.shape,
})
export type Clusters = z.infer<typeof Clusters>

/** A cell to serialize; edges in degrees. */
export interface MapCell {
  readonly id: string
  readonly bounds: readonly [west: number, south: number, east: number, north: number]
  readonly count: number
  readonly users: number
}

/**
 * Writes the JSON directly: creating, validating and serializing an object for each of thousands of cells takes ten
 * times as long. Neighbours share their edges, so each edge is formatted once.
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

export const clustersEndpoint = endpoint('GET /api/event/admin/clusters', {
  id: 'readClusters',
  summary: 'GeoJSON cells with their points and pilgrims; front, middle and tail of the walk',
  access: 'volunteer',
  query: ClustersQuery,
  data: Clusters,
  cacheMs: 1_000,
})

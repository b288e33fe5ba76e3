/** The map of the event by cells: how many points there are, and who is where. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Latitude, Longitude, Time, Zoom } from './fields.ts'
import { BoundingBox } from './tracking.ts'

/** Cells in one answer at most. */
export const MAX_CELLS = 5_000

export const ClustersQuery = z.object({
  zoom: Zoom.default(10).describe('Of the cells: 0.2° wide at 6, half as wide with each zoom up to 18'),
  bbox: BoundingBox.optional().describe('west,south,east,north: cells that lie in it or across its edge'),
  since: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone' })
    .transform((value) => Date.parse(value))
    .optional()
    .describe('Points of then and later, and pilgrims whose latest position is; from the start of that hour'),
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
export type CellFeature = z.infer<typeof CellFeature>

const End = z
  .object({
    lat: Latitude,
    lng: Longitude,
    route_km: z.number().nullable().describe('Along the route from its beginning; null without a route'),
  })
  .nullable()

export const Clusters = z.object({
  type: z.literal('FeatureCollection'),
  features: z.array(CellFeature),
  zoom: z.int().describe(`The one asked for, or the next coarser one with at most ${MAX_CELLS} cells`),
  requested_zoom: z.int(),
  since: Time.nullable().describe('Start of the hour that is meant'),
  front: End.describe('Of the walk, wherever the box is: all but the foremost twentieth are behind it'),
  tail: End.describe('All but the last twentieth are before it'),
  spread_km: z.number().nullable().describe('From tail to front, along the route if there is one'),
  as_of: Time.nullable().describe('Time of the last flush'),
})
export type Clusters = z.infer<typeof Clusters>

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

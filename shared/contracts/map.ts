/** The public map: one answer that any cache may store, and the route. */
import { z } from 'zod'
import { Language } from './bot.ts'
import { endpointsOf } from './endpoint.ts'
import { EventNames, Followed, PlaceKind } from './event-settings.ts'
import { ActivityStatus, Time, exampleText, Place } from './fields.ts'
import { ShownMessages } from './operations.ts'

const endpoint = endpointsOf('tracking')

/** Maximum number of cells in one answer. With more, places are coarser. */
export const MAX_MAP_CELLS = 5_000

/** Degrees as a whole number of 1e-5 degrees, about a metre. */
const E5 = 1e5
const LatitudeE5 = z
  .int()
  .min(-90 * E5)
  .max(90 * E5)
const LongitudeE5 = z
  .int()
  .min(-180 * E5)
  .max(180 * E5)

export const MapCellEntry = z
  .tuple([LatitudeE5, LongitudeE5, z.int().min(6).max(18), z.int().min(0)])
  .describe(
    '[latitude, longitude, zoom, pilgrims]: centre of the cell in 1e-5 degrees; zoom gives its width (0.2° at 6, half as wide at each further zoom); ' +
      'pilgrims: rounded to one of about ten steps per factor of ten. In a delta 0 means that the cell is not on the map any more',
  )
export type MapCellEntry = z.infer<typeof MapCellEntry>

export const MapPlace = z.object({
  ...Place,
  route_km: z.number().nullable().describe('Distance from the start of the route; null without a route'),
  station: z
    .int()
    .nullable()
    .describe('Index in the route’s stations of the nearest station along the route; null without stations'),
})
export type MapPlace = z.infer<typeof MapPlace>

export const StationEstimate = z.object({
  station: z.int().describe('Index in the route’s stations'),
  front_at: Time.nullable().describe('null: the front has passed it'),
  middle_at: Time.describe('Of the palanquin, where one leads'),
  by: z
    .enum(['speed', 'mean', 'plan'])
    .describe(
      'speed: at the pace of the last three hours, at most four times as far ahead as it is known from, to five minutes within an hour, else to half an hour; mean: as fast as on the whole walk until now, rests included, at most 3 days ahead; plan: the time in the file of the route',
    ),
})
export type StationEstimate = z.infer<typeof StationEstimate>

export const MapTotals = z.object({
  as_of: Time.nullable().describe('Time of the last flush'),
  pilgrims: z.int().describe('Pilgrims with a counted point or a report above zero, including erased ones'),
  km: z.int().describe('Kilometres of all pilgrims, on foot and by vehicle, rounded down'),
  carbon_saved_kg: z.int().describe('Compared with the same distance by bus, rounded'),
  levels: z.array(z.int()).length(9).describe('Pilgrims with a counted point of each level, level 1 first'),
})
export type MapTotals = z.infer<typeof MapTotals>

/** Fields that a delta leaves out while they are unchanged. */
const State = z.object({
  event: z.object({
    name: exampleText('白沙屯媽祖進香'),
    names: EventNames,
    language: Language,
    languages: z.array(Language),
    settings_version: z.int().describe('As in GET /api/event/config'),
    followed: Followed,
    starts_at: Time.nullable(),
    ends_at: Time.nullable(),
    time_zone: exampleText('Asia/Taipei'),
    crowd: z.int().describe('Fewest pilgrims in a cell'),
    rehearsal: z.boolean().describe('What is shown is not the event'),
    route: z
      .string()
      .nullable()
      .describe('Version of the route: GET /api/event/route?v=<version>. null: the event has no route'),
  }),
  status: ActivityStatus,
  message: z.string().nullable(),
  messages: ShownMessages,
  stale: z
    .array(z.enum(['crowd', 'totals']))
    .describe('Parts that are not current, because a store is unavailable'),
  seen_since: Time.describe('All pilgrims of the cells were seen then or later'),
  on_map: z.int().describe('Pilgrims in all cells together'),
  cells: z.array(MapCellEntry),
  front: MapPlace.nullable().describe(
    '95 % of the pilgrims on the map are behind it; with a route, the farthest of the last hour. null: nobody is there',
  ),
  middle: MapPlace.nullable().describe('Half of the pilgrims on the map are behind it'),
  tail: MapPlace.nullable().describe('95 % of the pilgrims on the map are ahead of it'),
  palanquin: MapPlace.extend({ seen_at: Time })
    .nullable()
    .describe(
      'The device that an operator has named; its place is exact. It leads speed and times unless it was seen more than ten minutes before as_of. null: none is named, or it is hidden, or was not seen for a day',
    ),
  speed_kmh: z
    .number()
    .nullable()
    .describe(
      'Of the palanquin where it leads, or else of the middle, over the last hour, or since it is known (15 minutes at least); null: not known, or faster than anybody walks (8 km/h)',
    ),
  estimates: z
    .array(StationEstimate)
    .describe('Estimated times at the stations that the middle has not reached'),
  totals: MapTotals.nullable().describe('null: not known, or fewer pilgrims than the crowd'),
})

const Version = z.int().min(0)

export const EventMap = z.object({
  since: z.null().describe('This is the whole map'),
  version: Version.describe('Ask for what changes after it with ?since='),
  as_of: Time.describe('Time of the crowd'),
  ...State.shape,
})
export type EventMap = z.infer<typeof EventMap>

export const EventMapDelta = z.object({
  since: Version.describe('Fields that are absent have not changed since this version'),
  version: Version,
  as_of: Time,
  ...State.partial().shape,
  cells: z.array(MapCellEntry).optional().describe('Cells that are new or have changed; 0 pilgrims: gone'),
})
export type EventMapDelta = z.infer<typeof EventMapDelta>

export const mapEndpoint = endpoint('GET /api/event/map', {
  id: 'readEventMap',
  summary:
    'All that a follower of the event needs, made every ten seconds; caches may keep it. With EVENT_MAP_CROWD above 1 it shows crowds, and the palanquin as the only single pilgrim',
  query: z.object({
    since: z
      .string()
      .regex(/^\d{1,15}$/, { error: 'must be the version of an earlier answer' })
      .transform(Number)
      .optional()
      .describe('Version of an earlier answer: returns what has changed, or the whole map if it is too old'),
  }),
  data: z.union([EventMap, EventMapDelta]),
  tagged: true,
})

export const MapStation = z.object({
  name: exampleText('拱天宮'),
  names: z
    .record(z.string(), z.string())
    .describe('Names in other languages, by language: zh-Hant, zh-Hans, en, ja'),
  ...Place,
  route_km: z.number().describe('Distance from the start of the route'),
})

export const MapPlaceAlong = z.object({
  kind: PlaceKind,
  name: exampleText('南勢國小').nullable().describe('null: its kind is name enough'),
  names: z.record(z.string(), z.string()).describe('Names by language'),
  ...Place,
  route_km: z.number().describe('Distance from the start of the route to its nearest passage'),
  hours: exampleText('06:00–22:00').nullable().describe('When it is open, as the organisers write it'),
})
export type MapPlaceAlong = z.infer<typeof MapPlaceAlong>

export const EventRoute = z.object({
  version: z.string().nullable().describe('null: the event has no route'),
  km: z.number(),
  lines: z
    .array(z.array(z.int()))
    .describe(
      'Lines in the order in which they are walked, simplified to about 10 m. Each is a flat list: latitude and longitude of its first place in 1e-5 degrees, then the differences to each next place',
    ),
  stations: z.array(MapStation).describe('In the order of the route'),
  places: z
    .array(MapPlaceAlong)
    .optional()
    .describe('Water, toilets and the like along the way, in the order of the route; absent: there are none'),
})
export type EventRoute = z.infer<typeof EventRoute>

export const routeEndpoint = endpoint('GET /api/event/route', {
  id: 'readRoute',
  summary: 'The route and its stations. With the version of the map as v, caches may keep it for ever',
  query: z.object({ v: z.string().optional() }),
  data: EventRoute,
  tagged: true,
})

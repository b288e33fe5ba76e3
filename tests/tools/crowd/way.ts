/**
 * The demo's way: positions by kilometre, and stations. Reads a GeoJSON file with lines (in walking order)
 * and points.
 */
import { readFileSync } from 'node:fs'
import type { Client } from '#shared/client/index.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import { ReplayFault } from '../replay/phone.ts'
import { z } from 'zod'

export interface Place {
  readonly lat: number
  readonly lng: number
}

export interface Station {
  readonly name: string
  /** Kilometres from the start of the way. */
  readonly km: number
}

export interface Way {
  readonly lengthKm: number
  /** In order of their kilometres. The first is the start, the last is the end. */
  readonly stations: readonly Station[]
  /** Kilometre of the turning point: the end of the first line. */
  readonly turnKm: number
  /** The place at a kilometre; `sideM` metres to the left of it. */
  at(km: number, sideM?: number): Place
}

const Position = z.tuple([z.number(), z.number()])
const Line = z.object({ type: z.literal('LineString'), coordinates: z.array(Position).min(2) })
const Point = z.object({ type: z.literal('Point'), coordinates: Position })
const Feature = z.object({
  properties: z.object({ name: z.string(), km: z.number() }),
  geometry: z.union([Line, Point]),
})
const File = z.object({ features: z.array(Feature).min(3) })

/** The route in this folder. */
export const ROUTE_FILE = new URL('route.geojson', import.meta.url).pathname

const RADIANS = Math.PI / 180
const M_PER_DEGREE = 111_195.08

/** Reads a way. @throws ZodError if the file has no lines and stations */
export function readWay(path = ROUTE_FILE): Way {
  const { features } = File.parse(JSON.parse(readFileSync(path, 'utf8')))
  const lines = features.flatMap(({ geometry }) =>
    geometry.type === 'LineString' ? [geometry.coordinates.map(([lng, lat]) => ({ lat, lng }))] : [],
  )
  const stations = features.flatMap(({ geometry, properties: { name, km } }) =>
    geometry.type === 'Point' ? [{ name, km }] : [],
  )
  return wayOf(lines, stations)
}

/** Share of the way that the procession covers before its rest, if no turning point is known. */
const TURN = 4 / 7

/** The way from a service. @throws ReplayFault if its owner has set none */
export async function fetchWay(client: Pick<Client, 'readRoute'>): Promise<Way> {
  const answer = await client.readRoute()
  if (!answer.ok) throw new ReplayFault(answer.error.message)
  const { lines, stations } = answer.data
  if (lines.length === 0)
    throw new ReplayFault('--own-route: the event has no route. Set it in the console, in the view Event.')
  const way = wayOf(
    [unpackLines(lines).flat()],
    stations.map(({ name, route_km: km }) => ({ name, km })),
  )
  const { lengthKm } = way
  const ends = [
    { name: '0', km: 0 },
    ...way.stations.filter(({ km }) => km > 0 && km < lengthKm),
    { name: lengthKm.toFixed(1), km: lengthKm },
  ]
  return { ...way, turnKm: lengthKm * TURN, stations: ends }
}

/**
 * @param lines in walking order, each starting where the previous one ends; the first one ends at the turning
 *   point
 */
function wayOf(lines: readonly (readonly Place[])[], stations: readonly Station[]): Way {
  const places = lines.flatMap((line, i) => (i === 0 ? line : line.slice(1)))
  const alongKm = [0]
  for (let i = 1; i < places.length; i++) {
    const { eastM, northM } = offset(places[i - 1]!, places[i]!)
    alongKm.push(alongKm[i - 1]! + Math.hypot(eastM, northM) / 1_000)
  }
  return {
    lengthKm: alongKm.at(-1)!,
    turnKm: alongKm[lines[0]!.length - 1]!,
    stations: stations.map(({ name, km }) => ({ name, km: Math.min(km, alongKm.at(-1)!) })),
    at: (km, sideM = 0) => placeAt(places, alongKm, km, sideM),
  }
}

function placeAt(places: readonly Place[], alongKm: readonly number[], km: number, sideM: number): Place {
  let [low, high] = [0, places.length - 1]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (alongKm[middle]! <= km) low = middle
    else high = middle
  }
  const [from, to] = [places[low]!, places[high]!]
  const share = Math.min(Math.max((km - alongKm[low]!) / (alongKm[high]! - alongKm[low]!), 0), 1)
  const { eastM, northM } = offset(from, to)
  const legM = Math.hypot(eastM, northM)
  const on = { lat: from.lat + share * (to.lat - from.lat), lng: from.lng + share * (to.lng - from.lng) }
  return moved(on, (-northM / legM) * sideM, (eastM / legM) * sideM)
}

/** Metres east and north from one place to another; the plane is accurate enough over a few kilometres. */
const offset = (from: Place, to: Place) => ({
  eastM: (to.lng - from.lng) * Math.cos(((from.lat + to.lat) / 2) * RADIANS) * M_PER_DEGREE,
  northM: (to.lat - from.lat) * M_PER_DEGREE,
})

/** The place some metres east and north of another. */
export const moved = ({ lat, lng }: Place, eastM: number, northM: number): Place => ({
  lat: lat + northM / M_PER_DEGREE,
  lng: lng + eastM / (M_PER_DEGREE * Math.cos(lat * RADIANS)),
})

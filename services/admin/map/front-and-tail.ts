/**
 * Where the walk begins and ends: from the latest positions, by cells of about 90 m. The foremost and the last
 * twentieth are left out, because somebody is always at the wrong end, or at home already.
 */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Clusters } from '#shared/contracts/clusters.ts'
import type { Query } from '#shared/db/db.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { cellOf, coarsen, type Counts } from '#shared/map/cell-counts.ts'
import { ENDS_ZOOM, KEPT_ZOOMS } from '#shared/map/cell-tiles.ts'
import { cellCentre } from '#shared/map/cells.ts'
import { alongAxis, alongRoute, type Ends, type Places } from '#shared/map/front-and-tail.ts'
import { roundKm } from '#shared/rules/rounding.ts'
import { EVERYWHERE, readMap, readMapVersion } from './map-tiles.ts'

/** Where points have been only tells which way the walk goes: the coarsest kept zoom is close enough. */
const PAST_ZOOM = KEPT_ZOOMS.at(-1)!
/** Who has not been seen for so long before the latest of all is not walking. */
const HOURS = 24
const HOUR_MS = 3_600_000

type Procession = Pick<Clusters, 'front' | 'tail' | 'spread_km'>
const NOBODY: Procession = { front: null, tail: null, spread_km: null }

/** Answers that are remembered at most: with another flush all of them are made anew. */
const REMEMBERED = 256

/** What is asked for. */
interface Asked {
  /** Of the answer: with `k` no place is told more closely than the cells are. */
  readonly zoom: number
  /** Who has been seen since then; null: within a day of the latest position of all. */
  readonly sinceMs: number | null
  readonly k: number
}

/** What a procession depends on beside the map. */
interface Context extends Pick<ServiceContext, 'calendar'> {
  readonly config: Pick<ServiceContext['config'], 'route'>
}

/** Reads where the walk begins and ends, within a transaction that sees one moment. */
export type ReadFrontAndTail = (tx: Query, asked: Asked) => Promise<Procession>

/**
 * A reader that works a procession out once for each state of the tiles, whatever part of the map it is asked
 * beside: tens of thousands of people do not have to be put in order again until one of them has moved.
 */
export function createFrontAndTail(context: Context): ReadFrontAndTail {
  const { calendar } = context
  const remembered = new Map<string, Procession>()
  return async (tx, asked) => {
    const sinceMs = asked.sinceMs ?? (await lastDay(tx, calendar))
    if (sinceMs === null) return NOBODY
    const zoom = asked.k > 0 ? Math.min(asked.zoom, ENDS_ZOOM) : ENDS_ZOOM
    const version = await readMapVersion(tx, calendar, { zoom: ENDS_ZOOM, sinceMs })
    const name = `${version} ${sinceMs} ${zoom} ${asked.k}`
    let procession = remembered.get(name)
    if (procession === undefined) {
      procession = await workOut(tx, context, { zoom, sinceMs, k: asked.k })
      if (remembered.size >= REMEMBERED) remembered.clear()
      remembered.set(name, procession)
    }
    return procession
  }
}

/** Start of the hour a day before the latest position's; null when there is none. */
async function lastDay(tx: Query, calendar: Calendar): Promise<number | null> {
  const [latest] = await tx<{ ms: number }[]>`
    SELECT (extract(epoch FROM start) * 1000)::float8 AS ms FROM cell_tiles
    WHERE zoom = 10 AND span = 'hour' AND users > 0 ORDER BY start DESC LIMIT 1`
  return latest === undefined ? null : calendar.hourStart(latest.ms - (HOURS - 1) * HOUR_MS)
}

async function workOut(
  tx: Query,
  { calendar, config: { route } }: Context,
  { zoom, sinceMs, k }: Asked,
): Promise<Procession> {
  const read = async (kept: number, peopleOnly: boolean): Promise<Places> => {
    const places = { lats: [], lngs: [], weights: [] }
    const shownZoom = Math.min(zoom, kept)
    for await (const tile of readMap(tx, calendar, { zoom: kept, box: EVERYWHERE, sinceMs, peopleOnly }))
      addPlaces(places, coarsen(tile, kept - shownZoom), shownZoom, k, peopleOnly)
    return places
  }
  const pilgrims = await read(ENDS_ZOOM, true)
  const ends =
    route === null ? alongAxis(pilgrims, await read(PAST_ZOOM, false)) : alongRoute(pilgrims, route)
  return ends === null ? NOBODY : shown(ends)
}

function addPlaces(
  { lats, lngs, weights }: Record<keyof Places, number[]>,
  counts: Counts,
  zoom: number,
  k: number,
  peopleOnly: boolean,
): void {
  for (let i = 0; i < counts.length; i += 3) {
    const users = counts[i + 2]!
    const weight = peopleOnly ? users : counts[i + 1]!
    if (users < k || weight <= 0) continue
    const { lat, lng } = cellCentre(cellOf(counts[i]!, zoom))
    lats.push(lat)
    lngs.push(lng)
    weights.push(weight)
  }
}

const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5

function shown({ front, tail, spreadMm }: Ends): Procession {
  const [first, last] = [front, tail].map(({ lat, lng, alongM }) => ({
    lat: rounded(lat),
    lng: rounded(lng),
    route_km: alongM === null ? null : roundKm(alongM * 1_000),
  }))
  return { front: first!, tail: last!, spread_km: roundKm(spreadMm) }
}

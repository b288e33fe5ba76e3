/**
 * The front, the middle and the tail of the walk, by cells of about 90 m: now, from the pilgrims' latest positions; in
 * a past period, from its points, because only latest positions are known by pilgrim. At the front and at the tail a
 * twentieth is ignored as outliers, for example people who are already at home. A period with fewer pilgrims than
 * `EVENT_MAP_CROWD` has no result: its places would be a person's.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Clusters } from '#shared/contracts/clusters.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  cellOf,
  coarsen,
  type Counts,
  FRONT_AND_TAIL_ZOOM,
  STORED_ZOOMS,
} from '#shared/core/map/cell-counts.ts'
import { cellCentre } from '#shared/core/map/cells.ts'
import { alongAxis, alongRoute, type End, type Places } from '#shared/core/map/front-and-tail.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'
import { routeVersion, type StationedRoute } from '#shared/pilgrims/event-route.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { EVERYWHERE, readMap, readMapVersion, type Selection } from './read-map-tiles.ts'

/** Past points only give the direction of the walk, so the coarsest stored zoom is precise enough. */
const PAST_ZOOM = STORED_ZOOMS.at(-1)!
/** Pilgrims whose last position is older than this, before the latest position of all, are not walking. */
const HOURS = 24
const HOUR_MS = 3_600_000

type FrontAndTail = Pick<Clusters, 'front' | 'middle' | 'tail' | 'spread_km'>
const NOBODY: FrontAndTail = { front: null, middle: null, tail: null, spread_km: null }

/** Maximum number of cached results. Each flush makes all of them stale. */
const MAX_CACHED = 256

interface Asked extends Pick<Selection, 'zoom' | 'sinceMs'> {
  /** End of the period whose points count, the start of an hour; null: the latest positions count. */
  readonly untilMs: number | null
  /** Cells with fewer pilgrims do not count, and places are no more precise than the cells of the zoom. */
  readonly k: number
}

interface Context extends Pick<ServiceContext, 'calendar'> {
  readonly config: Pick<ServiceContext['config'], 'mapCrowd'>
  readonly event: { readonly current: StationedRoute }
}

export type ReadFrontAndTail = (tx: Tx, asked: Asked) => Promise<FrontAndTail>

/**
 * Creates a reader that computes the result once for each version of the tiles, independent of the requested box. So
 * tens of thousands of positions are sorted again only after one of them has changed.
 */
export function createFrontAndTail(context: Context): ReadFrontAndTail {
  const { calendar } = context
  const cache = new Map<string, FrontAndTail>()
  return async (tx, asked) => {
    const { untilMs, k } = asked
    const sinceMs = asked.sinceMs ?? (untilMs === null ? await lastDay(tx, calendar) : null)
    if (sinceMs === null && untilMs === null) return NOBODY
    if (untilMs !== null && !(await isCrowd(tx, sinceMs ?? 0, untilMs, context.config.mapCrowd)))
      return NOBODY
    const zoom = k > 0 ? Math.min(asked.zoom, FRONT_AND_TAIL_ZOOM) : FRONT_AND_TAIL_ZOOM
    const version = await readMapVersion(tx, calendar, { zoom: FRONT_AND_TAIL_ZOOM, sinceMs, untilMs })
    const name = [version, routeVersion(context.event.current), sinceMs, untilMs, zoom, k].join(' ')
    let frontAndTail = cache.get(name)
    if (frontAndTail === undefined) {
      frontAndTail = await compute(tx, context, { zoom, sinceMs, untilMs, k })
      if (cache.size >= MAX_CACHED) cache.clear()
      cache.set(name, frontAndTail)
    }
    return frontAndTail
  }
}

/** Start of the hour one day before the latest position; null when there is none. */
async function lastDay(tx: Tx, calendar: Calendar): Promise<number | null> {
  const [latest] = await tx.sql<{ ms: number }[]>`
    SELECT epoch_ms(start) AS ms FROM cell_tiles
    WHERE zoom = 10 AND span = 'hour' AND users > 0 ORDER BY start DESC LIMIT 1`
  return latest === undefined ? null : calendar.hourStart(latest.ms - (HOURS - 1) * HOUR_MS)
}

/** Whether an hour of a period had enough pilgrims. Where the map shows single ones, every hour has. */
async function isCrowd(tx: Tx, sinceMs: number, untilMs: number, crowd: number): Promise<boolean> {
  if (crowd === 1) return true
  const found = await tx.sql`
    SELECT FROM event_hours WHERE pilgrims >= ${crowd} AND hour >= from_epoch_ms(${sinceMs})
      AND hour < from_epoch_ms(${untilMs}) LIMIT 1`
  return found.length > 0
}

async function compute(
  tx: Tx,
  { calendar, event }: Context,
  { zoom, sinceMs, untilMs, k }: Asked,
): Promise<FrontAndTail> {
  const read = async (stored: number, peopleOnly: boolean, time: Time): Promise<Places> => {
    const places = { lats: [], lngs: [], weights: [] }
    const shownZoom = Math.min(zoom, stored)
    for await (const tile of readMap(tx, calendar, { zoom: stored, box: EVERYWHERE, peopleOnly, ...time }))
      addPlaces(places, coarsen(tile, stored - shownZoom), shownZoom, k, peopleOnly)
    return places
  }
  const { route } = event.current
  const crowd = await read(FRONT_AND_TAIL_ZOOM, untilMs === null, { sinceMs, untilMs })
  // The direction of a past period is computed from the time before it.
  const past =
    untilMs === null || sinceMs === null ? { sinceMs, untilMs } : { sinceMs: null, untilMs: sinceMs }
  const walk =
    route === null
      ? alongAxis(crowd, await read(PAST_ZOOM, false, past))
      : await inTurns(alongRoute(crowd, route))
  if (walk === null) return NOBODY
  const { front, middle, tail, spreadMm } = walk
  return {
    front: shown(front),
    middle: shown(middle),
    tail: shown(tail),
    spread_km: roundKm(spreadMm),
  }
}

type Time = Pick<Selection, 'sinceMs' | 'untilMs'>

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

const shown = ({ lat, lng, alongM }: End): NonNullable<FrontAndTail['front']> => ({
  lat: rounded(lat),
  lng: rounded(lng),
  route_km: alongM === null ? null : roundKm(alongM * 1_000),
})

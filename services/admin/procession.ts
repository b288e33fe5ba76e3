/**
 * Where the walk begins and ends: from the latest positions, by cells of about 90 m. The foremost and the last
 * twentieth are left out, because somebody is always at the wrong end, or at home already.
 */
import type { ServiceContext } from '#shared/context.ts'
import type { Clusters } from '#shared/contracts/clusters.ts'
import type { Query } from '#shared/db/db.ts'
import { cellOf, coarsen, type Counts } from '#shared/rules/cell-counts.ts'
import { cellBounds } from '#shared/rules/cells.ts'
import { alongAxis, alongRoute, type Ends, type Weighed } from '#shared/rules/procession.ts'
import { shownKm } from '#shared/rules/shown.ts'
import { EVERYWHERE, readMap } from './map-tiles.ts'

/** One of the kept zooms. */
const ZOOM = 14
/** Who has not been seen for so long before the latest of all is not walking. */
const HOURS = 24
const HOUR_MS = 3_600_000

type Procession = Pick<Clusters, 'front' | 'tail' | 'spread_km'>
const NOBODY: Procession = { front: null, tail: null, spread_km: null }

/**
 * @param asked.zoom of the answer: with `k` no place is told more closely than the cells are
 * @param asked.sinceMs who has been seen since then; null: within a day of the latest position of all
 */
export async function readProcession(
  tx: Query,
  { calendar, config }: Pick<ServiceContext, 'calendar' | 'config'>,
  asked: { readonly zoom: number; readonly sinceMs: number | null; readonly k: number },
): Promise<Procession> {
  const [latest] = await tx<{ ms: number }[]>`
    SELECT (extract(epoch FROM start) * 1000)::float8 AS ms FROM cell_tiles
    WHERE zoom = 10 AND span = 'hour' AND users > 0 ORDER BY start DESC LIMIT 1`
  if (latest === undefined) return NOBODY
  const sinceMs = asked.sinceMs ?? calendar.hourStart(latest.ms - (HOURS - 1) * HOUR_MS)
  const zoom = asked.k > 0 ? Math.min(asked.zoom, ZOOM) : ZOOM
  const places: Weighed[] = []
  for await (const tile of readMap(tx, calendar, { zoom: ZOOM, box: EVERYWHERE, sinceMs }))
    addPlaces(places, coarsen(tile, ZOOM - zoom), zoom, asked.k)
  const ends = config.route === null ? alongAxis(places) : alongRoute(places, config.route)
  return ends === null ? NOBODY : shown(ends)
}

function addPlaces(places: Weighed[], counts: Counts, zoom: number, k: number): void {
  for (let i = 0; i < counts.length; i += 3) {
    const [points, users] = [counts[i + 1]!, counts[i + 2]!]
    if (users < k) continue
    const [west, south, east, north] = cellBounds(cellOf(counts[i]!, zoom))
    places.push({ lat: (south + north) / 2, lng: (west + east) / 2, points, users })
  }
}

const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5

function shown({ front, tail, spreadMm }: Ends): Procession {
  const [first, last] = [front, tail].map(({ lat, lng, alongM }) => ({
    lat: rounded(lat),
    lng: rounded(lng),
    route_km: alongM === null ? null : shownKm(alongM * 1_000),
  }))
  return { front: first!, tail: last!, spread_km: shownKm(spreadMm) }
}

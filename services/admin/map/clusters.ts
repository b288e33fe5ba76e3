/** The map by cells. It reads the tiles that the flush updates, never points. */
import type { ServiceContext } from '#shared/service/context.ts'
import { type ClustersQuery, type MapCell, MAX_CELLS, writeClusters } from '#shared/contracts/clusters.ts'
import type { Written } from '#shared/contracts/endpoint.ts'
import { timeOrNull } from '#shared/contracts/fields.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { readLastFlush } from '#shared/points/pending-points.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { cellOf, coarsen, type Counts, STORED_ZOOMS } from '#shared/core/map/cell-counts.ts'
import { type Cell, cellBounds, cellName, MIN_ZOOM } from '#shared/core/map/cells.ts'
import { cornersOf, EVERYWHERE, readMap, type Selection } from './read-map-tiles.ts'
import { createFrontAndTail, type ReadFrontAndTail } from './read-front-and-tail.ts'
import { LoggableError } from '#shared/runtime/log.ts'

interface Cluster {
  readonly cell: Cell
  readonly points: number
  readonly users: number
}

interface Asked extends Pick<Selection, 'zoom' | 'box' | 'sinceMs'> {
  readonly untilMs: number | null
  /** Cells with fewer pilgrims are left out. */
  readonly k: number
}

export function createClusters(context: ServiceContext): (query: ClustersQuery) => Promise<Written> {
  const readFrontAndTail = createFrontAndTail(context)
  return (query) => readClusters(context, readFrontAndTail, query)
}

async function readClusters(
  { db, kv, calendar, now }: ServiceContext,
  readFrontAndTail: ReadFrontAndTail,
  query: ClustersQuery,
): Promise<Written> {
  const sinceMs = query.since === undefined ? null : calendar.hourStart(query.since)
  const untilMs = query.until === undefined ? null : calendar.hourStart(query.until)
  const selection = { zoom: query.zoom, box: query.bbox ?? EVERYWHERE, sinceMs, untilMs, k: query.k }
  const [map, lastFlush] = await Promise.all([
    db.read(() =>
      db.snapshot(async (tx) => {
        const fitting = await readFitting(tx, calendar, selection)
        return { ...fitting, ...(await readFrontAndTail(tx, { ...selection, zoom: fitting.zoom })) }
      }),
    ),
    readLastFlush({ db, kv, now }),
  ])
  const { clusters, ...rest } = map
  return writeClusters(clusters.map(mapCellOf), {
    ...rest,
    requested_zoom: query.zoom,
    since: timeOrNull(sinceMs),
    as_of: timeOrNull(lastFlush),
  })
}

const mapCellOf = ({ cell, points, users }: Cluster): MapCell => ({
  id: cellName(cell),
  bounds: cellBounds(cell),
  count: points,
  users,
})

/** The cells of the requested zoom, or of the next coarser one that has at most `MAX_CELLS` cells. */
async function readFitting(
  tx: Tx,
  calendar: Calendar,
  selection: Asked,
): Promise<{ readonly zoom: number; readonly clusters: readonly Cluster[] }> {
  for (const stored of STORED_ZOOMS.filter((zoom) => coarsestOf(zoom) <= selection.zoom)) {
    const found = await readBelow(tx, calendar, stored, selection)
    if (found !== null) return found
  }
  throw new LoggableError('the coarsest zoom has too many cells')
}

/** The coarsest zoom that is computed from a stored one. Coarser zooms are computed from the next stored one. */
const coarsestOf = (stored: number): number =>
  Math.max(MIN_ZOOM, ...STORED_ZOOMS.filter((zoom) => zoom < stored).map((zoom) => zoom + 1))

/** @returns null when there are too many cells at every zoom computed from this one */
async function readBelow(tx: Tx, calendar: Calendar, stored: number, selection: Asked) {
  const found = new Map<number, Cluster[]>()
  for (let zoom = Math.min(stored, selection.zoom); zoom >= coarsestOf(stored); zoom--) found.set(zoom, [])
  for await (const tile of readMap(tx, calendar, { ...selection, zoom: stored })) {
    let [counts, at] = [tile, stored]
    for (const [zoom, clusters] of found) {
      counts = coarsen(counts, at - zoom)
      at = zoom
      addClusters(clusters, counts, zoom, selection)
      if (clusters.length > MAX_CELLS && zoom > MIN_ZOOM) found.delete(zoom)
    }
    if (found.size === 0) return null
  }
  const [finest] = found
  return { zoom: finest![0], clusters: fullest(finest![1]) }
}

function addClusters(clusters: Cluster[], counts: Counts, zoom: number, { box, k }: Asked): void {
  const [low, high] = cornersOf(box, zoom)
  for (let i = 0; i < counts.length; i += 3) {
    const [points, users] = [counts[i + 1]!, counts[i + 2]!]
    if (users < k) continue
    const cell = cellOf(counts[i]!, zoom)
    if (cell.x >= low.x && cell.x <= high.x && cell.y >= low.y && cell.y <= high.y)
      clusters.push({ cell, points, users })
  }
}

const fullest = (clusters: readonly Cluster[]): readonly Cluster[] =>
  clusters.length <= MAX_CELLS
    ? clusters
    : [...clusters].sort((a, b) => b.points - a.points).slice(0, MAX_CELLS)

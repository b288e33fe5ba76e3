/** How counts by cell are stored: in tiles of 256 × 256 cells, at three zooms, by hour, by day and for all time. */
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { addCounts, cellOf, coarsen, type Counts, TILE_ZOOMS, tilesOf } from './cell-counts.ts'
import { MAX_ZOOM } from './cells.ts'

export type Span = 'hour' | 'day' | 'all'

/** Distance between stored zooms. Zooms between are added up from the finer one, at most 64 cells for each cell. */
const STEP = 4
/** The stored zooms, finest first. */
export const STORED_ZOOMS: readonly number[] = [MAX_ZOOM, MAX_ZOOM - STEP, MAX_ZOOM - 2 * STEP]

/**
 * Whether tiles of a span are stored at a zoom. The finest zoom has no days: a flush would write half as much again,
 * and its readers need a few tiles only.
 */
export const isTileStored = (zoom: number, span: Span): boolean => span !== 'day' || zoom !== MAX_ZOOM

/** Front and tail are read at this zoom, by hours and days. There, pilgrims are also stored without points. */
export const FRONT_AND_TAIL_ZOOM = MAX_ZOOM - STEP

/** Whether tiles of a span at a zoom also store the pilgrims without the points. */
export const storesPeople = ({ zoom, span }: Pick<TileName, 'zoom' | 'span'>): boolean =>
  zoom === FRONT_AND_TAIL_ZOOM && span !== 'all'

/** Cells and period of a tile. `x` and `y` are those of the tile: a cell eight zooms above. */
export interface TileName {
  readonly zoom: number
  readonly span: Span
  /** Start of the local hour or day, epoch milliseconds; 0 for all time. */
  readonly startMs: number
  readonly x: number
  readonly y: number
}

export interface Tile extends TileName {
  /** Z-orders are within the tile. */
  readonly counts: Counts
}

/** A tile's name as a key. */
export const tileKey = ({ zoom, span, startMs, y, x }: TileName): string =>
  `${zoom} ${span} ${startMs} ${y} ${x}`

/** A list at the finest zoom, cut into the tiles of every zoom. */
function cut(finest: Counts): Pick<Tile, 'zoom' | 'x' | 'y' | 'counts'>[] {
  let counts = finest
  return STORED_ZOOMS.flatMap((zoom) => {
    if (zoom !== MAX_ZOOM) counts = coarsen(counts, STEP)
    return [...tilesOf(counts)].map(([z, mine]) => ({ ...cellOf(z, zoom - TILE_ZOOMS), zoom, counts: mine }))
  })
}

/** The tiles of one span, from its counts at the finest zoom. */
export const tilesAt = (span: Span, startMs: number, finest: Counts): Tile[] =>
  cut(finest)
    .filter(({ zoom }) => isTileStored(zoom, span))
    .map((piece) => ({ ...piece, span, startMs }))

/** The tiles of all spans, from counts at the finest zoom by start of the hour. Computed in turns (`inTurns`). */
export function* tilesOfHours(
  hours: ReadonlyMap<number, Counts>,
  calendar: Calendar,
): Generator<void, Tile[]> {
  const days = new Map<number, Counts>()
  let all: Counts = []
  for (const [hour, counts] of hours) {
    yield
    const day = calendar.dayStart(hour)
    days.set(day, addCounts(days.get(day) ?? [], counts))
  }
  for (const counts of days.values()) all = addCounts(all, counts)
  // Often a day has one hour only, and its list is the same: each list is cut once.
  const cuts = new Map<Counts, ReturnType<typeof cut>>()
  const tiles: Tile[] = []
  const spans = [
    ...[...hours].map((one) => ['hour', ...one] as const),
    ...[...days].map((one) => ['day', ...one] as const),
    ['all', 0, all] as const,
  ]
  for (const [span, startMs, counts] of spans) {
    yield
    for (const piece of cuts.getOrInsertComputed(counts, () => cut(counts)))
      if (isTileStored(piece.zoom, span)) tiles.push({ ...piece, span, startMs })
  }
  return tiles
}

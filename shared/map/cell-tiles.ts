/** How counts by cell are kept: in tiles of 256 × 256 cells, at three zooms, by hour, by day and for all time. */
import type { Calendar } from '#shared/rules/calendar.ts'
import { addCounts, cellOf, coarsen, type Counts, TILE_ZOOMS, tilesOf } from './cell-counts.ts'
import { MAX_ZOOM } from './cells.ts'

export type Span = 'hour' | 'day' | 'all'

/** Zooms between two kept ones: those in between are summed from the finer one, at most 64 cells for each. */
const STEP = 4
/** The zooms that are kept, finest first. */
export const KEPT_ZOOMS: readonly number[] = [MAX_ZOOM, MAX_ZOOM - STEP, MAX_ZOOM - 2 * STEP]

/**
 * Whether tiles of a span are kept at a zoom. The finest have no days: a flush would write half as much again, and
 * their readers look at a few tiles.
 */
export const isKept = (zoom: number, span: Span): boolean => span !== 'day' || zoom !== MAX_ZOOM

/** Where the walk begins and ends is read at this one, by hours and days: there pilgrims are kept apart from points. */
export const ENDS_ZOOM = MAX_ZOOM - STEP

/** Whether of tiles of a span at a zoom the pilgrims are kept once more, without the points. */
export const keepsPeople = ({ zoom, span }: Pick<TileName, 'zoom' | 'span'>): boolean =>
  zoom === ENDS_ZOOM && span !== 'all'

/** Which cells in which time. `x` and `y` are the tile's own, as of a cell eight zooms above. */
export interface TileName {
  readonly zoom: number
  readonly span: Span
  /** Start of the local hour or day, epoch milliseconds; 0 for all time. */
  readonly startMs: number
  readonly x: number
  readonly y: number
}

export interface Tile extends TileName {
  /** With Z-orders within the tile. */
  readonly counts: Counts
}

/** A tile's name as a key. */
export const tileKey = ({ zoom, span, startMs, y, x }: TileName): string =>
  `${zoom} ${span} ${startMs} ${y} ${x}`

/** A list at the finest zoom, cut into the tiles of every zoom. */
function cut(finest: Counts): Pick<Tile, 'zoom' | 'x' | 'y' | 'counts'>[] {
  let counts = finest
  return KEPT_ZOOMS.flatMap((zoom) => {
    if (zoom !== MAX_ZOOM) counts = coarsen(counts, STEP)
    return [...tilesOf(counts)].map(([z, mine]) => ({ ...cellOf(z, zoom - TILE_ZOOMS), zoom, counts: mine }))
  })
}

/** The tiles of one span, from its counts at the finest zoom. */
export const tilesAt = (span: Span, startMs: number, finest: Counts): Tile[] =>
  cut(finest)
    .filter(({ zoom }) => isKept(zoom, span))
    .map((piece) => ({ ...piece, span, startMs }))

/** The tiles of all spans, from counts at the finest zoom by start of the hour. */
export function tilesOfHours(hours: ReadonlyMap<number, Counts>, calendar: Calendar): Tile[] {
  const days = new Map<number, Counts>()
  let all: Counts = []
  for (const [hour, counts] of hours) {
    const day = calendar.dayStart(hour)
    days.set(day, addCounts(days.get(day) ?? [], counts))
  }
  for (const counts of days.values()) all = addCounts(all, counts)
  // What came in one hour, mostly, is all there is of its day.
  const cuts = new Map<Counts, ReturnType<typeof cut>>()
  const tilesOn = (span: Span, startMs: number, counts: Counts): Tile[] =>
    cuts
      .getOrInsertComputed(counts, () => cut(counts))
      .filter(({ zoom }) => isKept(zoom, span))
      .map((piece) => ({ ...piece, span, startMs }))
  return [
    ...[...hours].flatMap(([hour, counts]) => tilesOn('hour', hour, counts)),
    ...[...days].flatMap(([day, counts]) => tilesOn('day', day, counts)),
    ...tilesOn('all', 0, all),
  ]
}

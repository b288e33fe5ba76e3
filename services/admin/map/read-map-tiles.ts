/**
 * Reads tiles of the map: those of a box, from an hour on, one tile after the other with its hours summed. Also reads
 * a version, which changes whenever a tile changes.
 */
import type { Tx } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  addCounts,
  type Counts,
  firstCellOf,
  TILE_ZOOMS,
  unpackCounts,
  isTileStored,
} from '#shared/core/map/cell-counts.ts'
import { type Cell, cellAt, MAX_ZOOM } from '#shared/core/map/cells.ts'

type Box = readonly [west: number, south: number, east: number, north: number]
export const EVERYWHERE: Box = [-180, -90, 180, 90]

export interface Selection {
  /** One of the stored zooms. */
  readonly zoom: number
  readonly box: Box
  /** Start of an hour, in epoch milliseconds; null: of all time. */
  readonly sinceMs: number | null
  /** End of the period, the start of an hour; absent or null: until now. */
  readonly untilMs?: number | null
  /** Whether only people are needed. Counts of points may then be missing. */
  readonly peopleOnly?: boolean
}

/** Rows read at a time, so that a caller that has enough stops early. */
const PAGE = 100

/** The cells of a zoom that a box touches, as two corners, both included. */
export function cornersOf([west, south, east, north]: Box, zoom: number): readonly [low: Cell, high: Cell] {
  return [cellAt(south, west, zoom), cellAt(north, east, zoom)]
}

/**
 * A short text that changes whenever any tile of a period changes: a hash over the writing transactions.
 * @param zoom one of the stored zooms
 */
export async function readMapVersion(
  tx: Tx,
  calendar: Calendar,
  { zoom, sinceMs, untilMs }: Pick<Selection, 'zoom' | 'sinceMs' | 'untilMs'>,
): Promise<string> {
  const [row] = await tx.sql<[{ version: string | null }]>`
    SELECT md5(string_agg(concat_ws(' ', span, start, y, x, points, users, xmin), ',')) AS version
    FROM cell_tiles WHERE zoom = ${zoom} AND ${inTime(tx, zoom, sinceMs, calendar, untilMs)}`
  return row.version ?? ''
}

/** Yields the counts of each tile, with Z-orders of the whole grid. */
export async function* readMap(
  tx: Tx,
  calendar: Calendar,
  { zoom, box, sinceMs, untilMs = null, peopleOnly = false }: Selection,
): AsyncGenerator<Counts> {
  const [low, high] = cornersOf(box, MAX_ZOOM).map(({ x, y }) => {
    const up = MAX_ZOOM - zoom + TILE_ZOOMS
    return { x: x >> up, y: y >> up }
  }) as [Cell, Cell]
  let last = { x: -1, y: -1 }
  let sum: Counts = []
  // A tile of an older release has no separate counts of people.
  const what = peopleOnly ? tx.sql`coalesce(people, counts)` : tx.sql`counts`
  const pages = tx.sql<{ x: number; y: number; packed: string }[]>`
    SELECT x, y, encode(${what}, 'base64') AS packed
    FROM cell_tiles WHERE zoom = ${zoom} AND ${inTime(tx, zoom, sinceMs, calendar, untilMs)}
      AND y BETWEEN ${low.y} AND ${high.y} AND x BETWEEN ${low.x} AND ${high.x}
    ORDER BY y, x, span, start`.cursor(PAGE)
  for await (const rows of pages)
    for (const { x, y, packed } of rows) {
      if (x !== last.x || y !== last.y) {
        if (sum.length > 0) yield sum
        last = { x, y }
        sum = []
      }
      sum = addCounts(sum, unpackCounts(Uint8Array.fromBase64(packed), firstCellOf(last)))
    }
  if (sum.length > 0) yield sum
}

/** The fewest tiles that cover a period: all of it, or hours up to the next full day, then days, then hours. */
function inTime(
  tx: Tx,
  zoom: number,
  sinceMs: number | null,
  calendar: Calendar,
  untilMs: number | null = null,
) {
  if (sinceMs === null && untilMs === null) return tx.sql`span = 'all'`
  const at = (ms: number) => tx.sql`from_epoch_ms(${ms})`
  const [fromMs, toMs] = [sinceMs ?? FIRST_MS, untilMs ?? LAST_MS]
  const hours = (from: number, to: number) =>
    tx.sql`(span = 'hour' AND start >= ${at(from)} AND start < ${at(to)})`
  if (!isTileStored(zoom, 'day')) return hours(fromMs, toMs)
  const firstDayMs = sinceMs === null ? FIRST_MS : fullDayFrom(calendar, sinceMs)
  const lastDayMs = untilMs === null ? LAST_MS : calendar.dayStart(untilMs)
  if (firstDayMs >= lastDayMs) return hours(fromMs, toMs)
  return tx.sql`(${hours(fromMs, firstDayMs)} OR ${hours(lastDayMs, toMs)}
    OR (span = 'day' AND start >= ${at(firstDayMs)} AND start < ${at(lastDayMs)}))`
}

/** Before and after every tile. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_MS = Date.parse('9999-12-31T00:00:00Z')

function fullDayFrom(calendar: Calendar, ms: number): number {
  const [dayMs, nextMs] = calendar.span(calendar.day(ms))
  return dayMs === ms ? dayMs : nextMs
}

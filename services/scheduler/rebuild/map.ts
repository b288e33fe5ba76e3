/**
 * Rebuilds the tiles of the map: hours from points and latest positions, days from hours, all time from days or
 * hours. Only one hour, day or tile is in memory at a time.
 */
import { cursorBatches, type Tx } from '#shared/stores/db/db.ts'
import {
  deleteTile,
  storedTile,
  type StoredTile,
  TILE_COLUMNS,
  type TileRow,
  tileToStore,
  writeTiles,
} from '#shared/points/totals/stored-tiles.ts'
import { IS_PLACE } from '#shared/points/totals/stored-days.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import {
  addCounts,
  type Counts,
  unpackCounts,
  zOrder,
  isTileStored,
  STORED_ZOOMS,
  type Span,
  type Tile,
  tileKey,
  tilesAt,
} from '#shared/core/map/cell-counts.ts'
import { cellAt, FINEST_PER_DEGREE, MAX_ZOOM } from '#shared/core/map/cells.ts'
import type { Differences } from './differences.ts'

/** Time-zone offsets are multiples of a quarter hour, so each quarter is within one local hour. */
const QUARTER_S = 900
const LAST = cellAt(90, 180, MAX_ZOOM)

/** The same arithmetic as `cellAt`. */
const CELLS = `
  SELECT quarter::float8 AS quarter, x::int AS x, y::int AS y, sum(points)::float8 AS points, sum(users)::float8 AS users
  FROM (
    SELECT floor(extract(epoch FROM at) / ${QUARTER_S}) AS quarter,
           least(floor(lng * ${FINEST_PER_DEGREE} + ${180 * FINEST_PER_DEGREE}), ${LAST.x}) AS x,
           least(floor(lat * ${FINEST_PER_DEGREE} + ${90 * FINEST_PER_DEGREE}), ${LAST.y}) AS y, points, users
    FROM (
      SELECT recorded_at AS at, lat, lng, 1 AS points, 0 AS users
      FROM gps_points WHERE in_range AND ${IS_PLACE}
      UNION ALL
      SELECT last_seen, last_lat, last_lng, 0, 1 FROM pilgrim_totals WHERE last_seen IS NOT NULL
    ) places
    UNION ALL
    SELECT floor(extract(epoch FROM hour) / ${QUARTER_S}), x, y, points, 0 FROM erased_cells
  ) cells
  GROUP BY 1, 2, 3 ORDER BY 1`

/** Reconciles every tile. Pilgrims' totals are reconciled and cell changes rolled up before. */
export async function rebuildMap(tx: Tx, calendar: Calendar, differences: Differences): Promise<void> {
  const hours = new Set<number>()
  for await (const { hourMs, counts } of hoursOfPoints(tx, calendar)) {
    hours.add(hourMs)
    await reconcileTiles(
      tx,
      differences,
      tilesAt('hour', hourMs, counts),
      await spanTiles(tx, 'hour', hourMs),
    )
  }
  for (const hourMs of await startsOf(tx, 'hour'))
    if (!hours.has(hourMs)) await reconcileTiles(tx, differences, [], await spanTiles(tx, 'hour', hourMs))

  const days = new Map<number, number[]>()
  for (const day of await startsOf(tx, 'day')) days.set(day, [])
  for (const [day, hoursOfDay] of Map.groupBy(hours, (hourMs) => calendar.dayStart(hourMs)))
    days.set(day, hoursOfDay)
  for (const [dayMs, hoursOfDay] of days) {
    const sums = new Map<string, Tile>()
    for (const hourMs of hoursOfDay)
      for (const tile of await spanTiles(tx, 'hour', hourMs))
        if (isTileStored(tile.zoom, 'day')) addTile(sums, { ...tile, span: 'day', startMs: dayMs })
    await reconcileTiles(tx, differences, [...sums.values()], await spanTiles(tx, 'day', dayMs))
  }
  for (const zoom of STORED_ZOOMS) await reconcileAllTime(tx, differences, zoom)
}

interface CellRow {
  readonly quarter: number
  readonly x: number
  readonly y: number
  readonly points: number
  readonly users: number
}

async function* hoursOfPoints(
  tx: Tx,
  calendar: Calendar,
): AsyncGenerator<{ hourMs: number; counts: Counts }> {
  let cells: { z: number; points: number; users: number }[] = []
  let hourMs = NaN
  const hour = () => {
    // Up to four quarters of an hour contain the same cell.
    const sorted = cells.sort((a, b) => a.z - b.z)
    const counts: number[] = []
    for (const { z, points, users } of sorted) {
      if (counts.at(-3) !== z) counts.push(z, 0, 0)
      counts[counts.length - 2]! += points
      counts[counts.length - 1]! += users
    }
    cells = []
    return { hourMs, counts }
  }
  for await (const batch of cursorBatches<CellRow>(tx, 'cells', CELLS))
    for (const { quarter, x, y, points, users } of batch) {
      const startMs = calendar.hourStart(quarter * QUARTER_S * 1_000)
      if (cells.length > 0 && startMs !== hourMs) yield hour()
      hourMs = startMs
      cells.push({ z: zOrder({ x, y }), points, users })
    }
  if (cells.length > 0) yield hour()
}

function addTile(sums: Map<string, Tile>, { packed, ...tile }: StoredTile): void {
  const key = tileKey(tile)
  sums.set(key, { ...tile, counts: addCounts(sums.get(key)?.counts ?? [], unpackCounts(packed)) })
}

/** All time is the sum of days, or of hours at the finest zoom, which has no days. */
async function reconcileAllTime(tx: Tx, differences: Differences, zoom: number): Promise<void> {
  const span: Span = isTileStored(zoom, 'day') ? 'day' : 'hour'
  const expected = new Set<string>()
  let sums = new Map<string, Tile>()
  const reconcile = async () => {
    const tiles = [...sums.values()]
    const [tile] = tiles
    if (tile === undefined) return
    expected.add(`${tile.y} ${tile.x}`)
    const stored = await tx.sql.unsafe<TileRow[]>(
      `${TILES} WHERE zoom = ${zoom} AND span = 'all' AND y = ${tile.y} AND x = ${tile.x}`,
    )
    await reconcileTiles(tx, differences, tiles, stored.map(storedTile))
    sums = new Map()
  }
  const select = `${TILES} WHERE zoom = ${zoom} AND span = '${span}' ORDER BY y, x`
  for await (const rows of cursorBatches<TileRow>(tx, `all_${zoom}`, select, TILES_PER_BATCH))
    for (const row of rows) {
      const [last] = sums.values()
      if (last !== undefined && (last.x !== row.x || last.y !== row.y)) await reconcile()
      addTile(sums, { ...storedTile(row), span: 'all', startMs: 0 })
    }
  await reconcile()
  const allTime = await tx.sql.unsafe<TileRow[]>(
    `${TILES} WHERE zoom = ${zoom} AND span = 'all' ORDER BY y, x`,
  )
  const extra = allTime.filter(({ x, y }) => !expected.has(`${y} ${x}`))
  await reconcileTiles(tx, differences, [], extra.map(storedTile))
}

/** A tile has up to about ten kilobytes. */
const TILES_PER_BATCH = 100

const TILES = `SELECT ${TILE_COLUMNS} FROM cell_tiles`

const spanTiles = async (tx: Tx, span: Span, startMs: number): Promise<StoredTile[]> =>
  (
    await tx.sql.unsafe<TileRow[]>(
      `${TILES} WHERE span = '${span}' AND start = from_epoch_ms(${startMs}) ORDER BY zoom, y, x`,
    )
  ).map(storedTile)

const startsOf = async (tx: Tx, span: Span): Promise<number[]> =>
  (
    await tx.sql.unsafe<{ ms: number }[]>(
      `SELECT DISTINCT epoch_ms(start) AS ms FROM cell_tiles WHERE span = '${span}' ORDER BY 1`,
    )
  ).map(({ ms }) => ms)

async function reconcileTiles(
  tx: Tx,
  differences: Differences,
  expected: readonly Tile[],
  stored: readonly StoredTile[],
): Promise<void> {
  const unmatched = new Map(stored.map((tile) => [tileKey(tile), tile]))
  const wrong: StoredTile[] = []
  for (const tile of expected.map(tileToStore)) {
    const was = unmatched.get(tileKey(tile))
    unmatched.delete(tileKey(tile))
    if (was !== undefined && isSame(was, tile)) continue
    wrong.push(tile)
    differences.found(
      `cell_tiles ${named(tile)}: ` +
        (was === undefined
          ? `missing (points ${tile.points}, users ${tile.users})`
          : `points ${was.points} → ${tile.points}, users ${was.users} → ${tile.users}, or cells of it`),
    )
  }
  if (wrong.length > 0) await writeTiles(tx, wrong)
  for (const tile of unmatched.values()) {
    differences.found(`cell_tiles ${named(tile)}: not expected`)
    await deleteTile(tx, tile)
  }
}

const isSame = (a: StoredTile, b: StoredTile): boolean =>
  a.points === b.points &&
  a.users === b.users &&
  Buffer.compare(a.packed, b.packed) === 0 &&
  (a.people === null || b.people === null ? a.people === b.people : Buffer.compare(a.people, b.people) === 0)

const named = ({ zoom, span, startMs, x, y }: StoredTile): string =>
  `zoom ${zoom}, ${span === 'all' ? 'all time' : `${span} ${new Date(startMs).toISOString()}`}, tile ${x}/${y}`

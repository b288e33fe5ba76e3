/** Reads and writes the tiles of the map. */
import type { Tx } from '#shared/stores/db/db.ts'
import {
  type Counts,
  packCounts,
  packPeople,
  totalOf,
  storesPeople,
  type Tile,
  tileKey,
  type TileName,
} from '#shared/core/map/cell-counts.ts'

/** Key of the advisory lock: one transaction at a time changes tiles. */
const TILES_LOCK = 20_260_419

/** Locks the tiles until the transaction ends. */
export const lockTiles = async (tx: Tx): Promise<void> =>
  void (await tx.sql`SELECT pg_advisory_xact_lock(${TILES_LOCK})`)

/** A tile as it is stored. */
export interface StoredTile extends TileName {
  readonly points: number
  readonly users: number
  readonly packed: Uint8Array
  /** `packed` without the points; null if the tile does not store it. */
  readonly people: Uint8Array | null
}

const peopleOf = (name: TileName, packed: Uint8Array): Uint8Array | null =>
  storesPeople(name) ? packPeople(packed) : null

/** Adds counts to the stored tiles. The caller holds the lock. */
export async function addTiles(tx: Tx, tiles: readonly Tile[]): Promise<void> {
  const stored = await readSameTiles(tx, tiles)
  const sums = tiles.map(({ counts, ...name }): StoredTile => {
    const before = stored.get(tileKey(name))
    const { points, users } = totalOf(counts)
    const packed = packCounts(counts, before?.packed)
    return {
      ...name,
      points: points + (before?.points ?? 0),
      users: users + (before?.users ?? 0),
      packed,
      people: peopleOf(name, packed),
    }
  })
  await writeTiles(tx, sums)
  // An erasure may have removed the last points.
  for (const tile of sums) if (tile.points === 0 && tile.users === 0) await deleteTile(tx, tile)
}

/** Deletes a stored tile. The caller holds the lock. */
export const deleteTile = async (tx: Tx, { zoom, span, startMs, x, y }: TileName): Promise<void> =>
  void (await tx.sql`
    DELETE FROM cell_tiles WHERE zoom = ${zoom} AND span = ${span} AND y = ${y} AND x = ${x}
      AND start = from_epoch_ms(${startMs})`)

/** Reads the stored tiles with these names, by `tileKey`. */
async function readSameTiles(tx: Tx, names: readonly TileName[]): Promise<Map<string, StoredTile>> {
  const rows = await tx.sql<TileRow[]>`
    SELECT ${tx.sql.unsafe(TILE_COLUMNS)} FROM unnest(
      ${names.map(({ zoom }) => zoom)}::int[], ${names.map(({ span }) => span)}::text[],
      ${names.map(({ startMs }) => startMs)}::float8[], ${names.map(({ y }) => y)}::int[],
      ${names.map(({ x }) => x)}::int[]
    ) AS t (zoom, span, ms, y, x)
    JOIN cell_tiles c USING (zoom, span, y, x) WHERE c.start = from_epoch_ms(t.ms)`
  return new Map(rows.map(storedTile).map((tile) => [tileKey(tile), tile]))
}

/** The columns of a stored tile. */
export const TILE_COLUMNS = `zoom, span, epoch_ms(start) AS "startMs", x, y, points::float8 AS points,
  users, encode(counts, 'base64') AS packed, encode(people, 'base64') AS people`

/** A tile as queries return it: bytes are base64. */
export type TileRow = Omit<StoredTile, 'packed' | 'people'> & {
  readonly packed: string
  readonly people: string | null
}

export const storedTile = (row: TileRow): StoredTile => ({
  ...row,
  packed: Uint8Array.fromBase64(row.packed),
  people: row.people === null ? null : Uint8Array.fromBase64(row.people),
})

/** Converts a tile to its stored form. */
export function tileToStore({ counts, ...name }: TileName & { readonly counts: Counts }): StoredTile {
  const packed = packCounts(counts)
  return { ...name, ...totalOf(counts), packed, people: peopleOf(name, packed) }
}

/** Replaces stored tiles. The caller holds the lock. */
export async function writeTiles(tx: Tx, tiles: readonly StoredTile[]): Promise<void> {
  await tx.sql`
    INSERT INTO cell_tiles AS c (zoom, span, start, x, y, points, users, counts, people)
    SELECT zoom, span, from_epoch_ms(ms), x, y, points::bigint, users, decode(packed, 'base64'),
           decode(people, 'base64')
    FROM unnest(
      ${tiles.map(({ zoom }) => zoom)}::int[], ${tiles.map(({ span }) => span)}::text[],
      ${tiles.map(({ startMs }) => startMs)}::float8[], ${tiles.map(({ x }) => x)}::int[],
      ${tiles.map(({ y }) => y)}::int[], ${tiles.map(({ points }) => points)}::float8[],
      ${tiles.map(({ users }) => users)}::int[], ${tiles.map(({ packed }) => packed.toBase64())}::text[],
      ${tiles.map(({ people }) => people?.toBase64() ?? null)}::text[]
    ) AS t (zoom, span, ms, x, y, points, users, packed, people)
    ON CONFLICT (zoom, span, start, y, x)
      DO UPDATE SET points = excluded.points, users = excluded.users, counts = excluded.counts, people = excluded.people`
}

/**
 * The roll-up adds recorded cell changes to the tiles of the map and deletes them in the same transaction. If a
 * flush dies before its roll-up, the next flush does it.
 */
import type { Database, Query } from '#shared/db/db.ts'
import { addTiles, lockTiles } from '#shared/map/stored-tiles.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { sumChanges } from '#shared/map/cell-counts.ts'
import { tilesOfHours } from '#shared/map/cell-tiles.ts'

/** Rows of `cell_changes` in one transaction; all of them are in memory together. */
const BATCH_ROWS = 64

/** Adds all committed changes. */
export async function rollUpCells(db: Database, calendar: Calendar): Promise<void> {
  const rollUp = (tx: Query) => rollUpBatch(tx, calendar)
  while ((await db.read(() => db.sql.begin(rollUp))) === BATCH_ROWS);
}

/** Adds all changes within a transaction. */
export async function rollUpAll(tx: Query, calendar: Calendar): Promise<void> {
  while ((await rollUpBatch(tx, calendar)) === BATCH_ROWS);
}

/** Adds the oldest rows. @returns how many; less than `BATCH_ROWS` when these were all */
async function rollUpBatch(tx: Query, calendar: Calendar): Promise<number> {
  await lockTiles(tx)
  const rows = await tx<{ packed: string }[]>`
    DELETE FROM cell_changes WHERE id IN (SELECT id FROM cell_changes ORDER BY id LIMIT ${BATCH_ROWS})
    RETURNING encode(changes, 'base64') AS packed`
  const tiles = tilesOfHours(sumChanges(rows.map(({ packed }) => packed)), calendar)
  if (tiles.length > 0) await addTiles(tx, tiles)
  return rows.length
}

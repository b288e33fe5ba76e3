/**
 * The roll-up: what slices have noted goes into the tiles of the map, in one transaction that takes the notes away. A
 * flush that dies before it leaves its notes to the next one.
 */
import type { Database, Query } from '#shared/db/db.ts'
import { addTiles, lockTiles } from '#shared/map/stored-tiles.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { sumChanges } from '#shared/map/cell-counts.ts'
import { tilesOfHours } from '#shared/map/cell-tiles.ts'

/** Notes in one transaction: what they hold is in memory at once. */
const NOTES = 64

/** Adds everything that is committed by now. */
export async function rollUpCells(db: Database, calendar: Calendar): Promise<void> {
  const some = (tx: Query) => rollUpNotes(tx, calendar)
  while ((await db.read(() => db.sql.begin(some))) === NOTES);
}

/** The same within a transaction. */
export async function rollUpAll(tx: Query, calendar: Calendar): Promise<void> {
  while ((await rollUpNotes(tx, calendar)) === NOTES);
}

/** Adds the oldest notes. @returns how many; less than `NOTES` when these were all */
async function rollUpNotes(tx: Query, calendar: Calendar): Promise<number> {
  await lockTiles(tx)
  const notes = await tx<{ packed: string }[]>`
    DELETE FROM cell_changes WHERE id IN (SELECT id FROM cell_changes ORDER BY id LIMIT ${NOTES})
    RETURNING encode(changes, 'base64') AS packed`
  const news = tilesOfHours(sumChanges(notes.map(({ packed }) => packed)), calendar)
  if (news.length > 0) await addTiles(tx, news)
  return notes.length
}

/**
 * The roll-up adds recorded cell changes to the tiles of the map and deletes them in the same transaction. If a
 * flush dies before its roll-up, the next flush does it.
 */
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { addTiles, lockTiles } from '#shared/points/totals/stored-tiles.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { sumChanges, unpackChanges, tilesOfHours } from '#shared/core/map/cell-counts.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { type Reporting, reportFailedItem } from '#shared/stores/repeated-work.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** Rows of `cell_changes` per transaction, and maximum bytes of all but the last: they are in memory together. */
const BATCH_ROWS = 64
const BATCH_BYTES = 2_000_000
/** Tiles that one statement changes. */
const TILES_TOGETHER = 500

const QUEUE = 'changes of cells'

/**
 * Adds all committed changes. Damaged ones are reported and left for a rebuild, which counts the map again.
 * @param stopping once aborted, the remaining changes are left to the next flush
 */
export async function rollUpCells(
  { db, ...reporting }: Reporting & { readonly db: Database },
  calendar: Calendar,
  stopping?: AbortSignal,
): Promise<void> {
  for (let last: number | null = 0; last !== null && !stopping?.aborted;) {
    const after: number = last
    const batch = await db.read(() => db.transaction((tx) => rollUpBatch(tx, calendar, after)))
    for (const id of batch.damaged)
      reportFailedItem(reporting, QUEUE, new LoggableError(`the row ${id} of cell_changes is damaged`))
    last = batch.last
  }
}

/** Adds all changes within a transaction, and deletes damaged ones: the caller counts the map again. */
export async function rollUpAll(tx: Tx, calendar: Calendar): Promise<void> {
  for (let last: number | null = 0; last !== null;) ({ last } = await rollUpBatch(tx, calendar, last, true))
}

interface Batch {
  readonly damaged: readonly number[]
  /** The last row; null when there are no more. */
  readonly last: number | null
}

async function rollUpBatch(tx: Tx, calendar: Calendar, after: number, dropDamaged = false): Promise<Batch> {
  await lockTiles(tx)
  const rows = await tx.sql<{ id: number; packed: string }[]>`
    SELECT id::float8 AS id, encode(changes, 'base64') AS packed FROM (
      SELECT id, changes, sum(octet_length(changes)) OVER (ORDER BY id) - octet_length(changes) AS bytes_before
      FROM cell_changes WHERE id > ${after} ORDER BY id LIMIT ${BATCH_ROWS}) AS oldest
    WHERE bytes_before < ${BATCH_BYTES} ORDER BY id`
  const read = rows.map(({ id, packed }) => ({ id, changes: unpackChanges(packed) }))
  const tiles = await inTurns(
    tilesOfHours(sumChanges(read.flatMap(({ changes }) => changes ?? [])), calendar),
  )
  for (let i = 0; i < tiles.length; i += TILES_TOGETHER)
    await addTiles(tx, tiles.slice(i, i + TILES_TOGETHER))
  const damaged = read.flatMap(({ id, changes }) => (changes === null ? [id] : []))
  const done = read.flatMap(({ id, changes }) => (changes === null && !dropDamaged ? [] : [id]))
  await tx.sql`
    DELETE FROM cell_changes
    WHERE id IN (SELECT jsonb_array_elements_text(${JSON.stringify(done)}::text::jsonb)::bigint)`
  return { damaged, last: rows.at(-1)?.id ?? null }
}

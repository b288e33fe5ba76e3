/** Notes when points were found to be lost, so that somebody is woken for them. */
import type { Database } from '#shared/db/db.ts'
import type { Kv } from '#shared/kv/kv.ts'
import { readLedger } from './read-ledger.ts'

/**
 * @returns a look: what two of them find lost is noted. One alone may have caught a slice of a store that is
 * gone on its way to the table. Rejects while the kv or the database is away.
 */
export function createLossWatch({
  db,
  kv,
  now,
}: {
  readonly db: Database
  readonly kv: Kv
  readonly now: () => number
}): () => Promise<void> {
  let before = new Map<string, number>()
  return async () => {
    const { losses } = await readLedger(db, kv)
    const found = new Map(losses.map(({ epoch, partition, points }) => [`${epoch} ${partition}`, points]))
    const seen = losses.flatMap(({ epoch, partition, points }) => {
      const last = before.get(`${epoch} ${partition}`)
      return last === undefined ? [] : [{ epoch, partition, points: Math.min(points, last) }]
    })
    // Nothing lost, twice: what was noted is found again.
    const calm = before.size === 0 && found.size === 0
    before = found
    if (seen.length > 0 || calm) await note(db, seen, now())
  }
}

async function note(
  db: Database,
  seen: readonly { readonly epoch: string; readonly partition: number; readonly points: number }[],
  nowMs: number,
): Promise<void> {
  await db.sql.begin(async (tx) => {
    // Of two watches each sees what the other has noted.
    await tx`LOCK TABLE ledger_losses IN SHARE ROW EXCLUSIVE MODE`
    await tx`
      INSERT INTO ledger_losses (at, epoch, partition, points)
      SELECT to_timestamp(${nowMs}::float8 / 1000), epoch, partition, coalesce(seen.points, 0) - coalesce(noted.points, 0)
      FROM unnest(
        ${seen.map(({ epoch }) => epoch)}::text[], ${seen.map(({ partition }) => partition)}::int[],
        ${seen.map(({ points }) => points)}::float8[]
      ) AS seen (epoch, partition, points)
      FULL JOIN (
        SELECT epoch, partition, sum(points)::float8 AS points FROM ledger_losses GROUP BY epoch, partition
      ) AS noted USING (epoch, partition)
      WHERE coalesce(seen.points, 0) <> coalesce(noted.points, 0)`
  })
}

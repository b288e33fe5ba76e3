/** Records lost points with the time of detection, so that the owner gets an alert. */
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { readLedger } from './ledger.ts'

/**
 * @returns a check that records a loss when two consecutive checks find it. A single check may read the ledger while a
 * slice of an earlier epoch is being stored. It rejects while the kv or the database is unavailable.
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
    const confirmed = losses.flatMap(({ epoch, partition, points }) => {
      const last = before.get(`${epoch} ${partition}`)
      return last === undefined ? [] : [{ epoch, partition, points: Math.min(points, last) }]
    })
    // Two checks without a loss: points that were recorded as lost have been found.
    const isComplete = before.size === 0 && found.size === 0
    before = found
    if (confirmed.length > 0 || isComplete) await record(db, confirmed, now())
  }
}

/** Records the difference between the confirmed losses and the recorded ones. */
async function record(
  db: Database,
  confirmed: readonly { readonly epoch: string; readonly partition: number; readonly points: number }[],
  nowMs: number,
): Promise<void> {
  await db.sql.begin(async (tx) => {
    // The lock lets each of two processes see the records of the other.
    await tx`LOCK TABLE ledger_losses IN SHARE ROW EXCLUSIVE MODE`
    await tx`
      INSERT INTO ledger_losses (at, epoch, partition, points)
      SELECT to_timestamp(${nowMs}::float8 / 1000), epoch, partition, coalesce(seen.points, 0) - coalesce(noted.points, 0)
      FROM unnest(
        ${confirmed.map(({ epoch }) => epoch)}::text[], ${confirmed.map(({ partition }) => partition)}::int[],
        ${confirmed.map(({ points }) => points)}::float8[]
      ) AS seen (epoch, partition, points)
      FULL JOIN (
        SELECT epoch, partition, sum(points)::float8 AS points FROM ledger_losses GROUP BY epoch, partition
      ) AS noted USING (epoch, partition)
      WHERE coalesce(seen.points, 0) <> coalesce(noted.points, 0)`
  })
}

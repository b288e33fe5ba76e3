/** The ledger's counters in Postgres: points that left the buffer, and the last known counters of the kv. */
import type { Query } from '#shared/stores/db/db.ts'
import type { Kv, PartitionCounters } from '#shared/stores/kv/kv.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { sql } from 'drizzle-orm'

/** The partition and epoch to which points belong. */
export interface BufferEpoch {
  readonly epoch: string
  readonly partition: number
}

/** Counts the points of a slice in the slice's transaction. A slice that is flushed again adds nothing to `stored`. */
export async function countSlice(
  tx: Query,
  { epoch, partition }: BufferEpoch,
  left: { readonly stored: number; readonly repeated: number; readonly erased: number },
): Promise<void> {
  await tx`
    INSERT INTO ledger_counters AS b (epoch, partition, stored, repeated, erased)
    VALUES (${epoch}, ${partition}, ${left.stored}, ${left.repeated}, ${left.erased})
    ON CONFLICT (epoch, partition) DO UPDATE SET
      stored = b.stored + excluded.stored, repeated = b.repeated + excluded.repeated,
      erased = b.erased + excluded.erased`
}

/**
 * Stores the counters of the kv, so that they are known after the kv has lost them.
 * @param calm the partitions without a flush in flight
 */
export async function storeCounters(
  db: { readonly sql: Query },
  kv: Pick<Kv, 'counters'>,
  calm: ReadonlySet<number> = new Set(),
): Promise<void> {
  const counters = (await kv.counters()).map((one, partition) => ({ ...one, partition }))
  const begun = counters.filter(({ epoch }) => epoch !== '')
  if (begun.length === 0) return
  const column = <T>(read: (one: PartitionCounters & BufferEpoch) => T): T[] => begun.map(read)
  await db.sql`
    INSERT INTO ledger_counters AS b (epoch, partition, settled, duplicate, dropped, erased_pending)
    SELECT epoch, partition, settled, duplicate, dropped, erased FROM unnest(
      ${column((one) => one.epoch)}::text[], ${column((one) => one.partition)}::int[],
      ${column((one) => one.settled)}::float8[], ${column((one) => one.duplicate)}::float8[],
      ${column((one) => one.dropped)}::float8[], ${column((one) => one.erased)}::float8[]
    ) AS k (epoch, partition, settled, duplicate, dropped, erased) ORDER BY epoch, partition
    ON CONFLICT (epoch, partition) DO UPDATE SET
      settled = excluded.settled, duplicate = excluded.duplicate, dropped = excluded.dropped,
      erased_pending = excluded.erased_pending,
      excess = CASE WHEN b.partition = ANY(${[...calm]}::int[])
        THEN greatest(0, b.stored + b.dead_letters + b.repeated + b.erased - excluded.settled) ELSE b.excess END`
  const callers = begun.flatMap(({ epoch, partition, callers }) =>
    Object.entries(callers).map(([caller, points]) => ({ epoch, partition, caller, points })),
  )
  await acknowledge(
    db.sql,
    callers.map((one) => ({ ...one, lost: 0 })),
  )
}

/** Points of one caller in one epoch of a partition. */
export interface Acknowledged extends BufferEpoch {
  readonly caller: string
  /** Points that the store knows. */
  readonly points: number
  /** Points that the store knew once and has lost. */
  readonly lost: number
}

/** Stores the points that the kv has confirmed to callers. Of two values for one caller the larger one counts. */
export async function acknowledge(sql: Query, acknowledged: readonly Acknowledged[]): Promise<void> {
  if (acknowledged.length === 0) return
  const column = <T>(read: (one: Acknowledged) => T): T[] => acknowledged.map(read)
  await sql`
    INSERT INTO ledger_callers AS c (epoch, partition, caller, acknowledged, lost)
    SELECT epoch, partition, caller, points + lost, lost FROM unnest(
      ${column((one) => one.epoch)}::text[], ${column((one) => one.partition)}::int[],
      ${column((one) => one.caller)}::text[], ${column((one) => one.points)}::float8[],
      ${column((one) => one.lost)}::float8[]
    ) AS k (epoch, partition, caller, points, lost) ORDER BY epoch, partition, caller
    ON CONFLICT (epoch, partition, caller) DO UPDATE SET
      acknowledged = greatest(c.acknowledged, excluded.acknowledged - excluded.lost + greatest(c.lost, excluded.lost)),
      lost = greatest(c.lost, excluded.lost)`
}

/** Names of counts outside of the buffer, written in the transaction of their cause. */
type CounterChange = 'points-erased' | 'letters-erased' | 'letters-dropped' | 'letters-replayed'

/** Adds to a count that an operator's action changes. */
export async function countPoints(tx: Writer, name: CounterChange, points: number): Promise<void> {
  if (points === 0) return
  await tx.execute(sql`
    INSERT INTO ledger_counts AS c (caller, name, points) VALUES ('', ${name}, ${points})
    ON CONFLICT (caller, name) DO UPDATE SET points = c.points + excluded.points`)
}

/**
 * Closes the epochs of a kv whose data was restored from a backup: the new kv counts the points that were pending then,
 * so that they do not count as lost in the old epochs.
 * @param closed the counters of the partitions at the time of the backup
 */
export async function closeRestoredCounters(tx: Query, closed: readonly PartitionCounters[]): Promise<void> {
  await storeCounters({ sql: tx }, { counters: async () => [...closed] })
  for (const [partition, { epoch, expired }] of closed.entries())
    await tx`
      INSERT INTO ledger_callers (epoch, partition, caller, acknowledged)
      SELECT ${epoch}, ${partition}, 'restore', sum(points) + ${expired}::float8 FROM (
        SELECT stored + dead_letters + erased_pending + greatest(0, repeated + erased - excess) FROM ledger_counters
          WHERE epoch = ${epoch} AND partition = ${partition}
        UNION ALL SELECT lost - acknowledged FROM ledger_callers WHERE epoch = ${epoch} AND partition = ${partition}
      ) AS entries (points) HAVING count(*) > 0
      ON CONFLICT (epoch, partition, caller) DO UPDATE SET acknowledged = ledger_callers.acknowledged + excluded.acknowledged`
  await tx`DELETE FROM ledger_counts WHERE name = 'journaled'`
}

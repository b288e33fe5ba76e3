/** Postgres's part of the books: what left the buffer, and what the kv's own books said last. */
import type { Query } from '#shared/db/db.ts'
import type { Kv, PartitionCounters } from '#shared/kv/kv.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { sql } from 'drizzle-orm'

/** Which life of which partition points belong to. */
export interface Book {
  readonly epoch: string
  readonly partition: number
}

/** Books what a slice came to, in its own transaction; of a slice that is flushed again `stored` is not repeated. */
export async function countSlice(
  tx: Query,
  { epoch, partition }: Book,
  left: { readonly stored: number; readonly repeated: number; readonly erased: number },
): Promise<void> {
  await tx`
    INSERT INTO ledger_books AS b (epoch, partition, stored, repeated, erased)
    VALUES (${epoch}, ${partition}, ${left.stored}, ${left.repeated}, ${left.erased})
    ON CONFLICT (epoch, partition) DO UPDATE SET
      stored = b.stored + excluded.stored, repeated = b.repeated + excluded.repeated,
      erased = b.erased + excluded.erased`
}

/**
 * Writes down what the kv's books say, so that they are known when the kv has lost them.
 * @param calm the partitions in which no flush has anything in flight
 */
export async function storeCounters(
  db: { readonly sql: Query },
  kv: Pick<Kv, 'books'>,
  calm: ReadonlySet<number> = new Set(),
): Promise<void> {
  const books = (await kv.books()).map((one, partition) => ({ ...one, partition }))
  const begun = books.filter(({ epoch }) => epoch !== '')
  if (begun.length === 0) return
  const column = <T>(read: (one: PartitionCounters & Book) => T): T[] => begun.map(read)
  await db.sql`
    INSERT INTO ledger_books AS b (epoch, partition, settled, duplicate, dropped, erased_pending)
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

/** Of a caller: how many points a life of a partition knows of it, and how many more it knew once. */
export interface Acknowledged extends Book {
  readonly caller: string
  readonly points: number
  readonly lost: number
}

/** Writes what was acknowledged; of two that tell of one caller the later one counts. */
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

/** What is counted beside the buffer, in the transaction that does it. */
export type CounterChange = 'points-erased' | 'letters-erased' | 'letters-dropped' | 'letters-replayed'

/** Counts what an operator's act made of points. */
export async function countPoints(tx: Writer, name: CounterChange, points: number): Promise<void> {
  if (points === 0) return
  await tx.execute(sql`
    INSERT INTO ledger_counts AS c (caller, name, points) VALUES ('', ${name}, ${points})
    ON CONFLICT (caller, name) DO UPDATE SET points = c.points + excluded.points`)
}

/**
 * Closes the books of a kv that has been restored from a backup: what waited then is counted by the new kv, and is
 * not lost here.
 * @param lives its books at that time
 */
export async function closeRestoredCounters(tx: Query, lives: readonly PartitionCounters[]): Promise<void> {
  await storeCounters({ sql: tx }, { books: async () => [...lives] })
  for (const [partition, { epoch, expired }] of lives.entries())
    await tx`
      INSERT INTO ledger_callers (epoch, partition, caller, acknowledged)
      SELECT ${epoch}, ${partition}, 'restore', sum(points) + ${expired}::float8 FROM (
        SELECT stored + dead_letters + erased_pending + greatest(0, repeated + erased - excess) FROM ledger_books
          WHERE epoch = ${epoch} AND partition = ${partition}
        UNION ALL SELECT lost - acknowledged FROM ledger_callers WHERE epoch = ${epoch} AND partition = ${partition}
      ) AS entries (points) HAVING count(*) > 0
      ON CONFLICT (epoch, partition, caller) DO UPDATE SET acknowledged = ledger_callers.acknowledged + excluded.acknowledged`
  await tx`DELETE FROM ledger_counts WHERE name = 'journaled'`
}

/**
 * Dead letters: points that the database refuses, stored with the reason so that the rest of their slice can be stored.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import { isOfErasedPerson, lockPersonShared } from '#shared/pilgrims/person-lock.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'
import type { BufferEpoch } from '#shared/points/ledger/counters.ts'
import { describeError } from '#shared/runtime/log.ts'

/** The database, and the counters that it updates. */
interface Storing {
  readonly db: Database
  readonly now: MachineClock
  readonly counters: BufferEpoch
}

/**
 * Stores a refused point with the reason as a dead letter. It is stored once, even if a flush dies repeatedly before
 * the acknowledgement.
 * @returns whether it is stored; points of an erased person are not
 */
export async function storeDeadLetter(
  { db, now, counters: { epoch, partition } }: Storing,
  { userId, field, value }: Entry & { readonly userId: string },
  error: unknown,
): Promise<boolean> {
  const reason = describeError(error)
  const letter = [userId, field, value, reason].map(storable)
  const [row] = await db.transaction(async (tx) => {
    // The lock waits for a running erasure, which would miss a letter inserted after its delete.
    await lockPersonShared(tx, userId)
    const isErased = await isOfErasedPerson(tx, userId, value)
    return tx.sql<[{ fresh: number; again: number }]>`
    WITH letter AS (
      SELECT l[1] AS user_id, l[2] AS field, l[3] AS value, l[4] AS reason,
             from_epoch_ms(${now()}) AS at
      FROM (SELECT ${letter}::text[]) AS given (l)
    ), again AS (
      UPDATE dead_letters d SET reason = letter.reason, created_at = at, refusals = refusals + 1 FROM letter
      WHERE d.user_id = letter.user_id AND d.field = letter.field AND d.value = letter.value
      RETURNING d.id
    ), fresh AS (
      INSERT INTO dead_letters (user_id, field, value, reason, created_at)
      SELECT user_id, field, value, reason, at FROM letter WHERE NOT EXISTS (SELECT FROM again)
        -- Nothing of an erased person is stored, unreadable entries included.
        AND NOT ${isErased}
      RETURNING id
    ), counted AS (
      SELECT (SELECT count(*)::int FROM fresh) AS fresh, (SELECT count(*)::int FROM again) AS again
    )
    INSERT INTO ledger_counters AS b (epoch, partition, dead_letters, repeated, erased)
    SELECT ${epoch}, ${partition}::int, fresh, least(again, 1), CASE WHEN fresh + again = 0 THEN 1 ELSE 0 END
    FROM counted
    ON CONFLICT (epoch, partition) DO UPDATE SET
      dead_letters = b.dead_letters + excluded.dead_letters, repeated = b.repeated + excluded.repeated,
      erased = b.erased + excluded.erased
    RETURNING (SELECT fresh FROM counted) AS fresh, (SELECT again FROM counted) AS again`
  })
  return row.fresh + row.again > 0
}

/** Replaces NUL, the only character that Postgres text does not accept. */
export const storable = (text: string): string => text.replaceAll('\0', '\u{fffd}')

/**
 * Requeued dead letters. They stay in Postgres until the transaction that stores their points deletes them, so that no
 * other store has to agree.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import { describeError } from '#shared/runtime/log.ts'
import { countPoints } from '#shared/points/ledger/counters.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Entry, Pending } from '#shared/stores/kv/kv.ts'
import type { Source } from './flush-slice.ts'
import { storable } from './store-dead-letters.ts'

type Letter = Entry & { readonly userId: string }

/** All requeued letters, by pilgrim. */
export async function readRequeued(db: Database): Promise<Pending[]> {
  const letters = await db.read(
    () => db.sql<Letter[]>`SELECT user_id AS "userId", field, value FROM dead_letters WHERE requeued`,
  )
  return Array.from(
    Map.groupBy(letters, ({ userId }) => userId),
    ([userId, entries]) => ({ userId, entries }),
  )
}

const keyOf = ({ userId, field, value }: Letter): string => `${userId} ${field} ${value}`

/** The source of requeued letters. Dropped and erased letters are gone already. */
export const requeuedLetters = (db: Database, now: MachineClock): Source => ({
  async take(tx, points) {
    const entries = points.map(({ entry }) => entry)
    const rows = await tx.sql<Letter[]>`
      DELETE FROM dead_letters d USING unnest(
        ${points.map(({ userId }) => userId)}::text[], ${entries.map(({ field }) => field)}::text[],
        ${entries.map(({ value }) => value)}::text[]
      ) AS l (user_id, field, value)
      WHERE d.requeued AND d.user_id = l.user_id AND d.field = l.field AND d.value = l.value
      RETURNING d.user_id AS "userId", d.field, d.value`
    const taken = new Set(rows.map(keyOf))
    return points.filter(({ userId, entry }) => taken.has(keyOf({ userId, ...entry })))
  },
  async count(tx, { stored, repeated, erased }) {
    await countPoints(tx, 'letters-stored', stored)
    await countPoints(tx, 'letters-duplicate', repeated)
    await countPoints(tx, 'letters-erased', erased)
  },
  async refuse({ userId, field, value }, error) {
    const rows = await db.sql`
      UPDATE dead_letters
      SET reason = ${storable(describeError(error))}, created_at = from_epoch_ms(${now()}), refusals = refusals + 1,
          requeued = false
      WHERE requeued AND user_id = ${userId} AND field = ${field} AND value = ${value} RETURNING id`
    return rows.length > 0
  },
})

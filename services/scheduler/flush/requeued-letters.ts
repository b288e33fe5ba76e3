/**
 * Requeued dead letters. They stay in Postgres until the transaction that stores their points deletes them, so that no
 * other store has to agree.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import { describeError } from '#shared/runtime/log.ts'
import { countPoints } from '#shared/points/ledger/counters.ts'
import { type Database, isDatabaseUnavailable, isStatementTimeout } from '#shared/stores/db/db.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { flushSlice, type Source } from './flush-slice.ts'
import { storable } from './store-dead-letters.ts'

type Letter = Entry & { readonly userId: string }

/**
 * Stores all requeued letters. Each is tried once: it is no longer requeued when this begins, so what ends the process,
 * or takes too long, is not repeated.
 * @returns null: none is requeued
 */
export async function storeRequeuedLetters({
  db,
  calendar,
  now,
  hidesLate,
}: {
  readonly db: Database
  readonly calendar: Calendar
  readonly now: MachineClock
  readonly hidesLate?: (userId: string) => boolean
}): Promise<Record<'stored' | 'duplicates' | 'deadLetters' | 'erased', number> | null> {
  const letters = await db.sql<Letter[]>`
    UPDATE dead_letters SET requeued = false WHERE requeued RETURNING user_id AS "userId", field, value`
  if (letters.length === 0) return null
  const byUser = Map.groupBy(letters, ({ userId }) => userId)
  const pending = Array.from(byUser, ([userId, entries]) => ({ userId, entries }))
  const source = requeuedLetters(db, now)
  const refuseAll = async (own: readonly Letter[], error: unknown): Promise<number> => {
    const outcomes = await Promise.all(own.map((letter) => source.refuse(letter, error)))
    return outcomes.filter((outcome) => outcome !== null).length
  }
  try {
    const slice = { epoch: '', partition: 0, pending }
    const {
      left,
      dayPoints: _days,
      ...counts
    } = await flushSlice(db, calendar, slice, now, hidesLate, source)
    for (const { userId, error } of left) counts.deadLetters += await refuseAll(byUser.get(userId)!, error)
    return counts
  } catch (error) {
    if (isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error
    return { stored: 0, duplicates: 0, erased: 0, deadLetters: await refuseAll(letters, error) }
  }
}

const keyOf = ({ userId, field, value }: Letter): string => `${userId} ${field} ${value}`

/** The source of requeued letters. Dropped and erased letters are gone already. */
const requeuedLetters = (db: Database, now: MachineClock): Source => ({
  async take(tx, points) {
    const entries = points.map(({ entry }) => entry)
    const rows = await tx.sql<Letter[]>`
      DELETE FROM dead_letters d USING unnest(
        ${points.map(({ userId }) => userId)}::text[], ${entries.map(({ field }) => field)}::text[],
        ${entries.map(({ value }) => value)}::text[]
      ) AS l (user_id, field, value)
      WHERE d.user_id = l.user_id AND d.field = l.field AND d.value = l.value
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
      SET reason = ${storable(describeError(error))}, created_at = from_epoch_ms(${now()}), refusals = refusals + 1
      WHERE user_id = ${userId} AND field = ${field} AND value = ${value} RETURNING id`
    return rows.length > 0 ? 'deadLetters' : null
  },
})

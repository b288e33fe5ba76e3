/** Finds the cards that are due at the end. Only rows decide, so any process can continue at any time. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Query } from '#shared/db/db.ts'
import { unlocked, wanted } from '#shared/pilgrims/cards-at-end.ts'

/** Delay before a failed card is retried. */
const RETRY_MS = 600_000
/** Tolerance for clocks of two machines: a card is checked once too often rather than missed. */
const CLOCKS_MS = 5_000

/** The card's content may have changed since the last check. */
const stale = (sql: Query) => sql`
  (c.fingerprint IS NULL OR c.unlocked IS DISTINCT FROM ${unlocked(sql)} OR c.points <> t.points
    OR p.updated_at > c.checked_at - ${CLOCKS_MS / 1_000}::float8 * interval '1 second')`

/** The next pilgrims whose cards are due, ordered by id. */
export async function dueCards({ db, now }: ServiceContext, after: string, limit: number): Promise<string[]> {
  const rows = await db.read(
    () => db.sql<{ user_id: string }[]>`
      SELECT p.user_id
      FROM pilgrims p
      JOIN pilgrim_totals t ON t.user_id = p.user_id
      LEFT JOIN share_cards c ON c.user_id = p.user_id
      WHERE p.user_id > ${after} AND ${wanted(db.sql)} AND ${stale(db.sql)}
        AND (c.failed_at IS NULL OR c.failed_at < to_timestamp(${(now() - RETRY_MS) / 1_000}::float8))
      ORDER BY p.user_id LIMIT ${limit}`,
  )
  return rows.map(({ user_id }) => user_id)
}

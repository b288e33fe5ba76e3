/** Finds the cards that are due at the end. Only rows decide, so any process can continue at any time. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Query } from '#shared/db/db.ts'

/** Delay before a failed card is retried. */
const RETRY_MS = 600_000
/** Tolerance for clocks of two machines: a card is checked once too often rather than missed. */
const CLOCKS_MS = 5_000

/** The rule of the achievement card (`shared/rules/achievement.ts`) in SQL. */
const unlocked = (sql: Query) =>
  sql`(t.checkins >= 3 AND p.survey_completed_at IS NOT NULL AND p.phone IS NOT NULL)`

/** Pilgrims with a card or an unlocked achievement. Pilgrims without a point share a card that never changes. */
const wanted = (sql: Query) => sql`(t.points > 0 AND (${unlocked(sql)} OR c.fingerprint IS NOT NULL))`

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

/** Counts the cards that the end draws, and how many of them are up to date. */
export async function countCards({ db }: ServiceContext): Promise<{ done: number; total: number }> {
  const [row] = await db.read(
    () => db.sql<{ done: number; total: number }[]>`
      SELECT count(*)::int AS total, (count(*) FILTER (
        WHERE c.fingerprint IS NOT NULL AND c.unlocked = ${unlocked(db.sql)} AND c.points = t.points
      ))::int AS done
      FROM pilgrims p
      JOIN pilgrim_totals t ON t.user_id = p.user_id
      LEFT JOIN share_cards c ON c.user_id = p.user_id
      WHERE ${wanted(db.sql)}`,
  )
  return row!
}

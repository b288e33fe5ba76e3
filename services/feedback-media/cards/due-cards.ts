/** Whose cards are to be drawn at the end: told from rows alone, so that any process can go on at any time. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { Query } from '#shared/db/db.ts'

/** A card that could not be drawn is tried again after this time, not at once. */
const RETRY_MS = 600_000
/** Clocks of two machines may differ by this much: a card is rather looked at once more than missed. */
const CLOCKS_MS = 5_000

/** The rule of the achievement card (shared/rules/achievement.ts) on what is stored. */
const unlocked = (sql: Query) =>
  sql`(t.checkins >= 3 AND p.survey_completed_at IS NOT NULL AND p.phone IS NOT NULL)`

/** Everybody who has a card, or has unlocked the festive one; who has no point shares one that never changes. */
const wanted = (sql: Query) => sql`(t.points > 0 AND (${unlocked(sql)} OR c.fingerprint IS NOT NULL))`

/** Something that the card shows may have changed since it was looked at. */
const stale = (sql: Query) => sql`
  (c.fingerprint IS NULL OR c.unlocked IS DISTINCT FROM ${unlocked(sql)} OR c.points <> t.points
    OR p.updated_at > c.checked_at - ${CLOCKS_MS / 1_000}::float8 * interval '1 second')`

/** The next pilgrims whose card is due, after one in the order of ids. */
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

/** How many cards the end draws, and how many of them are stored as they are to be. */
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
